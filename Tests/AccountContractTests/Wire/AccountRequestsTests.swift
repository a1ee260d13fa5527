import AccountContract
import ErrorContract
import Foundation
import Testing

@Suite struct AccountRequestsTests {
    private func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private func decoded<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }

    @Test("Encodes a registration with exactly these keys")
    func register() throws {
        var request = RegisterRequest(
            email: try EmailAddress("Ana@example.org"),
            password: try Password("pass word"),
            firstName: try FirstName("Ana"),
            locale: Language("es-MX")
        )
        let text = #"{"email":"Ana@example.org","first_name":"Ana","locale":"es-mx","password":"pass word"}"#
        #expect(try json(request) == text)
        #expect(try decoded(RegisterRequest.self, text) == request)
        request.locale = nil
        #expect(try json(request) == #"{"email":"Ana@example.org","first_name":"Ana","password":"pass word"}"#)
    }

    @Test("Encodes a sign-in with exactly these keys")
    func login() throws {
        let request = LoginRequest(email: try EmailAddress("a@b.co"), password: try Password("p"))
        #expect(try json(request) == #"{"email":"a@b.co","password":"p"}"#)
        #expect(try decoded(LoginRequest.self, #"{"email":"A@B.co","password":"p"}"#) == request)
    }

    @Test("A sign-in contains a device token; an invalid one counts as absent")
    func deviceToken() throws {
        let (email, password) = (try EmailAddress("a@b.co"), try Password("p"))
        let request = LoginRequest(email: email, password: password, deviceToken: try DeviceToken("d"))
        #expect(try json(request) == #"{"device_token":"d","email":"a@b.co","password":"p"}"#)
        #expect(try decoded(LoginRequest.self, json(request)) == request)
        for none in ["null", #""""#, "\"\(String(repeating: "d", count: 513))\""] {
            let body = #"{"email":"a@b.co","password":"p","device_token":\#(none)}"#
            #expect(try decoded(LoginRequest.self, body) == LoginRequest(email: email, password: password))
        }
        #expect(throws: DecodingError.self) {
            try decoded(LoginRequest.self, #"{"email":"a@b.co","password":"p","device_token":7}"#)
        }
    }

    @Test("Encodes a refresh with exactly these keys")
    func refresh() throws {
        #expect(try json(RefreshRequest(refreshToken: try RefreshToken("r"))) == #"{"refresh_token":"r"}"#)
    }

    @Test("Encodes the three steps of a reset with exactly these keys")
    func reset() throws {
        let (token, email) = (try ResetToken("t"), try EmailAddress("a@b.co"))
        #expect(try json(PasswordResetRequest(email: email)) == #"{"email":"a@b.co"}"#)
        #expect(try json(ValidateResetTokenRequest(token: token)) == #"{"token":"t"}"#)
        #expect(try json(ValidateResetTokenRequest(token: token, email: email)) == #"{"email":"a@b.co","token":"t"}"#)
        let confirm = ConfirmPasswordResetRequest(token: token, email: email, newPassword: try Password("p"))
        #expect(try json(confirm) == #"{"email":"a@b.co","new_password":"p","token":"t"}"#)
        #expect(try decoded(ConfirmPasswordResetRequest.self, #"{"email":null,"new_password":"p","token":"t"}"#).email == nil)
    }

    @Test("A request refuses a value for the same reason as the value's own type")
    func refused() {
        #expect(throws: EmailRefusal.notOneAtSign) { try decoded(LoginRequest.self, #"{"email":"x","password":"p"}"#) }
        #expect(throws: TextRefusal.empty) { try decoded(LoginRequest.self, #"{"email":"a@b.co","password":""}"#) }
        #expect(throws: DecodingError.self) { try decoded(LoginRequest.self, #"{"email":["a@b.co"],"password":"p"}"#) }
        #expect(throws: DecodingError.self) { try decoded(LoginRequest.self, #"{"email":"a@b.co"}"#) }
    }

    @Test("The paths are those of the API")
    func paths() {
        #expect(AccountPath.register == "/api/auth/register" && AccountPath.login == "/api/auth/login")
        #expect(AccountPath.refresh == "/api/auth/refresh" && AccountPath.logout == "/api/auth/logout")
        #expect(AccountPath.me == "/api/auth/me" && AccountPath.legacyPasswordReset == "/reset_password/")
        #expect(AccountPath.requestPasswordReset == "/api/request-password-reset/")
        #expect(AccountPath.validateResetToken == "/api/validate-reset-token/")
        #expect(AccountPath.confirmPasswordReset == "/api/confirm-password-reset/")
    }
}
