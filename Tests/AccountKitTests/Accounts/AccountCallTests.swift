import AccountContract
import AccountKit
import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Synchronization
import Testing

/// A call of the account API, with the request that it sends.
struct AccountCall: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let sent: String
    /// Whether the request has the access token.
    let isAuthorized: Bool
    let make: @Sendable (AccountClient) async throws -> Void

    private init(
        _ name: String,
        _ sent: String,
        isAuthorized: Bool = true,
        _ make: @escaping @Sendable (AccountClient) async throws -> Void
    ) {
        (testDescription, self.sent, self.isAuthorized, self.make) = (name, sent, isAuthorized, make)
    }

    static let all: [AccountCall] = [
        AccountCall("change password", #"POST /api/auth/change-password {"current_password":"old","new_password":"new"}"#) {
            try await $0.changePassword(currentPassword: try Password("old"), newPassword: try Password("new"))
        },
        AccountCall("change email", #"POST /api/auth/change-email {"current_password":"old","new_email":"b@example.org"}"#) {
            try await $0.requestEmailChange(to: try EmailAddress("b@example.org"), currentPassword: try Password("old"))
        },
        AccountCall("update user", #"PATCH /api/auth/me {"first_name":"Ben","locale":"de"}"#) {
            try await $0.updateUser(firstName: try FirstName("Ben"), language: .german)
        },
        AccountCall("sessions", "GET /api/auth/sessions") { _ = try await $0.sessions() },
        AccountCall("end a session", "DELETE /api/auth/sessions/a%2Fb") { try await $0.endSession(UserID(rawValue: "a/b")) },
        AccountCall("end other sessions", "DELETE /api/auth/sessions") { try await $0.endOtherSessions() },
        AccountCall("delete account", #"POST /api/auth/delete-account {"password":"old"}"#) {
            try await $0.deleteAccount(password: try Password("old"))
        },
        AccountCall("export", #"POST /api/auth/export {"password":"old"}"#) {
            _ = try await $0.exportData(password: try Password("old"))
        },
        AccountCall("request verification", "POST /api/auth/verify-email/request {}") { try await $0.requestVerification() },
        AccountCall("verify", #"POST /api/auth/verify-email {"token":"tok"}"#) {
            try await $0.verifyEmail(token: try ResetToken("tok"))
        },
        AccountCall("confirm email", #"POST /api/auth/change-email/confirm {"token":"tok"}"#) {
            try await $0.confirmEmailChange(token: try ResetToken("tok"))
        },
        AccountCall(
            "request verification of an address",
            #"POST /api/auth/verify-email/request {"email":"a@example.org"}"#,
            isAuthorized: false
        ) { try await $0.requestVerification(email: try EmailAddress("a@example.org")) },
        AccountCall(
            "verify with the password",
            #"POST /api/auth/verify-email {"current_password":"old","token":"tok"}"#,
            isAuthorized: false
        ) { try await $0.verifyEmail(token: try ResetToken("tok"), currentPassword: try Password("old")) },
        AccountCall(
            "confirm email with the password",
            #"POST /api/auth/change-email/confirm {"current_password":"old","token":"tok"}"#,
            isAuthorized: false
        ) { try await $0.confirmEmailChange(token: try ResetToken("tok"), currentPassword: try Password("old")) },
        AccountCall("undo email", #"POST /api/auth/change-email/undo {"token":"tok"}"#, isAuthorized: false) {
            try await $0.undoEmailChange(token: try ResetToken("tok"))
        },
        AccountCall("keep account", #"POST /api/auth/delete-account/undo {"token":"tok"}"#, isAuthorized: false) {
            try await $0.keepAccount(token: try ResetToken("tok"))
        },
        AccountCall("activate", #"POST /api/auth/activate {"password":"new","token":"tok"}"#, isAuthorized: false) {
            _ = try await $0.activate(token: try ResetToken("tok"), password: try Password("new"))
        },
    ]

    /// A response that every call can read.
    static let success = ScriptedTransport.Step.response(
        status: 200,
        body: #"{"success":true,"message":"m","sessions":[],"# + Samples.sessionJSON(2).dropFirst()
    )
}

