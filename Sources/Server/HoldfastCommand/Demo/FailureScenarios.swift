import ErrorContract
import ErrorLabContract
import Foundation
import HTTPTypes
import HoldfastURLSession
import ResilientHTTP
import Synchronization

/// The second half of the demo: what a client makes of expired tokens, of limits and of a server in trouble. The server's error lab
/// plays the trouble; tokens, waits and refusals are real.
struct FailureScenarios: Sendable {
    /// Calls that meet an expired token at once.
    static let callers = 20
    let url: URL
    let steps: Steps
    /// The seconds that the server in trouble asks for.
    let delay: Int
    /// Keeps one demo's counts apart from another's.
    private let run = UUID().uuidString.prefix(8)

    init(url: URL, steps: Steps, delay: Int) {
        self.url = url
        self.steps = steps
        self.delay = delay
    }

    /// Tells the story.
    /// - Throws: ``DemoStory/Unexpected`` at the first step that does not end as it should.
    func run() async throws {
        try await steps.run("\(Self.callers) calls at once with a token that has expired") { try await expiredToken() }
        try await steps.run("A call that meets a limit") { try await limited() }
        try await brownOut()
    }

    private func expiredToken() async throws -> String {
        let plain = APIClient(baseURL: url, transport: .urlSession())
        let path = LabPath.root + LabPath.token + "?expired=true&lifetime_ms=60000&refresh_delay_ms=200"
        let tokens: LabTokens = try await plain.post(path, [String: String]())
        let store = MemoryCredentialStore(tokens.credentials)
        let session = Session(store: store) { refreshToken in
            let fresh: LabTokens = try await plain.post(
                LabPath.root + LabPath.refresh,
                LabRefresh(refreshToken: refreshToken)
            )
            return fresh.credentials
        }
        let api = APIClient(baseURL: url, transport: .urlSession(), session: session)
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

    private func limited() async throws -> String {
        let tally = DemoTally()
        var api = APIClient(baseURL: url, transport: .urlSession())
        api.listeners = [tally]
        let response = LabResponse(.code(.rateLimitExceeded), retryAfter: .seconds(delay), times: 1, session: "limit-\(run)")
        let reply: LabSuccess = try await api.get(response.path())
        let waited = tally.waited
        guard reply.attempt == 2, waited >= .seconds(delay) else {
            throw DemoStory.Unexpected(description: "the call went on after \(waited.inSeconds)")
        }
        return "429, then a wait of \(waited.inSeconds) as the server said, then 200"
    }

    /// A server that says 503 once, and a client with many callers.
    private func brownOut() async throws {
        let tally = DemoTally()
        var api = APIClient(baseURL: url, transport: .urlSession())
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
            try await steps.run("A brown-out: one call is told to come back later, 30 more are made") {
                for await _ in tally.refusals { break }
                let heldBack = try await heldBack(30, client, path)
                guard heldBack == 30, tally.attempts == 1 else {
                    throw DemoStory.Unexpected(description: "\(tally.attempts) requests left the client")
                }
                return "\(heldBack) were held back at once, each told when; \(tally.attempts) request reached the server"
            }
            try await steps.run("The first call goes on when the time has come, and the others after it") {
                let reply = try await first.next()
                for _ in 0..<30 { let _: LabSuccess = try await client.get(path) }
                return "200 on request \(reply?.attempt ?? 0), after \(tally.waited.inSeconds); then 30 times 200"
            }
        }
    }

    /// How many of so many calls the client itself did not send, and told when to come back.
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

/// Counts what left a client, and how long it waited.
private final class DemoTally: CallListener {
    private struct State {
        var attempts = 0
        var waited = Duration.zero
    }

    /// Yields when an answer refused.
    let refusals: AsyncStream<Void>
    private let refused: AsyncStream<Void>.Continuation
    private let state = Mutex(State())

    init() {
        (refusals, refused) = AsyncStream<Void>.makeStream()
    }

    var attempts: Int { state.withLock(\.attempts) }
    var waited: Duration { state.withLock(\.waited) }

    func hear(_ event: CallEvent) {
        switch event.kind {
        case .attemptStarted: state.withLock { $0.attempts += 1 }
        // Noted when the gate has heard of the refusal.
        case .waiting(let wait, _):
            state.withLock { $0.waited += wait }
            refused.yield()
        default: break
        }
    }
}

extension LabTokens {
    fileprivate var credentials: Credentials { Credentials(accessToken: accessToken, refreshToken: refreshToken) }
}
