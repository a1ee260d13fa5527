import AccountContract
import AccountKit
import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Testing

/// Refused sign-ins of servers that do not use the contract.
@Suite("Refused sign-ins of other servers")
struct ForeignSignInTests {
    private static let refusals = [
        (401, #"{"detail":"No active account found with the given credentials"}"#),
        (401, #"{"detail":"Incorrect username or password"}"#), (401, #"{"error":"Invalid Email or password."}"#), (401, ""),
        (400, #"{"code":400,"error_code":"invalid_credentials","msg":"Invalid login credentials"}"#),
        (400, #"{"error":{"code":400,"message":"INVALID_LOGIN_CREDENTIALS","errors":[{"reason":"invalid"}]}}"#),
        (400, #"{"error":"invalid_grant","error_description":"Invalid user credentials"}"#),
    ]

    @Test("The screen shows wrong credentials as such, never as an expired session", arguments: refusals)
    @MainActor
    func screen(status: Int, body: String) async throws {
        for (language, text) in [
            (Language.spanish, "Correo o contraseña incorrectos"), (.english, "Invalid email or password"),
        ] {
            let model = try ScreenScript([.response(status: status, body: body)]).signIn(language)
            await model.submit()
            #expect(model.alert?.title == "Error" && model.alert?.message == text && model.alert?.primary == .fixFields)
        }
    }

    @Test("The error has the code for wrong credentials and the server's text", arguments: refusals)
    func client(status: Int, body: String) async throws {
        let fixture = try Fixture(.response(status: status, body: body))
        let email = try EmailAddress("ana@example.org")
        let error = await failure { _ = try await fixture.client.signIn(email: email, password: try Password("p")) }
        #expect(error?.code == .authInvalidCredentials && error?.recovery == .fixFields && error?.context == "user_login")
        #expect(error?.status == status)
    }

    @Test("The sign-in's error contains field problems as data, with a text for each field")
    func fields() async throws {
        let body = #"{"email":["Enter a valid email address."],"password":["This field may not be blank."]}"#
        let fixture = try Fixture(.response(status: 400, body: body))
        let email = try EmailAddress("ana@example.org")
        let error = try #require(
            await failure { _ = try await fixture.client.signIn(email: email, password: try Password("p")) }
        )
        let shown = error.presentation(in: .spanish, now: Samples.now)
        #expect(shown.text(ofField: "email") == "Por favor, ingresa un correo electrónico válido")
        #expect(shown.text(ofField: "password") == "Este campo es obligatorio.")
    }

    @Test("A limited reset request has its text outside of the screen, too")
    func limitedReset() async throws {
        let fixture = try Fixture(.limited(retryAfter: 3_600))
        let email = try EmailAddress("ana@example.org")
        let error = await failure { _ = try await fixture.client.requestPasswordReset(email: email) }
        #expect(
            error?.localizedDescription
                == "Has intentado restablecer tu contraseña demasiadas veces. Por favor, intenta de nuevo en 1 hora."
        )
    }
}
