import AccountContract
import ErrorContract
import Foundation
import HoldfastTesting
import StrictJSON
import Testing

@testable import OpenAPI

@Suite struct WireAgreementTests {
    private let reader = SchemaReader(document: OpenAPIDocument(APIDescription(settings: .everything)).json)

    @Test("Encoded wire types have the members that the schemas describe")
    func responses() throws {
        let email = try EmailAddress("ana@example.com")
        let user = AccountUser(id: UserID(UUID()), email: email, firstName: "Ana", emailVerified: true)
        let token = try RefreshToken("token")
        let device = try DeviceToken(String(repeating: "A", count: 96))
        let responses: [any Encodable] = [
            SessionResponse(user: user, accessToken: "a.b.c", refreshToken: token, expiresIn: 900, deviceToken: device),
            PasswordChangedResponse(message: "Done", deviceToken: device), UserResponse(user: user),
            MessageResponse(message: "Done"), LegacyResetResponse(message: "Done"),
            ValidTokenResponse(userID: UserID(UUID()), email: email, firstName: "Ana", expiresAt: Date()),
            AccountDeletedResponse(message: "Done", purgeAt: Date()),
            SessionsResponse(sessions: []),
            SessionDescription(
                id: UserID(UUID()),
                createdAt: Date(),
                lastUsedAt: Date(),
                deviceName: "iPhone",
                isCurrent: true
            ),
        ]
        for response in responses { try expect(response) }
        let wrapped = SchemaReader(document: OpenAPIDocument(APIDescription(settings: .wrapped)).json)
        let sent = ResetLinkSentResponse(message: "Done", lifetime: .seconds(3_600))
        try expect(sent, by: wrapped)
    }

    @Test("Decoded wire types require the members that the schemas describe")
    func requests() throws {
        let (email, password) = (try EmailAddress("ana@example.com"), try Password("correct horse battery"))
        let token = try ResetToken("token")
        let requests: [any Encodable] = [
            RegisterRequest(email: email, password: password, firstName: try FirstName("Ana"), locale: .spanish),
            LoginRequest(email: email, password: password, deviceToken: try DeviceToken("token")),
            RefreshRequest(refreshToken: try RefreshToken("token")), PasswordResetRequest(email: email),
            ValidateResetTokenRequest(token: token, email: email),
            ConfirmPasswordResetRequest(token: token, email: email, newPassword: password),
            VerificationRequest(email: email), ConfirmLinkRequest(token: token, currentPassword: password),
            LinkRequest(token: token), ChangePasswordRequest(currentPassword: password, newPassword: password),
            ChangeEmailRequest(currentPassword: password, newEmail: email),
            UpdateUserRequest(firstName: try FirstName("Ana"), locale: .spanish), PasswordRequest(password: password),
        ]
        for request in requests { try expect(request) }
        let blind = SchemaReader(document: OpenAPIDocument(APIDescription(settings: .blind)).json)
        try expect(ActivateRequest(token: token, password: password), by: blind)
    }

    @Test("An open registration needs a password, and a blind one accepts and ignores it")
    func registration() throws {
        let body: JSONValue = ["email": "ana@example.com", "first_name": "Ana"]
        let reference: JSONValue = ["$ref": "#/components/schemas/RegisterRequest"]
        let blind = SchemaReader(document: OpenAPIDocument(APIDescription(settings: .blind)).json)
        #expect(reader.problems(body, reference) != [])
        #expect(blind.problems(body, reference) == [])
        let closed = APIDescription(settings: .closed).operation("POST", "/api/auth/register")
        #expect(closed?.ownCodes == [.authRegistrationClosed] && closed?.request == nil)
    }

