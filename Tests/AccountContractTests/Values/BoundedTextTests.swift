import AccountContract
import ErrorContract
import Foundation
import Testing

@Suite struct BoundedTextTests {
    @Test(
        "Accepts a name of letters, marks, spaces and name punctuation, and trims it",
        arguments: [
            ("Ana", "Ana"), ("  Ana María \n", "Ana María"), ("José", "José"), ("אנה", "אנה"), ("O'Neil-Smith", "O'Neil-Smith"),
            ("D’Arcy", "D’Arcy"), ("J.R.", "J.R."), ("St. John", "St. John"), ("नरेन्द्र", "नरेन्द्र"),
            ("علی\u{200C}رضا", "علی\u{200C}رضا"),
        ]
    )
    func firstName(typed: String, kept: String) throws {
        #expect(try FirstName(typed).rawValue == kept)
    }

    @Test(
        "Refuses a first name with characters that could reorder the text of an email",
        arguments: [
            "a\nb", "a\r\nBcc: x", "a\u{0}b", "a\tb", "a\u{202E}b", "a\u{2066}b", "a\u{2028}b", "a\u{E000}b", "a\u{7F}b",
            "a\u{378}b",
        ]
    )
    func firstNameCharacters(typed: String) {
        #expect(throws: TextRefusal.forbiddenCharacter) { try FirstName(typed) }
        #expect(throws: TextRefusal.forbiddenCharacter) { try FirstName(stored: typed) }
    }

    @Test(
        "Refuses ads, phone numbers and URLs in new first names, but decodes stored ones",
        arguments: [
            "Call 555-1234", "+1 555 1234", "promo.example", "Ana2", "50% off!", "Ana <b>", "٣٤٥", "a@b", "👩‍🚀", "...", "-",
            "WIN:NOW", "€",
        ]
    )
    func advertising(typed: String) throws {
        #expect(throws: TextRefusal.forbiddenCharacter) { try FirstName(typed) }
        #expect(try FirstName(stored: typed).rawValue == typed)
    }

    @Test("Accepts 1 to 60 characters, 100 for a stored account, and a bounded byte count")
    func firstNameBounds() throws {
        #expect(throws: TextRefusal.empty) { try FirstName(" \n ") }
        #expect(try FirstName(String(repeating: "ñ", count: 60)).rawValue.count == 60)
        #expect(throws: TextRefusal.tooLong) { try FirstName(String(repeating: "a", count: 61)) }
        #expect(try FirstName(stored: String(repeating: "ñ", count: 100)).rawValue.count == 100)
        #expect(throws: TextRefusal.tooLong) { try FirstName(stored: String(repeating: "a", count: 101)) }
        #expect(throws: TextRefusal.tooLong) { try FirstName("a" + String(repeating: "\u{301}", count: 100_000)) }
    }

    private func bounds<Text: BoundedText>(_ type: Text.Type, _ maximum: Int) throws {
        #expect(type.maximumLength == maximum)
        #expect(throws: TextRefusal.empty) { try type.init("") }
        #expect(try type.init("x").rawValue == "x")
        #expect(try type.init(" x ").rawValue == " x ", "spaces belong to a secret")
        #expect(try type.init(String(repeating: "x", count: maximum)).rawValue.utf8.count == maximum)
        #expect(throws: TextRefusal.tooLong) { try type.init(String(repeating: "x", count: maximum + 1)) }
        #expect(throws: TextRefusal.tooLong) { try type.init(String(repeating: "ñ", count: maximum / 2 + 1)) }
    }

    @Test("Limits tokens and passwords in bytes and does not trim them")
    func secretBounds() throws {
        try bounds(ResetToken.self, 512)
        try bounds(RefreshToken.self, 512)
        try bounds(Password.self, 4_096)
    }

    private func hides(_ value: some Any) -> Bool {
        var dumped = ""
        dump(value, to: &dumped)
        dump([value], to: &dumped)
        let texts = [
            String(describing: value), String(reflecting: value), "\([value])", "\(Optional(value) as Any)", dumped,
            "\(Array(Mirror(reflecting: value).children))",
        ]
        return texts.allSatisfy { !$0.contains("hunter2") }
    }

    @Test("No description, reflection or dump shows a secret, also inside a request")
    func hidden() throws {
        let (password, token) = (try Password("hunter2"), try ResetToken("hunter2"))
        let email = try EmailAddress("hunter2@hunter2.org")
        #expect(hides(password) && hides(token) && hides(email))
        #expect(hides(try RefreshToken("hunter2")))
        let device = try DeviceToken("hunter2")
        #expect(hides(device))
        #expect(hides(PasswordChangedResponse(message: "Done", deviceToken: device)))
        #expect(hides(LoginRequest(email: email, password: password, deviceToken: device)))
        #expect(hides(ConfirmPasswordResetRequest(token: token, email: email, newPassword: password)))
        #expect(hides(RefreshRequest(refreshToken: try RefreshToken("hunter2"))))
        #expect(hides(ResetLink(token: token, email: email)))
        let user = AccountUser(id: UserID(UUID()), email: email, firstName: "Ana")
        #expect(
            hides(SessionResponse(user: user, accessToken: "hunter2", refreshToken: try RefreshToken("hunter2"), expiresIn: 900))
        )
        #expect("\(password)" == "Password(hidden)")
    }

    @Test("Encodes as one JSON string and refuses an invalid one with its reason")
    func codable() throws {
        #expect(try JSONDecoder().decode([FirstName].self, from: Data(#"[" Ana "]"#.utf8)).first?.rawValue == "Ana")
        #expect(throws: TextRefusal.empty) { try JSONDecoder().decode([Password].self, from: Data(#"[""]"#.utf8)) }
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([Password].self, from: Data("[1]".utf8)) }
        #expect(String(decoding: try JSONEncoder().encode([try Password("a\"b")]), as: UTF8.self) == #"["a\"b"]"#)
    }

    @Test(
        "A refusal contains the code of its violation",
        arguments: [
            (TextRefusal.empty, ErrorCode.validationMissingField), (.tooLong, .validationFieldTooLong),
            (.forbiddenCharacter, .validationInvalidFormat),
        ]
    )
    func codes(refusal: TextRefusal, code: ErrorCode) {
        #expect(refusal.code == code)
    }
}
