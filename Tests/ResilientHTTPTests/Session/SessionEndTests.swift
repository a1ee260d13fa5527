import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import Synchronization
import Testing
import Timekeeping

@testable import ResilientHTTP

/// Refreshes that end after the session has changed.
@Suite("A refresh that ends late", .timeLimit(.minutes(10))) struct SessionEndTests {
    /// Delays refreshes until they are released.
    private final class Endpoint: Sendable {
        private let waiters = Mutex<[CheckedContinuation<Void, Never>]>([])
        private let outcome: @Sendable () throws -> Credentials

        init(_ outcome: @escaping @Sendable () throws -> Credentials) {
            self.outcome = outcome
        }

        var isAsked: Bool { waiters.withLock { !$0.isEmpty } }

        func refresh() async throws -> Credentials {
            await withCheckedContinuation { waiter in waiters.withLock { $0.append(waiter) } }
            return try outcome()
        }

        func release() {
            for waiter in waiters.withLock({ waiters in
                defer { waiters = [] }
                return waiters
            }) { waiter.resume() }
        }
    }

    private let revoked = RevokedTokens()
    private let prompts = Counter()
    private let store = MemoryCredentialStore(.number(1))

    private func session(_ endpoint: Endpoint) -> Session {
        Session(
            store: store,
            environment: ClientEnvironment(clock: MonotonicClock(ManualClock())),
            refresh: { _ in try await endpoint.refresh() },
            revoke: { [revoked] in revoked.note($0) },
            prompt: { [prompts] in
                prompts.increment()
                return nil
            }
        )
    }

    /// Starts a refresh, changes the session meanwhile, and lets the refresh end.
    private func run(
        _ outcome: @escaping @Sendable () throws -> Credentials,
        meanwhile change: (Session) async throws -> Void
    ) async throws -> Session {
        let endpoint = Endpoint(outcome)
        let session = session(endpoint)
        _ = try await session.credentials
        async let refresh: Void? = try? session.refreshNow()
        while !endpoint.isAsked { await Task.yield() }
        try await change(session)
        endpoint.release()
        await refresh
        return session
    }

    @Test("A late success does not restore a session after its sign-out, and is revoked")
    func signOut() async throws {
        let session = try await run({ .number(2) }, meanwhile: { try await $0.setCredentials(nil) })
        #expect(try await session.credentials == nil)
        #expect(await store.load() == nil)
        while revoked.all.isEmpty { await Task.yield() }
        #expect(revoked.all == [.number(2)])
    }

    @Test("A late success does not replace the session of a user who signed in meanwhile")
    func otherUser() async throws {
        let session = try await run({ .number(2) }, meanwhile: { try await $0.setCredentials(.number(7)) })
        #expect(try await session.credentials == .number(7))
        #expect(await store.load() == .number(7))
        while revoked.all.isEmpty { await Task.yield() }
        #expect(revoked.all == [.number(2)])
    }

    @Test("A late refusal neither signs out a new user nor prompts for a sign-in")
    func refusal() async throws {
        let refused: @Sendable () throws -> Credentials = { throw APIError(DecodedError(status: 401)) }
        let session = try await run(refused, meanwhile: { try await $0.setCredentials(.number(7)) })
        #expect(try await session.credentials == .number(7))
        #expect(await store.load() == .number(7))
        #expect(prompts.value == 0)
    }

    @Test("A late success does not undo a sign-out by another process")
    func otherProcessSignsOut() async throws {
        let store = store
        let session = try await run({ .number(2) }, meanwhile: { _ in await store.save(nil) })
        #expect(try await session.credentials == nil)
        #expect(await store.load() == nil)
        while revoked.all.isEmpty { await Task.yield() }
        #expect(revoked.all == [.number(2)])
    }

    @Test("A refresh is not revoked if another process refreshed the same session first")
    func otherProcessRefreshesFirst() async throws {
        let store = store
        var fresh = Credentials.number(5)
        fresh.sessionID = Credentials.number(1).identified().sessionID
        let session = try await run({ .number(2) }, meanwhile: { [fresh] _ in await store.save(fresh) })
        #expect(try await session.credentials == .number(5))
        #expect(await store.load() == .number(5))
        // A separate task revokes tokens.
        for _ in 0..<1_000 { await Task.yield() }
        #expect(revoked.all.isEmpty, "a revocation ends the session at the server")
    }

    @Test("A refresh is revoked if the store can't show what another process has changed")
    func unreadableChange() async throws {
        let session = Session(
            store: ChangedStore(),
            environment: ClientEnvironment(clock: MonotonicClock(ManualClock())),
            refresh: { _ in .number(2) },
            revoke: { [revoked] in revoked.note($0) }
        )
        await #expect(throws: APIError.self) { try await session.refreshNow() }
        while revoked.all.isEmpty { await Task.yield() }
        #expect(revoked.all == [.number(2)])
    }

    @Test("A refused refresh uses the tokens of another process that refreshed first")
    func otherProcessRefreshes() async throws {
        let store = store
        var fresh = Credentials.number(5)
        fresh.sessionID = Credentials.number(1).identified().sessionID
        let refused: @Sendable () throws -> Credentials = { throw APIError(DecodedError(status: 401)) }
        let session = try await run(refused, meanwhile: { [fresh] _ in await store.save(fresh) })
        #expect(try await session.credentials == .number(5))
        #expect(prompts.value == 0)
    }

    @Test(
        "Only the API's own refusal of the token ends a session",
        arguments: [
            (401, nil, nil, true), (403, nil, nil, false), (403, ErrorCode.authRefreshFailed, nil, true), (400, nil, nil, false),
            (401, .apiKeyInvalid, nil, false), (403, .authRefreshFailed, Duration.seconds(9), false),
        ] as [(Int, ErrorCode?, Duration?, Bool)]
    )
    func refusals(status: Int, code: ErrorCode?, retryAfter: Duration?, ends: Bool) async throws {
        var response = DecodedError(status: status)
        (response.code, response.retryAfter) = (code, retryAfter)
        let session = try await run({ [response] in throw APIError(response) }, meanwhile: { _ in })
        #expect(try await session.credentials == (ends ? nil : .number(1)))
    }

    @Test("A refresh without a new refresh token keeps the old one and the user")
    func accessTokenOnly() async throws {
        let held = Credentials(accessToken: "at1", refreshToken: "rt1", userID: "ana")
        let session = Session(
            store: MemoryCredentialStore(held),
            refresh: { _ in Credentials(accessToken: "at2", refreshToken: nil) }
        )
        try await session.refreshNow()
        let credentials = try await session.credentials
        #expect(credentials?.accessToken == "at2" && credentials?.refreshToken == "rt1" && credentials?.userID == "ana")
    }

    @Test("An unconfirmed delay of an hour blocks the session for at most a minute")
    func unconfirmedDelay() async throws {
        let clock = ManualClock()
        let isDown = Mutex(true)
        let session = Session(
            store: store,
            environment: ClientEnvironment(clock: MonotonicClock(clock), chance: { 0 }),
            refresh: { _ in
                guard isDown.withLock({ $0 }) else { return .number(2) }
                var response = DecodedError(status: 503)
                response.retryAfter = .seconds(3_600)
                throw APIError(response)
            }
        )
        await #expect(throws: APIError.self) { try await session.refreshNow() }
        isDown.withLock { $0 = false }
        clock.advance(by: .seconds(60))
        try await session.refreshNow()
        #expect(try await session.credentials == .number(2))
    }

    @Test("A sign-out reaches the store even if its caller is canceled")
    func canceledSignOut() async throws {
        let session = session(Endpoint { .number(2) })
        _ = try await session.credentials
        let signOut = Task { _ = try await session.setCredentials(nil) }
        signOut.cancel()
        try await signOut.value
        #expect(await store.load() == nil)
    }

    @Test("Writes reach the store in the order of the changes")
    func order() async throws {
        let slow = SlowStore()
        let session = Session(store: slow, refresh: { _ in .number(2) })
        _ = try await session.credentials
        async let signIn = session.setCredentials(.number(7))
        while await slow.writes == 0 { await Task.yield() }
        async let signOut = session.setCredentials(nil)
        for _ in 0..<20 { await Task.yield() }
        await slow.release()
        _ = try await (signIn, signOut)
        #expect(await slow.load() == nil)
    }

    @Test("After a prompt pending calls continue, unless another user has signed in", arguments: ["ana", "eva"])
    func promptedUser(user: String) async throws {
        let held = Credentials(accessToken: "at1", refreshToken: nil, userID: "ana")
        let session = Session(
            store: MemoryCredentialStore(held),
            refresh: { _ in .number(2) },
            prompt: { Credentials(accessToken: "at9", refreshToken: "rt9", userID: user) }
        )
        let server = TokenServer(valid: "at9")
        let client = APIClient(
            baseURL: try #require(URL(string: "https://api.example.org")),
            transport: server,
            session: session,
            middleware: []
        )
        let error = await failure { _ = try await client.send(.get, "/a") }
        #expect((error == nil) == (user == "ana") && server.sent(with: "at9") == (user == "ana" ? 1 : 0))
        #expect(try await session.credentials?.accessToken == "at9")
    }
}

/// The credentials that were revoked.
private final class RevokedTokens: Sendable {
    private let credentials = Mutex<[Credentials]>([])
    var all: [Credentials] { credentials.withLock(\.self) }
    func note(_ revoked: Credentials) { credentials.withLock { $0.append(revoked) } }
}

/// A store that another process changes before each write that compares. Afterwards, the store can't be read.
private actor ChangedStore: CredentialStore {
    private struct Unreadable: Error {}

    private var isChanged = false

    func load() throws -> Credentials? {
        if isChanged { throw Unreadable() }
        return .number(1)
    }

    func save(_ new: Credentials?) {}

    func save(_ new: Credentials?, replacing expected: Credentials?) -> Bool {
        isChanged = true
        return false
    }
}

/// A store whose first write waits until it is released.
private actor SlowStore: CredentialStore {
    private var credentials: Credentials? = .number(1)
    private(set) var writes = 0
    private var isReleased = false
    private var waiter: CheckedContinuation<Void, Never>?

    func load() -> Credentials? { credentials }

    func save(_ new: Credentials?) async {
        writes += 1
        if !isReleased { await withCheckedContinuation { waiter = $0 } }
        credentials = new
    }

    func release() {
        isReleased = true
        waiter?.resume()
    }
}
