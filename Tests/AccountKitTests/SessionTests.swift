import AccountContract
import AccountKit
import ErrorContract
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Testing

@Suite struct SessionTests {
    @Test("A registration sends the account in the app's language and stores the session")
    func register() async throws {
        let fixture = try Fixture(.response(status: 201, body: Samples.sessionJSON(1)))
        let user = try await fixture.client.register(
            email: try EmailAddress("ana@example.org"),
            password: try Password("pass word"),
            firstName: try FirstName("Ana")
        )
        #expect(user.user?.firstName == "Ana")
        #expect(
            fixture.sent == [
                #"POST /api/auth/register {"email":"ana@example.org","first_name":"Ana","locale":"es","password":"pass word"}"#
            ]
        )
        #expect(try await fixture.store.load() == Samples.credentials(1))
        #expect(fixture.transport.sent.first?.request.headerFields[.acceptLanguage] == "es")
    }

    @Test("A sign-in stores the session from a flat or a wrapped response", arguments: [false, true])
    func signIn(isWrapped: Bool) async throws {
        let body = isWrapped ? #"{"success":true,"data":\#(Samples.sessionJSON(1))}"# : Samples.sessionJSON(1)
        let fixture = try Fixture(.response(status: 200, body: body))
        let user = try await fixture.client.signIn(email: try EmailAddress("ana@example.org"), password: try Password("p"))
        #expect(try user.email == EmailAddress("ana@example.org"))
        #expect(fixture.sent == [#"POST /api/auth/login {"email":"ana@example.org","password":"p"}"#])
        #expect(fixture.transport.sent.first?.request.headerFields[.authorization] == nil)
        #expect(try await fixture.store.load() == Samples.credentials(1))
    }

    @Test("A refused sign-in keeps the old session and reports the code and the operation")
    func signInRefused() async throws {
        let step = ScriptedTransport.Step.response(status: 401, body: Samples.errorJSON(.authInvalidCredentials))
        let fixture = try Fixture(step, credentials: try Samples.credentials(7))
        let error = await failure {
            _ = try await fixture.client.signIn(email: try EmailAddress("a@b.co"), password: try Password("p"))
        }
        #expect(error?.code == .authInvalidCredentials && error?.kind == .unauthorized && error?.context == "user_login")
        #expect(error?.requestID == "r1" && error?.recovery == .fixFields && error?.isRetryable == false)
        #expect(try await fixture.store.load() == Samples.credentials(7))
    }

    @Test("A refresh spends the refresh token and stores the new pair")
    func refresh() async throws {
        let fixture = try Fixture(.response(status: 200, body: Samples.sessionJSON(2)), credentials: try Samples.credentials(1))
        _ = try await fixture.client.refresh()
        #expect(fixture.sent == [#"POST /api/auth/refresh {"refresh_token":"rt1"}"#])
        #expect(try await fixture.store.load() == Samples.credentials(2))
    }

    @Test("A refresh lost in the network signs no user out")
    func refreshLost() async throws {
        let step = ScriptedTransport.Step.failure(TransportError(.connectionLost, message: "x", wasSent: true))
        let fixture = try Fixture(step, credentials: try Samples.credentials(1))
        var client = fixture.client
        client.api.timeout = .zero
        let error = await failure { [client] in _ = try await client.refresh() }
        #expect(error?.kind == .network && error?.context == "session_refresh")
        #expect(try await fixture.store.load() == Samples.credentials(1))
    }

    @Test("A sign-out removes the session locally and ends it on the server")
    func signOut() async throws {
        let fixture = try Fixture(.response(status: 204), credentials: try Samples.credentials(1))
        try await fixture.client.signOut()
        #expect(fixture.sent == [#"POST /api/auth/logout {"refresh_token":"rt1"}"#])
        #expect(await fixture.store.load() == nil)
    }

    @Test(
        "A sign-out removes the session even if the server fails or is unreachable",
        arguments: [
            ScriptedTransport.Step.response(status: 500, body: Samples.errorJSON(.serverInternalError)),
            .failure(TransportError(.noInternet, message: "x", wasSent: false)),
        ]
    )
    func signOutFailing(step: ScriptedTransport.Step) async throws {
        let fixture = try Fixture(step, credentials: try Samples.credentials(1))
        let error = await failure { try await fixture.client.signOut() }
        #expect(error?.context == "user_logout")
        #expect(await fixture.store.load() == nil)
    }

    @Test("The request for the signed-in account sends the access token")
    func me() async throws {
        let fixture = try Fixture(.response(status: 200, body: "{\(Samples.userJSON)}"), credentials: try Samples.credentials(3))
        let user = try await fixture.client.me()
        #expect(user.firstName == "Ana")
        #expect(fixture.sent == ["GET /api/auth/me"])
        #expect(fixture.transport.sent.first?.request.headerFields[.authorization] == "Bearer at3")
    }

    @Test("Without a session, refuses calls that need one without sending them")
    func signedOut() async throws {
        let fixture = try Fixture()
        let calls: [(context: String, call: () async throws -> Void)] = [
            ("user_me", { _ = try await fixture.client.me() }), ("session_refresh", { _ = try await fixture.client.refresh() }),
            ("user_logout", { try await fixture.client.signOut() }),
        ]
        for (context, call) in calls {
            let error = await failure(call)
            #expect(error?.code == .authTokenMissing && error?.kind == .unauthorized && error?.recovery == .signIn)
            #expect(error?.context == context && error?.attempts == 0 && error?.isRetryable == false)
        }
        #expect(fixture.sent.isEmpty)
    }

    @Test(
        "A success without a session is a decoding error and stores nothing",
        arguments: ["{}", "", "<html>", #"{"user":{}}"#]
    )
    func notASession(body: String) async throws {
        let fixture = try Fixture(.response(status: 200, body: body))
        let error = await failure {
            _ = try await fixture.client.signIn(email: try EmailAddress("a@b.co"), password: try Password("p"))
        }
        #expect(error?.kind == (body == "<html>" ? .notAPI : .decoding))
        #expect(await fixture.store.load() == nil)
    }
}
