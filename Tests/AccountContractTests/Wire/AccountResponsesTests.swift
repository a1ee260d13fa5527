import AccountContract
import Foundation
import Testing

@Suite struct AccountResponsesTests {
    private let id = UUID(uuidString: "00000000-0000-4000-8000-00000000000a") ?? UUID()

    private func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private func decoded<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return try decoder.decode(type, from: Data(text.utf8))
    }

    private func user() throws -> AccountUser {
        AccountUser(id: UserID(id), email: try EmailAddress("a@b.co"), firstName: "Ana")
    }

    @Test("Encodes a session with exactly these keys")
    func session() throws {
        let response = SessionResponse(user: try user(), accessToken: "at", refreshToken: try RefreshToken("rt"), expiresIn: 900)
        let text =
            #"{"access_token":"at","expires_in":900,"refresh_token":"rt","token_type":"Bearer","#
            + #""user":{"email":"a@b.co","first_name":"Ana","id":"00000000-0000-4000-8000-00000000000a"}}"#
        #expect(try json(response) == text)
        #expect(try decoded(SessionResponse.self, text) == response)
    }

    @Test("Encodes a device token as a member, and decodes an unreadable one as absent")
    func deviceToken() throws {
        let device = try DeviceToken("dt")
        var response = SessionResponse(
            user: try user(),
            accessToken: "at",
            refreshToken: nil,
            expiresIn: nil,
            deviceToken: device
        )
        #expect(try json(response).contains(#""device_token":"dt""#))
        #expect(try decoded(SessionResponse.self, json(response)) == response)
        response.deviceToken = nil
        #expect(try decoded(SessionResponse.self, #"{"device_token":7,\#(json(response).dropFirst())"#) == response)
        let changed = PasswordChangedResponse(message: "Done", deviceToken: device)
        #expect(try json(changed) == #"{"device_token":"dt","message":"Done","success":true}"#)
        #expect(try decoded(PasswordChangedResponse.self, json(changed)) == changed)
        #expect(try decoded(PasswordChangedResponse.self, "{}") == PasswordChangedResponse(message: nil, deviceToken: nil))
    }

    @Test("Encodes the signed-in account with exactly these keys")
    func me() throws {
        let text = #"{"user":{"email":"a@b.co","first_name":"Ana","id":"00000000-0000-4000-8000-00000000000a"}}"#
        #expect(try json(UserResponse(user: try user())) == text)
        #expect(try decoded(UserResponse.self, text).user == user())
        #expect(try decoded(UserResponse.self, text.replacing("000a", with: "000A")).user == user(), "as servers wrote it before")
    }

    @Test("Describes a valid token with exactly these keys")
    func validToken() throws {
        let response = ValidTokenResponse(
            userID: UserID(id),
            email: try EmailAddress("a@b.co"),
            firstName: "Ana",
            expiresAt: Date(timeIntervalSince1970: 1_762_252_200)
        )
        let text =
            #"{"email":"a@b.co","expires_at":"2025-11-04T10:30:00Z","first_name":"Ana","#
            + #""user_id":"00000000-0000-4000-8000-00000000000a","valid":true}"#
        #expect(try json(response) == text)
        #expect(try decoded(ValidTokenResponse.self, text) == response)
    }

    @Test("Encodes a message flat, and decodes it flat or inside a wrapper")
    func message() throws {
        let response = MessageResponse(message: "Done")
        #expect(try json(response) == #"{"message":"Done","success":true}"#)
        #expect(try decoded(MessageResponse.self, #"{"success":true,"message":"Done"}"#) == response)
        #expect(try decoded(MessageResponse.self, #"{"message":"Done","reset_link_sent":true}"#) == response)
    }

    @Test("Wraps the response in the success form")
    func resetLinkSent() throws {
        let text =
            #"{"data":{"link_expires_in":3600,"message":"m","reset_link_sent":true,"reset_method":"email_link"},"success":true}"#
        let response = ResetLinkSentResponse(message: "m", lifetime: .seconds(3_600))
        #expect(try json(response) == text)
        #expect(try decoded(ResetLinkSentResponse.self, text) == response)
    }

    @Test("The response for released apps contains both the wrapped and the flat form")
    func legacy() throws {
        let text = #"{"data":{"message":"m","user_exist_status":true},"message":"m","success":true,"user_exist_status":true}"#
        #expect(try json(LegacyResetResponse(message: "m")) == text)
        #expect(try decoded(LegacyResetResponse.self, text) == LegacyResetResponse(message: "m"))
    }
}
