import AccountContract
import AccountKit
import ErrorContract
import Foundation
import HTTPTypes
import HoldfastURLSession
import ResilientHTTP
import Synchronization
import Timekeeping

/// A steady load of users who register, request a password reset and read their account. The load records each acknowledged request.
final class DemoLoad: Sendable {
    /// The number of concurrent users.
    private static let width = 8
    /// The password of all accounts of the load.
    static let password = "correct horse battery"

    /// The counts up to a point in time.
    struct Counts {
        /// Requests with a successful response.
        var acknowledged = 0
        /// Attempts that repeat a request.
        var repeated = 0
        /// Attempts whose connection failed.
        var broken = 0
        /// Responses with the status 503 or 504 and `Retry-After`.
        var unavailable = 0
        /// Other responses with a status of 500 or above.
        var errors = 0
        /// Registrations whose response was 504, although the account was created. The user then signs in instead of registering again.
        var late = 0
        /// Requests that were submitted again because the server still considered an earlier attempt as running.
        var pending = 0

        /// Returns the difference between two counts.
        static func - (now: Counts, before: Counts) -> Counts {
            let fields: [WritableKeyPath<Counts, Int>] = [
                \.acknowledged, \.repeated, \.broken, \.unavailable, \.errors, \.late, \.pending,
            ]
            return fields.reduce(into: now) { $0[keyPath: $1] -= before[keyPath: $1] }
        }
    }

    private struct State {
        var counts = Counts()
        var accounts: [String] = []
        var emails: [String] = []
        var users = 0
        var isEnding = false
    }

    private let servers: [URL]
    private let state = Mutex(State())

    /// Creates a load that does not run yet.
    init(servers: [URL]) {
        self.servers = servers
    }

    /// The counts so far.
    var counts: Counts { state.withLock { $0.counts } }
    /// The addresses of the accounts whose registration was acknowledged.
    var accounts: [String] { state.withLock { $0.accounts } }
    /// The addresses for which a reset request was acknowledged.
    var emails: [String] { state.withLock { $0.emails } }

    /// Runs the load while a closure runs, and returns when the last request has its response.
    func run(during body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { users in
            for _ in 0..<Self.width { users.addTask { try await self.work() } }
            try await body()
            state.withLock { $0.isEnding = true }
            try await users.waitForAll()
        }
    }

    /// Runs one user after another until the load ends.
    private func work() async throws {
        let name = try FirstName("Ana")
        while let number = next() {
            let address = "user-\(number)@example.com"
            let client = AccountClient(api: api())
            let (email, password) = (try EmailAddress(address), try Password(Self.password))
            do throws(APIError) {
                try await submit { () throws(APIError) in
                    _ = try await client.register(email: email, password: password, firstName: name)
                }
            } catch {
                // No other client registers this address. An earlier attempt must therefore have created the account. Its response was 504,
                // because the server could not know that the database had committed the account.
                guard error.code == .authEmailExists else { throw error }
                _ = try await client.signIn(email: email, password: password)
                state.withLock { $0.counts.late += 1 }
            }
            acknowledge { $0.accounts.append(address) }
            try await submit { () throws(APIError) in _ = try await client.requestPasswordReset(email: email) }
            acknowledge { $0.emails.append(address) }
            _ = try await client.me()
            acknowledge { _ in }
            try await Task.sleep(for: .milliseconds(300))
        }
    }

    /// Submits a form. If the server responds that an earlier attempt with the same idempotency key is still running, the method submits
    /// the form once more with another key. If the server could not reach the database at the end of the earlier attempt, the attempt
    /// counts as running for up to a minute.
    private func submit(_ form: () async throws(APIError) -> Void) async throws(APIError) {
        do throws(APIError) {
            try await form()
        } catch {
            guard error.code == .requestConflict else { throw error }
            state.withLock { $0.counts.pending += 1 }
            try await form()
        }
    }

    /// Returns the number of the next user; `nil` if the load must end.
    private func next() -> Int? {
        state.withLock { state in
            guard !state.isEnding else { return nil }
            state.users += 1
            return state.users
        }
    }

