import Crypto
import Foundation
import HoldfastTesting
import JWTKit
import StrictJSON
import Testing
import TokenVerifier

@Suite struct TokenVerifierTests {
    private let issuer = Issuer("a")

    private func refusal(of token: String, rules: TokenVerifier.Rules = .init()) async -> TokenRefusal? {
        await refusal(of: token, by: issuer.verifier(rules: rules))
    }

    private func refusal(of token: String, by verifier: TokenVerifier) async -> TokenRefusal? {
        do {
            _ = try await verifier.verify(token)
            return nil
        } catch {
            return error
        }
    }

    @Test("Returns the claims of a valid token")
    func valid() async throws {
        let token = try await issuer.verifier().verify(
            try await issuer.token(claims: Issuer.claims(more: #","email_verified":true"#))
        )
        #expect(token.accountID == UUID(uuidString: Issuer.account))
        #expect(token.sessionID == UUID(uuidString: Issuer.session))
        #expect(token.issuedAt == Issuer.time)
        #expect(token.expiresAt == Issuer.time.addingTimeInterval(900))
        #expect(token.isEmailVerified)
        #expect(token.claims["iss"] == .string(Issuer.name))
    }

    @Test("Refuses a changed signature, another issuer's key and a changed payload")
    func forged() async throws {
        let token = try await issuer.token()
        let flipped = String(token.dropLast(4)) + (token.hasSuffix("AAAA") ? "BBBB" : "AAAA")
        #expect([.signature, .malformed].contains(await refusal(of: flipped)))
        #expect(await refusal(of: try await Issuer("a").token()) == .signature)
        let parts = token.split(separator: ".")
        let other = try await issuer.token(claims: Issuer.claims(lifetime: 9_000)).split(separator: ".")
        #expect(await refusal(of: "\(parts[0]).\(other[1]).\(parts[2])") == .signature)
    }

    @Test("Refuses other algorithms, such as none, or HMAC with the public key as secret")
    func algorithmConfusion() async throws {
        let none = try await issuer.token(header: #"{"alg":"none","typ":"at+jwt","kid":"a"}"#) { _ in [] }
        #expect(await refusal(of: none) != nil)
        let secret = Array(issuer.key("a").publicKey.pemRepresentation.utf8)
        for name in ["HS256", "ES384", "RS256", "es256"] {
            let forged = try await issuer.token(header: #"{"alg":"\#(name)","typ":"at+jwt","kid":"a"}"#) { bytes in
                Array(HMAC<SHA256>.authenticationCode(for: bytes, using: SymmetricKey(data: secret)))
            }
            #expect(await refusal(of: forged) == .algorithm, "\(name)")
        }
    }

    @Test("Ignores keys and addresses of keys that the token's header names")
    func embeddedKeys() async throws {
        let attacker = Issuer("evil")
        let point = try #require(attacker.key("evil").parameters)
        let jwk = Issuer.member("evil", x: point.x, y: point.y)
        for header in [
            #"{"alg":"ES256","typ":"at+jwt","kid":"evil","jwk":\#(jwk)}"#,
            #"{"alg":"ES256","typ":"at+jwt","kid":"evil","jku":"https://evil.example/jwks.json"}"#,
            #"{"alg":"ES256","typ":"at+jwt","kid":"evil","x5u":"https://evil.example/cert.pem"}"#,
        ] {
            #expect(await refusal(of: try await attacker.token(key: "evil", header: header)) == .unknownKey)
        }
        let named = try await attacker.token(key: "evil", header: #"{"alg":"ES256","typ":"at+jwt","kid":"a","jwk":\#(jwk)}"#)
        #expect(await refusal(of: named) == .signature)
        let critical = try await issuer.token(header: #"{"alg":"ES256","typ":"at+jwt","kid":"a","crit":["exp"]}"#)
        #expect(await refusal(of: critical) == .malformed)
    }

    @Test("Refuses tokens of another type or without key id, and other texts")
    func malformed() async throws {
        for header in [
            #"{"alg":"ES256","typ":"JWT","kid":"a"}"#, #"{"alg":"ES256","kid":"a"}"#, #"{"alg":"ES256","typ":"at+jwt"}"#,
        ] {
            #expect(await refusal(of: try await issuer.token(header: header)) == .malformed, "\(header)")
        }
        let token = try await issuer.token()
        for text in ["", ".", "..", "a.b", token + "=", token + ".x", " " + token, String(repeating: "a", count: 5_000)] {
            #expect(await refusal(of: text) == .malformed, "\(text.prefix(40))")
        }
        for claims in ["[]", "{}", Issuer.claims().replacing(Issuer.account, with: "admin")] {
            #expect(await refusal(of: try await issuer.token(claims: claims)) == .malformed, "\(claims)")
        }
    }

    @Test("Requires the issuer and the audience; the audience may be one of several")
    func recipients() async throws {
        #expect(await refusal(of: try await issuer.token(claims: Issuer.claims(issuer: "https://evil.example"))) == .issuer)
        #expect(await refusal(of: try await issuer.token(claims: Issuer.claims(audience: #""Other""#))) == .audience)
        #expect(await refusal(of: try await issuer.token(claims: Issuer.claims(audience: #"["Other","Notes"]"#))) == nil)
        #expect(await refusal(of: try await issuer.token(claims: Issuer.claims(audience: "7"))) == .audience)
    }

    @Test("Compares times with the allowed clock difference")
    func times() async throws {
        #expect(await refusal(of: try await issuer.token(claims: Issuer.claims(issued: -930, lifetime: 901))) == nil)
        #expect(await refusal(of: try await issuer.token(claims: Issuer.claims(issued: -930, lifetime: 900))) == .expired)
        #expect(await refusal(of: try await issuer.token(claims: Issuer.claims(issued: 30))) == nil)
        #expect(await refusal(of: try await issuer.token(claims: Issuer.claims(issued: 31))) == .notYetValid)
    }

    @Test("Refuses a token before the time at which it becomes valid")
    func notBefore() async throws {
        let time = Int(Issuer.time.timeIntervalSince1970)
        for (start, expected) in [("\(time + 30)", nil), ("\(time + 31)", .notYetValid), (#""soon""#, .malformed)]
            as [(String, TokenRefusal?)]
        {
            let claims = Issuer.claims(more: #","nbf":\#(start)"#)
            #expect(await refusal(of: try await issuer.token(claims: claims)) == expected, "\(start)")
        }
    }
}