@Suite("Calls of the account API")
struct AccountCallTests {
    @Test("A call sends its request, with the session if it needs one", arguments: AccountCall.all)
    func request(call: AccountCall) async throws {
        let fixture = try Fixture(AccountCall.success, credentials: try Samples.credentials(1))
        try await call.make(fixture.client)
        #expect(fixture.sent == [call.sent])
        let fields = try #require(fixture.transport.sent.first).request.headerFields
        #expect(fields[.authorization] == (call.isAuthorized ? "Bearer at1" : nil))
        #expect((fields[.idempotencyKey] != nil) == (call.sent.hasPrefix("POST") || call.sent.hasPrefix("PATCH")))
    }

    @Test("A call that needs a session is refused locally without one", arguments: AccountCall.all.filter(\.isAuthorized))
    func signedOut(call: AccountCall) async throws {
        let fixture = try Fixture([])
        #expect(await failure { try await call.make(fixture.client) }?.code == .authTokenMissing)
        #expect(fixture.sent.isEmpty)
    }

    @Test(
        "A call is not sent if its session ends or another one begins before",
        arguments: AccountCall.all.filter(\.isAuthorized),
        [2, nil]
    )
    func replaced(call: AccountCall, by number: Int?) async throws {
        let credentials = try number.map { try Samples.credentials($0) }
        let fixture = try Fixture(AccountCall.success, credentials: Samples.credentials(1))
        var client = fixture.client
        client.api = APIClient(
            baseURL: client.api.baseURL,
            transport: fixture.transport,
            middleware: [
                ClosureMiddleware { [session = client.session] request, body, next in
                    try await session.setCredentials(credentials)
                    return try await next(request, body)
                }
            ],
            environment: client.api.environment
        )
        let error = await failure { [client] in try await call.make(client) }
        #expect(error?.kind == .unauthorized)
        #expect(fixture.sent.isEmpty)
        #expect(await fixture.store.load() == credentials)
    }

    @Test("A refusal by the server reaches the caller with its code", arguments: AccountCall.all)
    func refused(call: AccountCall) async throws {
        let fixture = try Fixture(
            .response(status: 401, body: Samples.errorJSON(.authInvalidCredentials)),
            credentials: try Samples.credentials(1)
        )
        let error = await failure { try await call.make(fixture.client) }
        #expect(error?.code == .authInvalidCredentials && error?.context != nil)
        #expect(try await fixture.store.load() == Samples.credentials(1), "the session continues")
    }

    @Test("A changed password stores the new tokens in the session")
    func changePassword() async throws {
        let fixture = try Fixture(
            .response(status: 200, body: Samples.sessionJSON(2)),
            .response(status: 200, body: "{\(Samples.userJSON)}"),
            credentials: try Samples.credentials(1)
        )
        try await fixture.client.changePassword(currentPassword: try Password("old"), newPassword: try Password("new"))
        #expect(try await fixture.store.load() == Samples.credentials(2))
        _ = try await fixture.client.me()
        #expect(fixture.transport.sent.last?.request.headerFields[.authorization] == "Bearer at2")
    }

    @Test("A call in flight during a change of the password continues with the new tokens")
    func callDuringChange() async throws {
        let fixture = try Fixture(.response(status: 200, body: Samples.sessionJSON(2)), credentials: try Samples.credentials(1))
        let tokens = Mutex<[String?]>([])
        // Changes the password during the first request, and then refuses the request.
        let server = ClosureTransport { [client = fixture.client] request, _, _ in
            let count = tokens.withLock { tokens in
                tokens.append(request.headerFields[.authorization])
                return tokens.count
            }
            guard count == 1 else { return (HTTPResponse(status: .ok), ResponseBody()) }
            _ = try? await client.changePassword(currentPassword: Password("old"), newPassword: Password("new"))
            return (HTTPResponse(status: .unauthorized), ResponseBody(Array(Samples.errorJSON(.authTokenExpired).utf8)))
        }
        let url = fixture.client.api.baseURL
        let api = APIClient(baseURL: url, transport: server, session: fixture.client.session, middleware: [])
        _ = try await api.send(.get, "/notes")
        #expect(tokens.withLock(\.self) == ["Bearer at1", "Bearer at2"])
    }

    @Test("A late response to a change of the password signs no user in")
    func lateChange() async throws {
        let fixture = try Fixture([], credentials: try Samples.credentials(1))
        let client = fixture.client.replacingSession(
            with: nil,
            after: .response(status: 200, body: Samples.sessionJSON(2))
        )
        try await client.changePassword(currentPassword: try Password("old"), newPassword: try Password("new"))
        #expect(try await client.session.credentials == nil)
        #expect(await fixture.store.load() == nil)
    }

