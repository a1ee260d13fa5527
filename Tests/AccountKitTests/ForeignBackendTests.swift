import AccountContract
import AccountKit
import ErrorContract
import Foundation
import HoldfastTesting
import ResilientHTTP
import Testing

/// Responses of account servers that released apps already use.
@Suite("Responses of the existing backend")
struct ForeignBackendTests {
    private static let ana = #""user_id":123,"email":"ana@example.org","first_name":"Ana""#

    @Test(
        "Reads the existing backend's integer or string user_id and missing expires_at",
        arguments: [
            (#"{"valid":true,\#(ana)}"#, "123"), (#"{"success":true,"data":{"valid":true,\#(ana)}}"#, "123"),
            (#"{"valid":true,"user_id":"u-77","email":"ana@example.org","first_name":"Ana"}"#, "u-77"),
            (
                #"{"valid":true,"user_id":"00000000-0000-4000-8000-00000000000A","email":"ana@example.org","first_name":"Ana"}"#,
                "00000000-0000-4000-8000-00000000000a"
            ),
            (#"{"valid":true,\#(ana),"expires_at":"2025-11-04 10:30:00"}"#, "123"),
            (#"{"valid":true,\#(ana),"expires_at":null}"#, "123"),
        ]
    )
    func validToken(body: String, id: String) async throws {
        let fixture = try Fixture(.response(status: 200, body: body))
        let response = try await fixture.client.validateReset(try Samples.link())
        #expect(response.valid && response.userID == UserID(rawValue: id) && response.userID?.description == id)
        #expect(try response.email == EmailAddress("ana@example.org"))
        #expect(response.firstName == "Ana" && response.expiresAt == nil)
    }

    @Test(
        "Every optional member of a validated token may be absent",
        arguments: [
            #"{"valid":true}"#, "{}", #"{"valid":true,"user_id":null,"email":null,"first_name":null}"#,
            #"{"valid":true,"user_id":true,"email":"no address","first_name":7,"expires_at":{}}"#,
        ]
    )
    func bareToken(body: String) async throws {
        let fixture = try Fixture(.response(status: 200, body: body))
        let response = try await fixture.client.validateReset(try Samples.link())
        #expect(response.valid && response.userID == nil && response.email == nil && response.firstName.isEmpty)
    }

    @Test("Refuses a token with valid: false as a used link")
    func invalidToken() async throws {
        let fixture = try Fixture(.response(status: 200, body: #"{"valid":false}"#))
        let error = await failure { _ = try await fixture.client.validateReset(try Samples.link()) }
        #expect(error?.kind == .badRequest && error?.context == "password_reset_validate")
    }

    @Test(
        "Every optional member of a session may be absent",
        arguments: [
            (#"{"access_token":"at"}"#, nil, nil, false), (#"{"access_token":"at",\#(ana)}"#, "123", nil, false),
            (#"{"access_token":"at","user":{"id":-5,"first_name":"Ana"}}"#, "-5", nil, false),
            (
                #"{"access_token":"at","refresh_token":"rt","expires_in":"900","user":{"id":18446744073709551615}}"#,
                "18446744073709551615", "rt", true
            ),
            (#"{"access_token":"at","refresh_token":null,"token_type":null,"expires_in":900.0,"user":null}"#, nil, nil, true),
            (#"{"success":true,"data":{"access_token":"at","refresh_token":"rt","user":{"user_id":"u-1"}}}"#, "u-1", "rt", false),
        ] as [(String, String?, String?, Bool)]
    )
    func session(body: String, id: String?, refreshToken: String?, expires: Bool) async throws {
        let fixture = try Fixture(.response(status: 200, body: body))
        let email = try EmailAddress("ana@example.org")
        let user = try await fixture.client.signIn(email: email, password: try Password("p"))
        #expect(user.id?.rawValue == id)
        #expect(user.email == email, "the typed address stands in for one that the server doesn't send")
        let end = expires ? Samples.now.addingTimeInterval(900) : nil
        #expect(await fixture.store.load() == Credentials(accessToken: "at", refreshToken: refreshToken, expiresAt: end))
    }

    @Test("Reads the signed-in account with or without its wrapper", arguments: [#"{"user":{\#(ana)}}"#, "{\(ana)}"])
    func me(body: String) async throws {
        let fixture = try Fixture(.response(status: 200, body: body), credentials: try Samples.credentials(1))
        let user = try await fixture.client.me()
        #expect(user.id == UserID(rawValue: "123") && user.firstName == "Ana")
    }

    @Test("A success without a text gets the library's text", arguments: [#"{"success":true}"#, "{}", #"{"detail":"ok"}"#])
    func noMessage(body: String) async throws {
        let fixture = try Fixture(.response(status: 200, body: body), .response(status: 200, body: body))
        let requested = try await fixture.client.requestPasswordReset(email: try EmailAddress("ana@example.org"))
        #expect(requested == ContractText.resetRequested.text(in: .spanish))
        let changed = try await fixture.client.confirmReset(try Samples.link(), newPassword: try Password("p"))
        #expect(changed == "Contraseña actualizada exitosamente")
    }

    @Test("The reset screen opens without a name, an address or an expiry")
    @MainActor
    func bareScreen() async throws {
        let script = try ScreenScript([.response(status: 200, body: #"{"valid":true,"user_id":5}"#), .accepted])
        let model = try await script.openedReset(.spanish)
        #expect(model.greeting == "Ingresa tu nueva contraseña")
        await model.submit()
        #expect(model.state == .succeeded(email: nil))
        #expect(model.makeSignInModel().email.isEmpty)
    }
}
