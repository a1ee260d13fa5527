import AccountContract
import AccountKit
import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import StrictJSON
import Testing

@Suite struct PasswordResetTests {
    @Test(
        "A request for a link returns the server's text, flat or wrapped",
        arguments: [
            #"{"success":true,"message":"Si existe…"}"#,
            #"{"success":true,"data":{"message":"Si existe…","reset_method":"email_link","reset_link_sent":true,"link_expires_in":3600}}"#,
        ]
    )
    func request(body: String) async throws {
        let fixture = try Fixture(.response(status: 200, body: body))
        #expect(try await fixture.client.requestPasswordReset(email: try EmailAddress("ana@example.org")) == "Si existe…")
        #expect(fixture.sent == [#"POST /api/request-password-reset/ {"email":"ana@example.org"}"#])
    }

    @Test("A limited request reports its delay")
    func limited() async throws {
        let body = #"{"success":false,"error_code":429,"errors":[{"field":"rate_limit","message":"Demasiados intentos."}]}"#
        let headers: HTTPFields = [.errorCode: "RATE_LIMIT_EXCEEDED", .retryAfter: "3600"]
        let fixture = try Fixture(.response(status: 429, headers: headers, body: body))
        let error = await failure { _ = try await fixture.client.requestPasswordReset(email: try EmailAddress("a@b.co")) }
        #expect(error?.code == .rateLimitExceeded && error?.kind == .rateLimited && error?.retryAfter == .seconds(3600))
        #expect(error?.message == "Demasiados intentos." && error?.context == "password_reset_request")
    }

    @Test("Validating a link sends its token, and its address if the link contains one", arguments: [nil, "ana@example.org"])
    func validate(email: String?) async throws {
        let body =
            #"{"valid":true,"user_id":"00000000-0000-4000-8000-000000000001","email":"ana@example.org","#
            + #""first_name":"Ana","expires_at":"2025-11-04T10:30:00Z"}"#
        let fixture = try Fixture(.response(status: 200, body: body))
        let response = try await fixture.client.validateReset(try Samples.link(email: email))
        #expect(response.valid && response.firstName == "Ana")
        #expect(response.expiresAt == Date(timeIntervalSince1970: 1_762_252_200))
        let json = email == nil ? #"{"token":"tok"}"# : #"{"email":"ana@example.org","token":"tok"}"#
        #expect(fixture.sent == ["POST /api/validate-reset-token/ \(json)"])
    }

    @Test(
        "Recognizes the expired-link response of any server",
        arguments: [
            (400, Samples.errorJSON(.authResetTokenInvalid), ErrorCode.authResetTokenInvalid),
            (200, #"{"valid":false,"error":"Token inválido o expirado"}"#, .badRequest),
            (400, #"{"success":false,"error":"Token inválido o expirado"}"#, .badRequest),
        ]
    )
    func dead(status: Int, body: String, code: ErrorCode) async throws {
        let fixture = try Fixture(.response(status: status, body: body))
        let error = await failure { _ = try await fixture.client.validateReset(try Samples.link()) }
        #expect(error?.code == code && error?.kind == .badRequest && error?.context == "password_reset_validate")
        #expect(error?.message?.isEmpty == false)
    }

    @Test("A confirm sends token, address and password, and returns the server's text")
    func confirm() async throws {
        let fixture = try Fixture(
            .response(status: 200, body: #"{"success":true,"message":"Contraseña actualizada exitosamente"}"#)
        )
        let text = try await fixture.client.confirmReset(try Samples.link(), newPassword: try Password("n3w pass"))
        #expect(text == "Contraseña actualizada exitosamente")
        #expect(
            fixture.sent == [
                #"POST /api/confirm-password-reset/ {"email":"ana@example.org","new_password":"n3w pass","token":"tok"}"#
            ]
        )
        #expect(await fixture.store.load() == nil, "nobody is signed in by a reset")
    }

    @Test("Refuses a weak password with its reasons")
    func weak() async throws {
        let body = #"{"error":{"code":"AUTH_WEAK_PASSWORD","message":"m","details":{"reasons":["too_short"]}}}"#
        let fixture = try Fixture(.response(status: 400, body: body))
        let error = await failure {
            _ = try await fixture.client.confirmReset(try Samples.link(), newPassword: try Password("x"))
        }
        #expect(error?.code == .authWeakPassword && error?.details["reasons"] == ["too_short"])
        #expect(error?.context == "password_reset_confirm" && error?.recovery == .fixFields)
    }
}