    /// Counts an acknowledged request, and records its effect.
    private func acknowledge(_ change: (inout State) -> Void) {
        state.withLock { state in
            state.counts.acknowledged += 1
            change(&state)
        }
    }

    /// Returns a client of all servers. The client retries each request until the request succeeds.
    private func api() -> APIClient {
        let policy = RetryPolicy(
            maximumRetries: 100,
            backoff: Backoff(base: .milliseconds(100), cap: .seconds(1))
        )
        let retry = RetryMiddleware(policy, budget: RetryBudget(capacity: 1_000, refund: 10))
        var api = APIClient(
            baseURL: servers[0],
            transport: ServersInTurn(servers: servers) { outcome in self.state.withLock { outcome.count(in: &$0.counts) } },
            timeout: .seconds(45),
            middleware: ClientPipeline.standard(retry: retry, gate: nil, breaker: nil)
        )
        // The timeout is longer than the time for which a server waits for its database.
        api.attemptTimeout = .seconds(15)
        return api
    }

    /// Signs in to accounts, and returns the accounts whose sign-in failed.
    func lost(of accounts: [String]) async throws -> [String] {
        try await withThrowingTaskGroup(of: String?.self) { calls in
            let (client, password) = (AccountClient(api: api()), try Password(Self.password))
            var (waiting, lost) = (accounts[...], [String]())
            func addTask() {
                guard let address = waiting.popFirst() else { return }
                calls.addTask {
                    let email = try EmailAddress(address)
                    do throws(APIError) {
                        _ = try await client.signIn(email: email, password: password)
                        return nil
                    } catch {
                        guard error.code == .authInvalidCredentials else { throw error }
                        return address
                    }
                }
            }
            for _ in 0..<8 { addTask() }
            while let address = try await calls.next() {
                if let address { lost.append(address) }
                addTask()
            }
            return lost
        }
    }
}

/// Sends each attempt to the next server in turn, so that a retry reaches another server.
struct ServersInTurn: HTTPTransport {
    /// The end of one attempt.
    enum Outcome {
        /// The server responded.
        case responded(HTTPResponse, isRepeated: Bool)
        /// The connection failed.
        case failed(isRepeated: Bool)
    }

    private static let turn = Atomic<Int>(0)
    private static let transport = URLSessionTransport()
    private let authorities: [String]
    private let listener: @Sendable (Outcome) -> Void

    /// Creates a transport.
    /// - Parameters:
    ///   - servers: The addresses of the servers.
    ///   - listener: Receives the end of each attempt.
    init(servers: [URL], listener: @escaping @Sendable (Outcome) -> Void) {
        authorities = servers.map { "\($0.host ?? ""):\($0.port ?? 80)" }
        self.listener = listener
    }

    /// Sends one attempt to the next server. The address in the request is ignored.
    func send(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
        var request = request
        request.authority = authorities[Self.turn.wrappingAdd(1, ordering: .relaxed).newValue % authorities.count]
        let isRepeated = request.headerFields.contains(.retryAttempt)
        do {
            let (response, body) = try await Self.transport.send(request, body: body, timeout: timeout)
            listener(.responded(response, isRepeated: isRepeated))
            return (response, body)
        } catch {
            listener(.failed(isRepeated: isRepeated))
            throw error
        }
    }
}

extension ServersInTurn.Outcome {
    /// Adds the end of an attempt to the counts.
    fileprivate func count(in counts: inout DemoLoad.Counts) {
        switch self {
        case .responded(let response, let isRepeated):
            if isRepeated { counts.repeated += 1 }
            // A 504 means that the server could not confirm a commit.
            if [.serviceUnavailable, .gatewayTimeout].contains(response.status), response.headerFields.contains(.retryAfter) {
                counts.unavailable += 1
            } else if response.status.code >= 500 {
                counts.errors += 1
            }
        case .failed(let isRepeated):
            if isRepeated { counts.repeated += 1 }
            counts.broken += 1
        }
    }
}
