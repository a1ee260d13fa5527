import ErrorContract
import ErrorLabContract
import Foundation
import HTTPTypes
import ResilientHTTP
import Synchronization

/// The second half of the demo: a client with expired tokens, exceeded limits and an overloaded server. The error lab, a set of test routes
/// that return errors, simulates the overload. Tokens, delays and refusals are real.
struct FailureScenarios: Sendable {
    /// The number of concurrent calls with an expired token.
    static let callers = 20
    /// The address of the server.
    let url: URL
    /// Numbers and prints the steps.
    let steps: Steps
    /// The delay in seconds that the overloaded server requests.
    let delay: Int
    /// A random text. It prevents several demos from sharing their counts in the error lab.
    private let run = UUID().uuidString.prefix(8)

    /// Runs all steps.
    /// - Throws: ``DemoStory/Unexpected`` at the first step with an unexpected result.
    func run() async throws {
        try await steps.run("\(Self.callers) concurrent calls with an expired token") { try await expiredToken() }
        try await steps.run("A call that exceeds a limit") { try await limited() }
        try await brownOut()
    }

    /// Makes concurrent calls with an expired token, and requires that they share one refresh.
    private func expiredToken() async throws -> String {
        let plain = APIClient.demo(url)
        let path = LabPath.root + LabPath.token + "?expired=true&lifetime_ms=3600000&refresh_delay_ms=200"
        let tokens: LabTokens = try await plain.post(path, [String: String]())
        let store = MemoryCredentialStore(tokens.credentials)
        let session = Session(store: store) { refreshToken in
            let fresh: LabTokens = try await plain.post(
                LabPath.root + LabPath.refresh,
                LabRefresh(refreshToken: refreshToken)
            )
            return fresh.credentials
        }
        let api = APIClient.demo(url, session: session)
        let replies = try await withThrowingTaskGroup(of: LabSuccess.self) { calls in
            for _ in 0..<Self.callers { calls.addTask { try await api.get(LabPath.root + LabPath.protected) } }
            return try await calls.reduce(into: []) { $0.append($1) }
        }
        let last: LabSuccess = try await api.get(LabPath.root + LabPath.protected)
        guard replies.count == Self.callers, last.refreshes == 1, last.reuses == 0 else {
            throw DemoStory.Unexpected(description: "the session was refreshed \(last.refreshes ?? 0) times")
        }
        return "all \(replies.count) succeeded after one refresh that they shared"
    }

    /// Makes a call that the server refuses once with 429, and requires that the client repeats it after the delay.
    private func limited() async throws -> String {
        let tally = DemoTally()
        var api = APIClient.demo(url)
        api.listeners = [tally]
        let response = LabResponse(.code(.rateLimitExceeded), retryAfter: .seconds(delay), times: 1, session: "limit-\(run)")
        let reply: LabSuccess = try await api.get(response.path())
        let waited = tally.waited
        try expect(reply.attempt == 2 && waited >= .seconds(delay), "the call continued after \(waited.inSeconds)")
        return "429, then a delay of \(waited.inSeconds) from Retry-After, then 200"
    }

    /// Makes a call to which the server responds with 503 and `Retry-After`, and then 30 more calls with the same client. The client must
    /// refuse the 30 calls without sending them. After the delay, the first call and 30 new calls must succeed.
    private func brownOut() async throws {
        let tally = DemoTally()
        var api = APIClient.demo(url)
        api.listeners = [tally]
        let response = LabResponse(
            .code(.serverServiceUnavailable),
            retryAfter: .seconds(delay),
            times: 1,
            session: "brown-out-\(run)"
        )
        let (client, path) = (api, response.path())
        try await withThrowingTaskGroup(of: LabSuccess.self) { first in
            first.addTask { try await client.get(path) }
            try await steps.run("A brown-out: one call gets 503 with Retry-After, and 30 more follow") {
                for await _ in tally.refusals { break }
                let heldBack = try await heldBack(30, client, path)
                try expect(heldBack == 30 && tally.attempts == 1, "\(tally.attempts) requests left the client")
                return "\(heldBack) were refused by the client with a retry time; \(tally.attempts) request reached the server"
            }
            try await steps.run("The first call continues after the delay, and the others follow it") {
                let reply = try await first.next()
                for _ in 0..<30 { let _: LabSuccess = try await client.get(path) }
                return "200 on request \(reply?.attempt ?? 0), after \(tally.waited.inSeconds); then 30 times 200"
            }
        }
    }

    /// Makes calls, and returns how many of them the client refused without sending them. Each refusal must contain a delay after which the
    /// caller can retry.
    private func heldBack(_ count: Int, _ client: APIClient, _ path: String) async throws -> Int {
        var heldBack = 0
        for _ in 0..<count {
            do throws(APIError) {
                _ = try await client.send(.get, path)
            } catch {
                guard error.isHeldLocally, error.retryAfter != nil else { throw error }
                heldBack += 1
            }
        }
        return heldBack
    }
}

/// Counts the requests that a client sent, and the time that the client waited.
private final class DemoTally: CallListener {
    private struct State {
        var attempts = 0
        var waited = Duration.zero
    }

    /// Yields each time the client begins a delay after a refusal.
    let refusals: AsyncStream<Void>
    private let refused: AsyncStream<Void>.Continuation
    private let state = Mutex(State())

    init() {
        (refusals, refused) = AsyncStream<Void>.makeStream()
    }

    /// The number of requests that the client sent.
    var attempts: Int { state.withLock(\.attempts) }
    /// The total time of the delays that the client chose.
    var waited: Duration { state.withLock(\.waited) }

    /// Counts an event of the client.
    func hear(_ event: CallEvent) {
        switch event.kind {
        case .attemptStarted: state.withLock { $0.attempts += 1 }
        // This event occurs after the client's gate, which delays calls to an overloaded server, has received the refusal.
        case .waiting(let wait, _):
            state.withLock { $0.waited += wait }
            refused.yield()
        default: break
        }
    }
}

extension LabTokens {
    /// The tokens, as a session stores them.
    fileprivate var credentials: Credentials { Credentials(accessToken: accessToken, refreshToken: refreshToken) }
}
