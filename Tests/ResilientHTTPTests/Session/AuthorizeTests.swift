import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import Synchronization
import Testing
import Timekeeping

@testable import ResilientHTTP

@Suite("Signing requests", .timeLimit(.minutes(10))) struct AuthorizeTests {
    private static let now = Date(timeIntervalSince1970: 1_762_252_200)
    private let refreshes = Counter()
    private let prompts = Counter()

    private func client(
        _ transport: some HTTPTransport,
        credentials: Credentials? = .number(1),
        refresh: Session.Refresh? = nil,
        signsIn: Bool = false
    ) throws -> (APIClient, MemoryCredentialStore) {
        let environment = ClientEnvironment(clock: MonotonicClock(ManualClock()), wallClock: { Self.now })
        let store = MemoryCredentialStore(credentials)
        let prompt: Session.SignInPrompt = { [prompts] in
            prompts.increment()
            return .number(9)
        }
        let session = Session(
            store: store,
            environment: environment,
            refresh: { [refreshes] token in
                refreshes.increment()
                return try await refresh?(token) ?? .number(2)
            },
            prompt: signsIn ? prompt : nil
        )
        let url = try #require(URL(string: "https://api.example.org"))
        let client = APIClient(baseURL: url, transport: transport, session: session, middleware: [], environment: environment)
        return (client, store)
    }

    private func refusal(_ code: ErrorCode?, status: Int = 401) -> ScriptedTransport.Step {
        .response(status: status, headers: code.map { [.errorCode: $0.rawValue] } ?? [:])
    }

    private func tokens(_ transport: ScriptedTransport) -> [String?] {
        transport.sent.map { $0.request.headerFields[.authorization] }
    }

    @Test(
        "The code of a 401 decides the reaction",
        arguments: [ErrorCode?.some(.authTokenExpired), .some(.authTokenInvalid), nil]
    )
    func refreshes(code: ErrorCode?) async throws {
        let transport = ScriptedTransport([refusal(code), .response(status: 200)])
        let (client, store) = try client(transport)
        _ = try await client.send(.post, "/a", body: RequestBody([1], contentType: "text/plain"))
        #expect(tokens(transport) == ["Bearer at1", "Bearer at2"] && refreshes.value == 1)
        #expect(await store.load() == .number(2))
    }

    @Test(
        "Trap: API_KEY_INVALID neither refreshes nor signs out",
        arguments: [
            (ErrorCode.apiKeyInvalid, 401), (.apiKeyExpired, 401), (.socialTokenExpired, 401), (.authInvalidCredentials, 401),
            (.resourceForbidden, 403),
        ]
    )
    func foreign(code: ErrorCode, status: Int) async throws {
        let transport = ScriptedTransport([refusal(code, status: status)])
        let (client, store) = try client(transport, signsIn: true)
        let error = await failure { _ = try await client.send(.get, "/a") }
        #expect(error?.code == code && transport.sent.count == 1 && refreshes.value == 0 && prompts.value == 0)
        #expect(await store.load() == .number(1))
    }

    @Test(
        "A 401 of another origin after a redirect doesn't change the session",
        arguments: [ErrorCode?.some(.authTokenExpired), .some(.authSessionExpired), nil],
        [Credentials?.some(.number(1)), nil]
    )
    func otherOrigin(code: ErrorCode?, credentials: Credentials?) async throws {
        let transport = ClosureTransport.otherOrigin(status: 401, headers: code.map { [.errorCode: $0.rawValue] } ?? [:])
        let (client, store) = try client(transport, credentials: credentials, signsIn: true)
        let error = await failure { _ = try await client.send(.get, "/a") }
        #expect(error?.status == 401 && error?.retry == .never && error?.recovery == .dismiss && error?.attempts == 1)
        #expect(error?.sentCredentials == false && error?.localizedDescription == ContractText.unknownError.text(in: .english))
        #expect(refreshes.value == 0 && prompts.value == 0)
        #expect(await store.load() == credentials)
    }

    @Test(
        "Never refreshes an ended session: the user signs in, and the call goes on",
        arguments: [ErrorCode.authSessionExpired, .authRefreshFailed]
    )
    func ended(code: ErrorCode) async throws {
        let transport = ScriptedTransport([refusal(code), .response(status: 200)])
        let (client, store) = try client(transport, signsIn: true)
        _ = try await client.send(.get, "/a")
        #expect(tokens(transport) == ["Bearer at1", "Bearer at9"] && refreshes.value == 0 && prompts.value == 1)
        #expect(await store.load() == .number(9))
    }

    @Test("Trap: throws a 401 on a fresh token, and the session stays")
    func loop() async throws {
        let transport = ScriptedTransport([refusal(.authTokenExpired), refusal(.authTokenExpired)])
        let (client, store) = try client(transport)
        let error = await failure { _ = try await client.send(.get, "/a") }
        #expect(error?.code == .authTokenExpired && error?.attempts == 2 && transport.sent.count == 2 && refreshes.value == 1)
        #expect(await store.load() == .number(2))
    }

    @Test("An endpoint that refuses every token causes a bounded number of refreshes")
    func excessive() async throws {
        let transport = ScriptedTransport(Array(repeating: refusal(.authTokenExpired), count: 100))
        let (client, _) = try client(
            transport,
            refresh: { token in
                Credentials(accessToken: "at" + token, refreshToken: token + "+")
            }
        )
        for _ in 0..<50 { _ = await failure { _ = try await client.send(.get, "/a") } }
        #expect(refreshes.value == SessionState.mostRenewals)
    }

    @Test("Replaces a token that is about to expire before its use")
    func proactive() async throws {
        for (left, isRefreshed) in [(29.0, true), (-5.0, true), (31.0, false)] {
            let transport = ScriptedTransport([.response(status: 200)])
            let (client, _) = try client(transport, credentials: .number(1, expiresAt: Self.now.addingTimeInterval(left)))
            let before = refreshes.value
            _ = try await client.send(.get, "/a")
            #expect(tokens(transport) == [isRefreshed ? "Bearer at2" : "Bearer at1"])
            #expect(refreshes.value - before == (isRefreshed ? 1 : 0))
        }
    }

    @Test("If an early refresh fails, uses the current token")
    func proactiveFailing() async throws {
        let transport = ScriptedTransport([.response(status: 200)])
        let (client, store) = try client(
            transport,
            credentials: .number(1, expiresAt: Self.now.addingTimeInterval(10)),
            refresh: { _ in throw TransportError(.connectionLost, message: "", wasSent: true) }
        )
        _ = try await client.send(.get, "/a")
        #expect(tokens(transport) == ["Bearer at1"])
        #expect(await store.load()?.accessToken == "at1")
    }

    @Test("Trap: sends no token of a session that ends during an early refresh that fails", arguments: [2, nil])
    func endDuringEarlyRefresh(number: Int?) async throws {
        let slot = Mutex<Session?>(nil)
        let transport = ScriptedTransport([.response(status: 200)])
        let (client, store) = try client(
            transport,
            credentials: .number(1, expiresAt: Self.now.addingTimeInterval(10)),
            refresh: { _ in
                try await slot.withLock(\.self)?.setCredentials(number.map { Credentials.number($0) })
                throw TransportError(.connectionLost, message: "", wasSent: true)
            }
        )
        slot.withLock { $0 = client.session }
        defer { slot.withLock { $0 = nil } }
        let error = await failure { _ = try await client.send(.get, "/a") }
        #expect(error?.kind == .unauthorized && transport.sent.isEmpty)
        #expect(await store.load() == number.map { Credentials.number($0) })
    }

    @Test("A signed-out user sends no token, and signs in if one is required")
    func signedOut() async throws {
        let open = ScriptedTransport([.response(status: 200)])
        _ = try await client(open, credentials: nil).0.send(.get, "/public")
        #expect(tokens(open) == [nil])
        let closed = ScriptedTransport([refusal(.authTokenMissing), .response(status: 200)])
        _ = try await client(closed, credentials: nil, signsIn: true).0.send(.get, "/private")
        #expect(tokens(closed) == [nil, "Bearer at9"])
        let refused = ScriptedTransport([refusal(.authTokenMissing)])
        let error = await failure { _ = try await client(refused, credentials: nil).0.send(.get, "/private") }
        #expect(error?.kind == .unauthorized && error?.recovery == .signIn && error?.code == .authTokenMissing)
    }

    @Test("Does not change a request that has its own Authorization")
    func ownHeader() async throws {
        let transport = ScriptedTransport([refusal(.authTokenExpired)])
        let (client, _) = try client(transport)
        let error = await failure { _ = try await client.send(.get, "/a", headers: [.authorization: "Basic x"]) }
        #expect(error?.code == .authTokenExpired && tokens(transport) == ["Basic x"] && refreshes.value == 0)
    }

    @Test("Does not replay a body that can be sent only once")
    func oneShot() async throws {
        let transport = ScriptedTransport([refusal(.authTokenExpired)])
        let (client, _) = try client(transport)
        let body = RequestBody([1], contentType: "text/plain", isOneShot: true)
        let error = await failure { _ = try await client.send(.post, "/a", body: body) }
        #expect(error?.code == .authTokenExpired && transport.sent.count == 1)
    }

    @Test("A session that the store can't save works until the app ends")
    func brokenStore() async throws {
        struct Broken: CredentialStore {
            func load() async throws -> Credentials? { .number(1) }
            func save(_ credentials: Credentials?) async throws { throw CocoaError(.fileWriteNoPermission) }
        }
        let session = Session(store: Broken(), refresh: { _ in .number(2) })
        try await session.refreshNow()
        #expect(try await session.credentials == .number(2))
    }
}
