import Foundation
import HTTPTypes
import Idempotency
import RateLimiting
import Testing

@Suite struct IdempotencyKeyTests {
    @Test(
        "Parses a quoted string and bare text to the same key",
        arguments: [
            (#""8e03978e-40d5-43dd-bc93-6894a57f9324""#, "8e03978e-40d5-43dd-bc93-6894a57f9324"),
            ("8e03978e-40d5-43dd-bc93-6894a57f9324", "8e03978e-40d5-43dd-bc93-6894a57f9324"),
            (#""a \"b\" \\ c""#, #"a "b" \ c"#), ("~!#$%&'()*+-./:<=>?@[]^_`{|}", "~!#$%&'()*+-./:<=>?@[]^_`{|}"),
            (#"" ""#, " "), ("a", "a"),
        ]
    )
    func forms(value: String, text: String) throws {
        #expect(try IdempotencyKey(value).text == text)
    }

    @Test(
        "Refuses empty and malformed values",
        arguments: [
            (#"""#, .malformed), (#""a"#, .malformed), (#""a"b"#, .malformed), (#""a\""#, .malformed), (#""a\x""#, .malformed),
            (#""a";p=1"#, .malformed), (#""a", "b""#, .malformed), ("a,b", .malformed), ("a;b", .malformed), ("a b", .malformed),
            (#"a"b"#, .malformed), (#"a\b"#, .malformed), ("ключ", .malformed), (#""ключ""#, .malformed), ("a\u{7F}", .malformed),
            ("\u{0}", .malformed), ("\"a\r\nb\"", .malformed), ("", .empty), (#""""#, .empty),
        ] as [(String, IdempotencyKey.Refusal)]
    )
    func refused(value: String, refusal: IdempotencyKey.Refusal) {
        #expect(throws: refusal) { _ = try IdempotencyKey(value) }
    }

    @Test("Accepts at most 255 bytes without quotes and escapes")
    func length() throws {
        let longest = String(repeating: "k", count: 255)
        #expect(try IdempotencyKey(longest).text == longest)
        #expect(try IdempotencyKey("\"\(longest)\"").text == longest)
        #expect(try IdempotencyKey("\"" + String(repeating: #"\""#, count: 255) + "\"").text.utf8.count == 255)
        for value in [longest + "k", "\"\(longest)k\"", String(repeating: "k", count: 1_000_000)] {
            #expect(throws: IdempotencyKey.Refusal.tooLong) { _ = try IdempotencyKey(value) }
        }
    }

    @Test("Refuses two fields, and returns nil without a field")
    func fields() throws {
        let name = try #require(HTTPField.Name("Idempotency-Key"))
        var headers: HTTPFields = [:]
        #expect(try IdempotencyKey(headers) == nil)
        headers.append(HTTPField(name: name, value: "a"))
        #expect(try IdempotencyKey(headers)?.text == "a")
        headers.append(HTTPField(name: name, value: "a"))
        #expect(throws: IdempotencyKey.Refusal.malformed) { _ = try IdempotencyKey(headers) }
    }

    @Test("Distinguishes clients, methods, routes and keys with equal concatenations")
    func partsAreKeptApart() throws {
        let secret = IdempotencySecret()
        func key(_ key: String, _ client: String, _ method: String, _ route: String) throws -> RequestDigest {
            let key = try IdempotencyKey(key)
            return secret.claim(key, owner: .account(client), method: method, route: route, path: "/", body: []).key
        }
        let keys = [
            try key("a", "c", "POST", "/x"), try key("a", "c", "POST", "/y"), try key("a", "c", "PUT", "/x"),
            try key("a", "d", "POST", "/x"), try key("b", "c", "POST", "/x"), try key("xa", "c", "POST", "/"),
            try key("a", "c", "POS", "T/x"),
        ]
        #expect(Set(keys).count == keys.count)
        let claims = try ["/a", "/ab"].flatMap { path in
            try ["b", ""].map { body in
                let key = try IdempotencyKey("k")
                return secret.claim(key, owner: .account("c"), method: "POST", route: "/", path: path, body: Array(body.utf8))
                    .fingerprint
            }
        }
        #expect(Set(claims).count == 4)
    }

    @Test("Distinguishes an account and a secret with equal values")
    func owners() throws {
        let secret = IdempotencySecret()
        let owners: [IdempotencyOwner] = [.account("x"), .secret("x"), .account("y"), .secret("y")]
        let keys = try owners.map { owner in
            let key = try IdempotencyKey("k")
            return secret.claim(key, owner: owner, method: "POST", route: "/", path: "/", body: []).key
        }
        #expect(Set(keys).count == owners.count)
    }

    @Test("Computes other digests with another secret, and describes none")
    func secrets() throws {
        let (one, other) = (IdempotencySecret(), IdempotencySecret())
        func claim(_ secret: IdempotencySecret) throws -> IdempotencyClaim {
            secret.claim(try IdempotencyKey("k"), owner: .account("c"), method: "POST", route: "/", path: "/", body: [])
        }
        #expect(try claim(one).key == claim(one).key && claim(one).fingerprint == claim(one).fingerprint)
        #expect(try claim(one).key != claim(other).key && claim(one).fingerprint != claim(other).fingerprint)
        #expect(try claim(one).client != claim(other).client)
        #expect("\(one)" == "IdempotencySecret" && String(reflecting: one) == "IdempotencySecret")
    }

    @Test("Decrypts a stored body only with the key, client and secret of its request")
    func sealed() throws {
        let secret = IdempotencySecret()
        func claim(_ key: String, client: String = "c", by secret: IdempotencySecret) throws -> IdempotencyClaim {
            secret.claim(try IdempotencyKey(key), owner: .account(client), method: "POST", route: "/", path: "/", body: [])
        }
        let text = "a token that no database shows"
        let response = try #require(IdempotentResponse(status: 200, headers: [:], body: Array(text.utf8)))
        let sealed = try response.sealed(for: claim("k", by: secret))
        #expect(Data(sealed.body).range(of: Data("token".utf8)) == nil)
        #expect(try sealed.opened(for: claim("k", by: secret)) == response)
        #expect(try response.sealed(for: claim("k", by: secret)) != sealed)
        for other in try [claim("l", by: secret), claim("k", client: "d", by: secret), claim("k", by: IdempotencySecret())] {
            #expect(throws: (any Error).self) { try sealed.opened(for: other) }
        }
        #expect(throws: (any Error).self) { try response.opened(for: claim("k", by: secret)) }
    }

    @Test("Stores only header fields of a response that identify no user")
    func safeHeaders() throws {
        var headers: HTTPFields = [.contentType: "text/plain", .location: "/x", .setCookie: "s=1", .authorization: "Bearer t"]
        headers[.wwwAuthenticate] = "Bearer"
        let response = try #require(IdempotentResponse(status: 201, headers: headers, body: []))
        #expect(response.headers == [.contentType: "text/plain", .location: "/x"])
        #expect(IdempotentResponse(status: 200, headers: [:], body: Array(repeating: 0, count: 65_537)) == nil)
        #expect(IdempotentResponse(status: 200, headers: [:], body: Array(repeating: 0, count: 65_536)) != nil)
    }

    @Test("Requires bounds of at least the minimum")
    func bounds() async {
        await #expect(processExitsWith: .failure) { _ = IdempotencyBounds(bytes: IdempotencyBounds.minimum - 1) }
    }

    /// The bytes that the addresses of a network use after each address in turn has stored as many keys as it may.
    private func usage(ofAddresses count: Int, in bounds: IdempotencyBounds) -> Int {
        (0..<count).reduce(0) { used, _ in used + room(besides: used, in: bounds) }
    }

    /// The bytes that an address without keys may use in a network whose other addresses use a number of bytes. No other network has keys.
    private func room(besides others: Int, in bounds: IdempotencyBounds) -> Int {
        var owner = 0
        while bounds.admits(IdempotencyUsage(owner: owner, network: others + owner, pool: others + owner)) {
            owner += IdempotencyBounds.keySize
        }
        return owner
    }

    @Test(
        "Leaves an address room beside other addresses of its network that use all theirs",
        arguments: [(0, 4_000), (2, 880), (16, 250), (256, 30)]
    )
    func neighbors(addresses: Int, keys: Int) {
        let bounds = IdempotencyBounds()
        let room = room(besides: usage(ofAddresses: addresses, in: bounds), in: bounds)
        #expect(room >= keys * IdempotencyBounds.keySize)
    }

    @Test("A network with 65,536 addresses leaves four fifths of an empty half free")
    func wholeNetwork() {
        let bounds = IdempotencyBounds()
        #expect(usage(ofAddresses: 65_536, in: bounds) < bounds.bytes / 2 / 5)
    }

    @Test("Admits no key to a half without free bytes")
    func fullHalf() {
        let bounds = IdempotencyBounds(bytes: IdempotencyBounds.minimum)
        #expect(bounds.admits(IdempotencyUsage(owner: 0, network: 0, pool: 0)))
        for network in [nil, 0, 1_024] {
            #expect(!bounds.admits(IdempotencyUsage(owner: 0, network: network, pool: bounds.bytes / 2)))
        }
    }
}
