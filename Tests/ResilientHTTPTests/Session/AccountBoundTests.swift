import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import Synchronization
import Testing
import Timekeeping

@testable import ResilientHTTP

@Suite("Accounts of sessions and calls", .timeLimit(.minutes(10))) struct AccountBoundTests {
    private let environment = ClientEnvironment(clock: MonotonicClock(ManualClock()))
    private let prompts = Counter()

    private static func credentials(_ account: String?, _ token: String = "1") -> Credentials {
        Credentials(accessToken: "\(account ?? "?")\(token)", refreshToken: "r\(account ?? "?")", userID: account)
    }

    private func session(
        _ credentials: Credentials?,
        refresh: @escaping Session.Refresh = { _ in credentials("A", "2") }
    ) -> Session {
        Session(
            store: MemoryCredentialStore(credentials),
            environment: environment,
            refresh: refresh,
            prompt: { [prompts] in
                prompts.increment()
                return Self.credentials("B")
            }
        )
    }

    private func client(
        _ transport: some HTTPTransport,
        _ session: Session,
        _ middleware: [any ClientMiddleware] = []
    ) throws -> APIClient {
        let url = try #require(URL(string: "https://api.example.org"))
        return APIClient(baseURL: url, transport: transport, session: session, middleware: middleware, environment: environment)
    }

    /// Retries without a delay.
    private static let retry = RetryMiddleware(RetryPolicy(backoff: Backoff(base: .zero)))

    private func bound(to account: String) -> CallOptions {
        var options = CallOptions()
        options.account = account
        return options
    }

    private func refusal(_ code: ErrorCode) -> ScriptedTransport.Step {
        .response(status: 401, headers: [.errorCode: code.rawValue])
    }

    private func tokens(_ transport: ScriptedTransport) -> [String?] {
        transport.sent.map { $0.request.headerFields[.authorization] }
    }

    @Test("The identity is the stored account after a sign-in, refresh and sign-out")
    func identity() async throws {
        let session = session(Self.credentials("A"))
        #expect(try await session.identity == "A")
        try await session.refreshNow()
        #expect(try await session.identity == "A")
        #expect(try await session.credentials?.accessToken == "A2")
        try await session.setCredentials(Self.credentials("B"))
        #expect(try await session.identity == "B")
        try await session.setCredentials(nil)
        #expect(try await session.identity == nil)
    }

    @Test("A refresh that finds the sign-in of another process notifies the observers")
    func signInElsewhere() async throws {
        let store = MemoryCredentialStore()
        let session = Session(store: store, refresh: { _ in .number(2) })
        #expect(try await session.identity == nil)
        let changes = Counter()
        session.onChange(of: changes) { changes, _ in changes.increment() }
        await store.save(Self.credentials("A"))
        try await session.refreshNow()
        #expect(try await session.identity == "A")
        #expect(changes.value == 1)
    }

    @Test("There is no identity without a user, or if the credentials name no account")
    func noIdentity() async throws {
        #expect(try await session(nil).identity == nil)
        #expect(try await session(Self.credentials(nil)).identity == nil)
    }

    @Test("A refresh whose response does not name the account keeps the identity")
    func refreshWithoutAccount() async throws {
        let session = session(Self.credentials("A")) { _ in Credentials(accessToken: "A2", refreshToken: "rA") }
        try await session.refreshNow()
        #expect(try await session.identity == "A")
    }

    @Test("A call of an account carries the token of that account, also after a refresh")
    func own() async throws {
        let transport = ScriptedTransport([refusal(.authTokenExpired), .response(status: 200)])
        _ = try await client(transport, session(Self.credentials("A"))).send(.get, "/a", options: bound(to: "A"))
        #expect(tokens(transport) == ["Bearer A1", "Bearer A2"])
    }

    @Test("Sends nothing of a call of another account, or if no user is signed in", arguments: ["B", nil])
    func foreign(present: String?) async throws {
        let transport = ScriptedTransport([.response(status: 200)])
        let client = try client(transport, session(present.map { Self.credentials($0) }))
        let error = await failure { _ = try await client.send(.get, "/a", options: bound(to: "A")) }
        #expect(error?.kind == .unauthorized && transport.sent.isEmpty && prompts.value == 0)
    }

    @Test(
        "Trap: another account signs in during a 401: the call fails without retry",
        arguments: [ErrorCode.authTokenExpired, .authSessionExpired, .authTokenMissing]
    )
    func signInDuringRefusal(code: ErrorCode) async throws {
        let session = session(Self.credentials("A"))
        let tokens = Mutex<[String?]>([])
        let transport = ClosureTransport { request, _, _ in
            tokens.withLock { $0.append(request.headerFields[.authorization]) }
            try await session.setCredentials(Self.credentials("B"))
            return (HTTPResponse(status: .unauthorized, headerFields: [.errorCode: code.rawValue]), ResponseBody())
        }
        let client = try client(transport, session)
        let error = await failure { _ = try await client.send(.post, "/a", options: bound(to: "A")) }
        #expect(error?.kind == .unauthorized)
        #expect(tokens.withLock(\.self) == ["Bearer A1"] && prompts.value == 0)
        #expect(try await session.identity == "B")
    }

    @Test("Trap: another account signs in during the refresh: the call fails without retry")
    func signInDuringRefresh() async throws {
        let slot = Mutex<Session?>(nil)
        let session = session(Self.credentials("A")) { _ in
            try await slot.withLock(\.self)?.setCredentials(Self.credentials("B"))
            return Self.credentials("A", "2")
        }
        slot.withLock { $0 = session }
        defer { slot.withLock { $0 = nil } }
        let transport = ScriptedTransport([refusal(.authTokenExpired), .response(status: 200)])
        let client = try client(transport, session)
        let error = await failure { _ = try await client.send(.post, "/a", options: bound(to: "A")) }
        #expect(error != nil && tokens(transport) == ["Bearer A1"] && prompts.value == 0)
        #expect(try await session.identity == "B")
    }

    @Test("Trap: a retry after a sign-out is not sent without a token and shows no prompt")
    func signOutBeforeRetry() async throws {
        let session = session(Self.credentials("A"))
        let tokens = Mutex<[String?]>([])
        let transport = ClosureTransport { request, _, _ in
            let token = request.headerFields[.authorization]
            tokens.withLock { $0.append(token) }
            try await session.setCredentials(nil)
            return (HTTPResponse(status: token == nil ? .unauthorized : .internalServerError), ResponseBody())
        }
        let client = try client(transport, session, [Self.retry])
        let error = await failure { _ = try await client.send(.get, "/a") }
        #expect(error?.kind == .unauthorized && error?.code == .authTokenMissing && error?.attempts == 1)
        #expect(tokens.withLock(\.self) == ["Bearer A1"] && prompts.value == 0)
        #expect(try await session.credentials == nil)
    }

    @Test("Trap: a retry after a sign-out during a refresh does not prompt the user")
    func retryDuringRefresh() async throws {
        let isReleased = Mutex(false)
        defer { isReleased.withLock { $0 = true } }
        let refreshes = Counter()
        let session = session(Self.credentials("A")) { _ in
            refreshes.increment()
            while !isReleased.withLock(\.self) { await Task.yield() }
            return Self.credentials("A", "2")
        }
        let arrivals = Counter()
        let transport = ClosureTransport { request, _, _ in
            guard request.path == "/two" else {
                let headers: HTTPFields = [.errorCode: ErrorCode.authTokenExpired.rawValue]
                return (HTTPResponse(status: .unauthorized, headerFields: headers), ResponseBody())
            }
            arrivals.increment()
            while refreshes.value == 0 { await Task.yield() }
            try await session.setCredentials(nil)
            return (HTTPResponse(status: .internalServerError), ResponseBody())
        }
        let client = try client(transport, session, [Self.retry])
        let second = Task { await failure { _ = try await client.send(.get, "/two") } }
        while arrivals.value == 0, !Task.isCancelled { await Task.yield() }
        // The refusal of this call begins the refresh. Then the user signs out, and the other call is retried.
        let first = Task { await failure { _ = try await client.send(.get, "/one") } }
        while session.waiting < 2, !Task.isCancelled { await Task.yield() }
        isReleased.withLock { $0 = true }
        #expect(await first.value?.kind == .unauthorized)
        #expect(await second.value?.kind == .unauthorized)
        #expect(arrivals.value == 1 && prompts.value == 0)
        #expect(try await session.credentials == nil)
    }

    @Test("A retry waits for the prompt that is shown, and continues with the new session")
    func retryDuringPrompt() async throws {
        let isReleased = Mutex(false)
        defer { isReleased.withLock { $0 = true } }
        let session = Session(
            store: MemoryCredentialStore(Self.credentials("A")),
            environment: environment,
            refresh: { _ in throw APIError(DecodedError(status: 401)) },
            prompt: { [prompts] in
                prompts.increment()
                while !isReleased.withLock(\.self) { await Task.yield() }
                return Self.credentials("A", "2")
            }
        )
        let arrivals = Counter()
        let transport = ClosureTransport { [prompts] request, _, _ in
            let token = request.headerFields[.authorization]
            if token == "Bearer A1", request.path == "/two" {
                arrivals.increment()
                while prompts.value == 0 { await Task.yield() }
                return (HTTPResponse(status: .internalServerError), ResponseBody())
            }
            return (HTTPResponse(status: token == "Bearer A2" ? .ok : .unauthorized), ResponseBody())
        }
        let client = try client(transport, session, [Self.retry])
        let second = Task { try await client.send(.get, "/two").response.status.code }
        while arrivals.value == 0, !Task.isCancelled { await Task.yield() }
        // The refusal of this call ends the session and shows the prompt. Then the other call is retried.
        let first = Task { try await client.send(.get, "/one").response.status.code }
        while session.waiting < 2, !Task.isCancelled { await Task.yield() }
        isReleased.withLock { $0 = true }
        #expect(try await first.value == 200)
        #expect(try await second.value == 200)
        #expect(prompts.value == 1)
    }

    @Test("A call of an account never prompts the user; a refused refresh ends no session")
    func noPrompt() async throws {
        let session = session(Self.credentials("A")) { _ in
            throw APIError(kind: .unauthorized, code: .authRefreshFailed, retry: .afterSignIn)
        }
        for code in [ErrorCode.authTokenExpired, .authSessionExpired] {
            let transport = ScriptedTransport([refusal(code), .response(status: 200)])
            let client = try client(transport, session)
            let error = await failure { _ = try await client.send(.post, "/a", options: bound(to: "A")) }
            #expect(error?.kind == .unauthorized && error?.code == code && transport.sent.count == 1)
        }
        #expect(prompts.value == 0)
        #expect(try await session.identity == "A")
    }
}
