import AccountContract
import AccountCore
import Crypto
import ErrorContract
import Foundation
import HTTPTypes
import Hummingbird
import Idempotency

@testable import ServerMiddleware

/// Parses the header fields that determine the client's address, the idempotency key, the signed-in user and the error format. Each line
/// is a field.
struct FieldTarget: FuzzTarget {
    private static let now = Date(timeIntervalSince1970: 1_762_252_200)
    private let proxies: [IPRange]
    private let proxy: IPAddress
    private let other: IPAddress
    private let tokens: AccessTokens
    private let token: String

    init(folder: URL) throws {
        proxies = [try IPRange("10.0.0.0/8"), try IPRange("2001:db8::/32")]
        guard let proxy = IPAddress("10.0.0.1"), let other = IPAddress("203.0.113.9") else {
            throw Finding(description: "no addresses")
        }
        (self.proxy, self.other) = (proxy, other)
        let account = Account(
            id: .init(rawValue: UUID()),
            email: try .init("ana@example.com"),
            firstName: try .init("Ana"),
            passwordHash: "",
            state: .active,
            language: .english,
            createdAt: Self.now
        )
        (tokens, token) = try waiting {
            let keys = SigningKeys(
                store: InMemoryAccountStores().signingKeys,
                secrets: SigningKeySecrets(ServerKeys(secret: SymmetricKey(size: .bits256))),
                now: { Self.now }
            )
            let tokens = AccessTokens(keys: keys, audience: "Notes") { "https://accounts.example.com" }
            let session = StoredSession.ID(rawValue: UUID())
            return (tokens, try await tokens.issue(for: account, session: session, at: Self.now, lifetime: .seconds(900)))
        }
    }

    func check(_ input: [UInt8]) throws {
        var headers = HTTPFields()
        for line in input.split(separator: UInt8(ascii: "\n")) {
            if let field = HTTPField(line: line) { headers.append(field) }
        }
        try checkClient(headers)
        try checkAddresses(input)
        try checkToken(input)
        try checkKey(headers)
        if let trace = headers[.traceparent].flatMap({ TraceContext(traceparent: $0) }) {
            try require(TraceContext(traceparent: trace.traceparent) == trace, "a trace that was written is read as another")
        }
        let quality = MediaPreference(accept: headers[.accept]).quality(of: "application/json")
        try require((0...1).contains(quality), "a quality of \(quality)")
        let request = Request(
            head: HTTPRequest(method: .post, scheme: "https", authority: "example.com", path: "/", headerFields: headers),
            body: RequestBody(buffer: ByteBuffer())
        )
        if let cookie = request.cookies["__Host-device"] {
            let fields = headers[values: .cookie].joined(separator: "; ")
            try require(fields.contains(cookie.value), "a cookie that no field has")
        }
        let localization = Localization()
        let language = localization.language(of: request)
        try require(localization.supported.contains(language), "a language without texts")
        let isAdmitted = OriginGuard { $0 == "https://example.com" }.admits(request)
        let site = headers[.secFetchSite]
        try require(!isAdmitted || site == nil || site == "same-origin" || site == "none", "another site may send forms")
        _ = ErrorForms(.standard).form(for: request)
    }

    private func checkClient(_ headers: HTTPFields) throws {
        let direct = ClientIdentity(trustedProxies: proxies)
        try require(direct.client(peer: other, headers: headers) == ClientAddress(other), "a client names itself")
        _ = direct.client(peer: proxy, headers: headers)
        // The address that a trusted proxy adds counts, regardless of earlier values from the client.
        var forwarded = headers
        forwarded[.xForwardedFor] = nil
        forwarded.append(HTTPField(name: .forwarded, value: "for=203.0.113.9"))
        try require(direct.client(peer: proxy, headers: forwarded) == ClientAddress(other), "Forwarded hides the proxy's word")
        var listed = headers
        listed[.forwarded] = nil
        let lines = listed[values: .xForwardedFor].joined(separator: ",")
        listed[.xForwardedFor] = lines + ", 203.0.113.9"
        try require(direct.client(peer: proxy, headers: listed) == ClientAddress(other), "X-Forwarded-For hides the proxy's word")
    }

    private func checkAddresses(_ input: [UInt8]) throws {
        for line in input.split(separator: UInt8(ascii: "\n")) {
            let text = String(decoding: line, as: UTF8.self)
            if let address = IPAddress(text) {
                try require(IPAddress("\(address)") == address, "an address that was written is read as another")
            }
            if let range = try? IPRange(text) {
                try require(try IPRange("\(range)") == range && range.contains(range.base), "a range is read as another")
            }
        }
    }

    private func checkKey(_ headers: HTTPFields) throws {
        guard let key = try? IdempotencyKey(headers) else { return }
        let quoted = "\"" + key.text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
        try require(try IdempotencyKey(quoted) == key, "a key that was written is read as another")
        try require((1...IdempotencyKey.maximumLength).contains(key.text.utf8.count), "a key of \(key.text.utf8.count) bytes")
    }

    /// Requires that a token with any changed byte is invalid. Each pair of input bytes is a position and a change.
    private func checkToken(_ input: [UInt8]) throws {
        var bytes = Array(token.utf8)
        for pair in stride(from: 0, to: min(input.count - 1, 8), by: 2) {
            let place = Int(input[pair]) * bytes.count / 256
            switch input[pair + 1] {
            case 0: bytes.insert(UInt8(ascii: "="), at: place)
            case 1: bytes.remove(at: place)
            case let byte: bytes[place] = byte
            }
        }
        bytes = Array(String(decoding: bytes, as: UTF8.self).utf8)
        guard bytes != Array(token.utf8) else { return }
        let changed = String(decoding: bytes, as: UTF8.self)
        let claims = try waiting { [tokens] in try? await tokens.read(changed, at: Self.now) }
        try require(claims == nil, "a changed access token is accepted")
    }
}
