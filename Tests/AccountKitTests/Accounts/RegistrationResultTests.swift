import AccountContract
import AccountKit
import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Testing

@Suite("Registration results")
struct RegistrationResultTests {
    private func register(_ fixture: Fixture, password: String? = "pass word") async throws -> RegistrationResult {
        try await fixture.client.register(
            email: try EmailAddress("ana@example.org"),
            password: try password.map { try Password($0) },
            firstName: try FirstName("Ana")
        )
    }

    @Test("A 201 signs in")
    func created() async throws {
        let fixture = try Fixture(.response(status: 201, body: Samples.sessionJSON(1)))
        guard case .signedIn(let user) = try await register(fixture) else {
            Issue.record("not signed in")
            return
        }
        #expect(user.firstName == "Ana")
        #expect(try await fixture.store.load() == Samples.credentials(1))
    }

    @Test(
        "A 202 requests the user to check the mailbox, and stores nothing",
        arguments: [#"{"message":"m"}"#, #"{"success":true}"#]
    )
    func accepted(body: String) async throws {
        let fixture = try Fixture(.response(status: 202, body: body))
        let text = body.contains("message") ? "m" : ContractText.nextStepSent.text(in: .spanish)
        #expect(try await register(fixture, password: nil) == .checkEmail(message: text))
        #expect(fixture.sent == [#"POST /api/auth/register {"email":"ana@example.org","first_name":"Ana","locale":"es"}"#])
        #expect(await fixture.store.load() == nil)
    }

    @Test("A 201 without tokens is an unreadable response")
    func unreadable() async throws {
        let fixture = try Fixture(.response(status: 201, body: #"{"message":"m"}"#))
        #expect(await failure { _ = try await register(fixture) }?.kind == .decoding)
    }

    @Test("The device name is sent if it is configured, and not otherwise")
    func deviceName() async throws {
        let name = try #require(HTTPField.Name("X-Device-Name"))
        for device in [nil, "Ana's phone"] {
            let transport = ScriptedTransport([.response(status: 200, body: Samples.sessionJSON(1))])
            let url = try #require(URL(string: "https://api.example.org"))
            let client = AccountClient(
                api: APIClient(baseURL: url, transport: transport, middleware: []),
                deviceName: device
            )
            _ = try await client.signIn(email: try EmailAddress("ana@example.org"), password: try Password("p"))
            #expect(transport.sent.first?.request.headerFields[name] == device)
        }
    }
}