    /// Expects that a value is encoded with exactly the members of the schema.
    private func expect(_ value: some Encodable, by other: SchemaReader? = nil) throws {
        let reader = other ?? reader
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        let json = try JSONParser().parse(encoder.encode(value))
        let reference = "#/components/schemas/\(type(of: value))"
        #expect(reader.problems(json, ["$ref": .string(reference)]) == [], "\(reference)")
        let written = Set(try #require(json.objectValue).members.map(\.key))
        let described = try #require(reader.target(reference)?["properties"]?.objectValue, "\(reference)")
        #expect(written == Set(described.members.map(\.key)), "\(reference)")
    }

    @Test("Every note about a member names a member of a wire type")
    func notes() {
        let schemas = Dictionary(
            [APISettings.everything, .wrapped, .blind].flatMap { APIDescription(settings: $0).operations }
                .flatMap(\.mentioned).map { ($0.name, $0.schema) },
            uniquingKeysWith: { $1 }
        )
        var known: Set<String> = [
            "ResetForm.confirm_password", "ResetForm.email", "ResetRequestForm.email", "NewPasswordForm.confirm_password",
            "ConfirmLinkForm.current_password",
        ]
        for (name, schema) in schemas {
            known.formUnion([name] + schema.fields.flatMap { ["\(name).\($0.name)", $0.name] })
            for field in schema.fields where !field.schema.fields.isEmpty {
                known.formUnion(["Facts"] + field.schema.fields.flatMap { ["Facts.\($0.name)", $0.name] })
            }
        }
        #expect(Set(MemberNote.all.keys).subtracting(known) == [])
    }

    @Test("For ASCII texts the address pattern accepts exactly what the server accepts")
    func emailPattern() throws {
        let pattern = try Regex(AccountValues.emailPattern)
        var random = SplitMix64(seed: 1)
        let pieces = ["a", "Z", "9", ".", "-", "_", "%", "+", "example", ".com", "--", "!", " ", "\"", "é", "@"]
        var accepted = 0
        for _ in 0..<50_000 {
            let text =
                [1...3, 1...4].map { count in
                    (0..<Int.random(in: count, using: &random)).compactMap { _ in pieces.randomElement(using: &random) }.joined()
                }.joined(separator: "@") + (["", ".c", ".com", ".Museum"].randomElement(using: &random) ?? "")
            // The server trims spaces around the address, and encodes other letters as punycode.
            guard text.utf8.allSatisfy({ $0 < 0x80 }), !text.hasPrefix(" "), !text.hasSuffix(" ") else { continue }
            let isAccepted = (try? EmailAddress(text)) != nil
            #expect((text.wholeMatch(of: pattern) != nil) == isAccepted, "\(text)")
            accepted += isAccepted ? 1 : 0
        }
        #expect(accepted > 1_000)
        for length in [62, 63, 64] {
            let label = String(repeating: "a", count: length)
            let text = "a@\(label).com"
            #expect((text.wholeMatch(of: pattern) != nil) == ((try? EmailAddress(text)) != nil))
            #expect(("\(label)a@b.co".wholeMatch(of: pattern) != nil) == ((try? EmailAddress("\(label)a@b.co")) != nil))
        }
    }

    @Test("The first-name pattern equals the server's rule, except for Unicode tables")
    func firstNamePattern() throws {
        let pattern = try Regex(AccountValues.firstNamePattern).matchingSemantics(.unicodeScalar)
        var random = SplitMix64(seed: 2)
        for _ in 0..<50_000 {
            let scalars = (0..<Int.random(in: 0...5, using: &random)).compactMap { _ in
                Unicode.Scalar(UInt32.random(in: 0...0x3000, using: &random) % (Bool.random(using: &random) ? 0x100 : 0x3000))
            }
            // Beyond ASCII only a Unicode table distinguishes letters and marks from other characters.
            guard
                scalars.allSatisfy({
                    $0.isASCII || [.lowercaseLetter, .uppercaseLetter, .otherLetter].contains($0.properties.generalCategory)
                })
            else { continue }
            let text = String(String.UnicodeScalarView(scalars))
            let isAccepted = (try? FirstName(text)) != nil
            // The server trims white space around a name, including line ends.
            guard text == text.trimmingCharacters(in: .whitespacesAndNewlines) else { continue }
            #expect((text.wholeMatch(of: pattern) != nil) == isAccepted, "\(scalars.map(\.value))")
        }
        for name in [
            "www.x.org", "WWW.x", "http://x", "a://", "w.w.w", "Ana María", "José", "\u{202E}x", "a\u{200D}b", "J.R.", "a.bc",
            "D’Arcy", "...", "-",
        ] {
            #expect((name.wholeMatch(of: pattern) != nil) == ((try? FirstName(name)) != nil), "\(name)")
        }
    }
}
