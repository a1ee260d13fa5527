import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import Synchronization
import Testing
import Timekeeping

@testable import ResilientHTTP

@Suite("A refresh shared by all calls", .timeLimit(.minutes(10))) struct SharedRefreshTests {
    /// The first test makes 10,000 calls; fewer are enough for the others.
    private let calls = 2_000
    private let clock = ManualClock()
    private let refreshes = Counter()
    private let prompts = Counter()
    private let ended = Counter()

    private var environment: ClientEnvironment { ClientEnvironment(clock: MonotonicClock(clock)) }

    private func client(
        _ server: TokenServer,
        store: any CredentialStore = MemoryCredentialStore(.number(1)),
        refresh: @escaping Session.Refresh,
        prompt: Session.SignInPrompt? = nil
    ) throws -> APIClient {
        let session = Session(store: store, environment: environment, refresh: refresh, prompt: prompt)
        let url = try #require(URL(string: "https://api.example.org"))
        return APIClient(baseURL: url, transport: server, session: session, middleware: [], environment: environment)
    }

    /// Makes all calls at once, and returns the kinds of their failures.
    private func call(
        _ client: APIClient,
        times: Int? = nil,
        meanwhile: @escaping @Sendable () async -> Void = {}
    ) async -> [APIError.Kind: Int] {
        await withTaskGroup(of: APIError?.self) { group in
            for _ in 0..<(times ?? calls) {
                group.addTask { [ended] in
                    defer { ended.increment() }
                    return await failure { _ = try await client.send(.get, "/a") }
                }
            }
            group.addTask {
                await meanwhile()
                return nil
            }
            return await group.reduce(into: [:]) { kinds, error in
                if let error { kinds[error.kind, default: 0] += 1 }
            }
        }
    }

    @Test("Trap: 10,000 calls with late 401 responses share one refresh, and all succeed")
    func stragglers() async throws {
        let server = TokenServer(valid: "at2", holdsEvery: 20)
        let client = try client(server) { [refreshes] token in
            #expect(token == "rt1")
            refreshes.increment()
            return .number(2)
        }
        let failures = await call(client, times: 10_000) {
            // Waits for all the others first: their calls end with the new token.
            while server.sent(with: "at2") < 1 || server.heldBack == 0, !Task.isCancelled { await Task.yield() }
            while server.sent(with: "at1") + server.sent(with: "at2") - server.heldBack < 1, !Task.isCancelled {
                await Task.yield()
            }
            for _ in 0..<1_000 { await Task.yield() }
            server.release()
        }
        #expect(failures.isEmpty)
        #expect(refreshes.value == 1)
        #expect(server.sent(with: "at2") == 10_000, "each call ended with the new token, sent once")
    }

    @Test("After a refresh no call is sent with the old token")
    func afterwards() async throws {
        let server = TokenServer(valid: "at2")
        let client = try client(server) { _ in .number(2) }
        _ = await call(client)
        let before = server.sent(with: "at1")
        #expect(await call(client).isEmpty)
        #expect(server.sent(with: "at1") == before)
    }

    @Test("A refresh lost in the network signs no user out, and a later call refreshes")
    func networkFailure() async throws {
        let (server, store) = (TokenServer(valid: "at2"), MemoryCredentialStore(.number(1)))
        let isDown = Mutex(true)
        let client = try client(server, store: store) { [refreshes] _ in
            refreshes.increment()
            if isDown.withLock({ $0 }) { throw TransportError(.noInternet, message: "", wasSent: false) }
            return .number(2)
        }
        let failures = await call(client)
        #expect(failures == [.noInternet: calls])
        #expect(await store.load() == .number(1))
        #expect(refreshes.value <= SessionState.mostRenewals, "a storm of refreshes is not begun")
        isDown.withLock { $0 = false }
        clock.advance(by: SessionState.renewalWindow)
        _ = try await client.send(.get, "/a")
        #expect(await store.load() == .number(2))
    }

    @Test("Trap: a hanging refresh ends its attempts, and each call at its own deadline")
    func hanging() async throws {
        let (server, store) = (TokenServer(valid: "at2"), MemoryCredentialStore(.number(1)))
        let client = try client(server, store: store) { [clock, refreshes] _ in
            refreshes.increment()
            try await clock.sleep(for: .seconds(1_000_000))
            return .number(2)
        }
        let failures = await call(client) { [clock, calls, ended] in
            while server.sent(with: "at1") < calls, !Task.isCancelled { await Task.yield() }
            while ended.value < calls, !Task.isCancelled {
                clock.advance(by: .milliseconds(100))
                for _ in 0..<100 { await Task.yield() }
            }
        }
        #expect(failures == [.timeout: calls])
        #expect(await store.load() == .number(1), "no user was signed out")
    }

    @Test("A refused refresh removes the credentials and prompts once; then calls continue")
    func refused() async throws {
        let (server, store) = (TokenServer(valid: "at9", holdsEvery: 20), MemoryCredentialStore(.number(1)))
        let client = try client(server, store: store) { [refreshes] _ in
            refreshes.increment()
            var response = DecodedError(status: 401)
            response.code = .authRefreshFailed
            throw APIError(response)
        } prompt: { [prompts] in
            prompts.increment()
            return .number(9)
        }
        let failures = await call(client) {
            while server.sent(with: "at9") < 1, !Task.isCancelled { await Task.yield() }
            server.release()
        }
        #expect(failures.isEmpty && refreshes.value == 1 && prompts.value == 1)
        #expect(await store.load() == .number(9))
    }

    @Test("If the user declines to sign in, all calls fail as unauthorized after one prompt")
    func declined() async throws {
        let (server, store) = (TokenServer(valid: "at9", holdsEvery: 20), MemoryCredentialStore(.number(1)))
        let client = try client(server, store: store) { _ in
            throw APIError(DecodedError(status: 401))
        } prompt: { [prompts] in
            prompts.increment()
            return nil
        }
        let failures = await call(client) { [calls] in
            while server.sent(with: "at1") < calls, !Task.isCancelled { await Task.yield() }
            for _ in 0..<1_000 { await Task.yield() }
            server.release()
        }
        #expect(failures == [.unauthorized: calls] && prompts.value == 1)
        #expect(await store.load() == nil)
    }

    @Test("Canceled callers of 10,000 leave at once, and the others share one refresh")
    func cancelledCrowd() async throws {
        let server = TokenServer(valid: "at2", holdsEvery: 20)
        let (responses, response) = AsyncStream<Void>.makeStream()
        let session = Session(store: MemoryCredentialStore(.number(1)), environment: environment) { [refreshes] _ in
            refreshes.increment()
            for await _ in responses { break }
            return .number(2)
        }
        let client = APIClient(
            baseURL: try #require(URL(string: "https://api.example.org")),
            transport: server,
            session: session,
            middleware: [],
            environment: environment
        )
        let crowd = (0..<10_000).map { _ in Task { await failure { _ = try await client.send(.get, "/a") } } }
        // All calls have been refused: some responses are delayed, and the other calls wait for the refresh.
        while server.heldBack + session.waiting < crowd.count, !Task.isCancelled { await Task.yield() }
        for (number, call) in crowd.enumerated() where number.isMultiple(of: 3) { call.cancel() }
        server.release()
        while session.waiting > crowd.count * 2 / 3, !Task.isCancelled { await Task.yield() }
        response.yield()
        for (number, call) in crowd.enumerated() {
            let kind = await call.value?.kind
            #expect(kind == (number.isMultiple(of: 3) ? .cancelled : nil))
        }
        #expect(refreshes.value == 1 && session.isIdle && clock.sleeperCount == 0)
        #expect(server.sent(with: "at1") == crowd.count && server.sent(with: "at2") == crowd.count * 2 / 3)
    }

    @Test("Trap: canceling a caller keeps the refresh and stores its rotated token")
    func cancelledCaller() async throws {
        let (server, store) = (TokenServer(valid: "at2"), MemoryCredentialStore(.number(1)))
        let client = try client(server, store: store) { [clock, refreshes] _ in
            refreshes.increment()
            try await clock.sleep(for: .seconds(1))
            return .number(2)
        }
        let first = Task { await failure { _ = try await client.send(.get, "/a") } }
        // The deadlines of the call and of the attempt are later than the end of the refresh.
        while clock.nextDeadline?.offset != .seconds(1), !Task.isCancelled { await Task.yield() }
        first.cancel()
        #expect(await first.value?.kind == .cancelled, "who is cancelled leaves at once")
        let second = Task { await failure { _ = try await client.send(.get, "/a") } }
        while server.sent(with: "at1") < 2, !Task.isCancelled { await Task.yield() }
        for _ in 0..<100 { await Task.yield() }
        clock.advance(by: .seconds(1))
        #expect(await second.value == nil)
        #expect(refreshes.value == 1)
        #expect(await store.load() == .number(2))
    }
}