    @Test("A late response to a deletion does not end the session of another sign-in")
    func lateDeletion() async throws {
        let fixture = try Fixture([], credentials: try Samples.credentials(1))
        let client = fixture.client.replacingSession(
            with: try Samples.credentials(2),
            after: .response(status: 202, body: #"{"success":true,"purge_at":"2025-11-11T10:30:00Z"}"#)
        )
        _ = try await client.deleteAccount(password: try Password("old"))
        #expect(try await client.session.credentials?.accessToken == "at2")
        #expect(await fixture.store.load()?.accessToken == "at2")
    }

    @Test("A deletion ends the session on the device without a request")
    func deleteAccount() async throws {
        let fixture = try Fixture(
            .response(status: 202, body: #"{"success":true,"purge_at":"2025-11-11T10:30:00Z"}"#),
            credentials: try Samples.credentials(1)
        )
        let response = try await fixture.client.deleteAccount(password: try Password("old"))
        #expect(response.purgeAt == Date(timeIntervalSince1970: 1_762_857_000))
        #expect(response.message == ContractText.accountDeleted.text(in: .spanish))
        #expect(await fixture.store.load() == nil && fixture.sent.count == 1)
        #expect(await failure { _ = try await fixture.client.me() }?.code == .authTokenMissing)
    }

    @Test(
        "A deletion by another backend ends the session on the device",
        arguments: [#"{"message":"Deleted"}"#, #"{"message":"Deleted","purge_at":"soon"}"#]
    )
    func deleteAccountElsewhere(body: String) async throws {
        let fixture = try Fixture(.response(status: 200, body: body), credentials: try Samples.credentials(1))
        let response = try await fixture.client.deleteAccount(password: try Password("old"))
        #expect(response.success && response.message == "Deleted" && response.purgeAt == nil)
        #expect(await fixture.store.load() == nil)
    }

    @Test("The list of sessions contains devices and times")
    func sessions() async throws {
        let body = """
            {"sessions":[{"id":"s1","created_at":"2025-11-04T10:30:00Z","last_used_at":"2025-11-04T10:30:01Z",
            "device_name":"iPhone","current":true}]}
            """
        let fixture = try Fixture(.response(status: 200, body: body), credentials: try Samples.credentials(1))
        let session = try #require(try await fixture.client.sessions().first)
        #expect(session.id.rawValue == "s1" && session.deviceName == "iPhone" && session.isCurrent)
        #expect(session.lastUsedAt == Samples.now.addingTimeInterval(1))
    }

    @Test("An export returns the bytes of the response")
    func export() async throws {
        let body = #"{"account":{"email":"ana@example.org"}}"#
        let fixture = try Fixture(.response(status: 200, body: body), credentials: try Samples.credentials(1))
        #expect(try await fixture.client.exportData(password: try Password("old")) == Data(body.utf8))
    }

    @Test("After a lost response, an activation signs in if the link has the address")
    func lostActivation() async throws {
        let lost = ScriptedTransport.Step.failure(TransportError(.connectionLost, message: "reset", wasSent: true))
        let refused = ScriptedTransport.Step.response(status: 400, body: Samples.errorJSON(.authResetTokenInvalid))
        for email in [nil, try EmailAddress("ana@example.org")] {
            let fixture = try Fixture(lost, refused, .response(status: 200, body: Samples.sessionJSON(1)))
            let submission = Submission()
            let activate = {
                try await fixture.client.activate(
                    token: try ResetToken("tok"),
                    password: try Password("new"),
                    email: email,
                    submission: submission
                )
            }
            _ = await failure { _ = try await activate() }
            let error = await failure { _ = try await activate() }
            #expect(error?.code == (email == nil ? .authResetTokenInvalid : nil))
            #expect(fixture.sent.last?.hasPrefix("POST /api/auth/login") == (email != nil))
        }
    }
}

extension AccountClient {
    /// Returns a client that receives one response, and before it other credentials for its session.
    fileprivate func replacingSession(with credentials: Credentials?, after response: ScriptedTransport.Step) -> AccountClient {
        let replacing = ClosureMiddleware { [session] request, body, next in
            let response = try await next(request, body)
            try await session.setCredentials(credentials)
            return response
        }
        var client = self
        client.api = APIClient(
            baseURL: api.baseURL,
            transport: ScriptedTransport([response]),
            middleware: [replacing],
            environment: api.environment
        )
        return client
    }
}
