import AccountContract
import ErrorContract
import Foundation
import Hummingbird
import Testing

@testable import AccountRoutes

@Suite struct ResponseBytesTests {
    private static let names = [
        "Ana", "", "Zo\u{EB} \"Z\" O\u{2019}Neil\\/", "a/b", "\u{1F426}\u{301}", "tab\there\n", "\u{7F}\u{1F}\u{0}",
    ]

    private func check(_ answer: some MembersResponse, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let response: Response = try .json(answer)
        let collector = ByteCollector()
        try await response.body.write(collector)
        let expected = try Response.responseEncoder.encode(answer)
        #expect(
            String(decoding: collector.bytes, as: UTF8.self) == String(decoding: expected, as: UTF8.self),
            sourceLocation: sourceLocation
        )
    }

    @Test("Responses have the bytes that the encoder writes", arguments: names)
    func bytes(name: String) async throws {
        let email = try EmailAddress("ana+x@example.com")
        let user = AccountUser(id: UserID(UUID()), email: email, firstName: name)
        try await check(MessageResponse(message: name))
        try await check(MessageResponse(message: nil))
        try await check(ResetLinkSentResponse(message: name, lifetime: .seconds(3_600.5)))
        try await check(UserResponse(user: user))
        try await check(UserResponse(user: AccountUser(id: nil, email: nil, firstName: name)))
        let refresh = try RefreshToken("r.\(name.utf8.count)")
        let device = try DeviceToken(String(repeating: "d-", count: 48))
        try await check(SessionResponse(user: user, accessToken: "a.b.c", refreshToken: nil, expiresIn: nil))
        try await check(
            SessionResponse(user: user, accessToken: "a.b.c", refreshToken: refresh, expiresIn: 900, deviceToken: device)
        )
        let time = Date(timeIntervalSince1970: 1_795_256_730.75)
        try await check(ValidTokenResponse(userID: user.id, email: email, firstName: name, expiresAt: time))
        try await check(ValidTokenResponse(userID: nil, email: nil, firstName: name, expiresAt: nil))
    }
}

private final class ByteCollector: ResponseBodyWriter {
    private(set) var bytes: [UInt8] = []
    func write(_ buffer: ByteBuffer) { bytes += Array(buffer.readableBytesView) }
    func finish(_ trailingHeaders: HTTPFields?) {}
}
