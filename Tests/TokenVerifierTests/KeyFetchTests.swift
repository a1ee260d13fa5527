import Foundation
import HoldfastTesting
import JWTKit
import Testing
import TokenVerifier

@Suite struct KeyFetchTests {
    private func refusal(of token: String, by verifier: TokenVerifier) async -> TokenRefusal? {
        do {
            _ = try await verifier.verify(token)
            return nil
        } catch {
            return error
        }
    }

    @Test("Fetches the keys once for many concurrent calls")
    func sharedFetch() async throws {
        let issuer = Issuer("a")
        let verifier = issuer.verifier()
        let token = try await issuer.token()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 { group.addTask { #expect(await refusal(of: token, by: verifier) == nil) } }
        }
        #expect(issuer.fetches == 1)
    }

    @Test("Fetches again for an unknown key, at most once per 30 s")
    func unknownKey() async throws {
        let issuer = Issuer("a")
        let verifier = issuer.verifier()
        #expect(await refusal(of: try await issuer.token(), by: verifier) == nil)
        for _ in 0..<20 { #expect(await refusal(of: try await issuer.token(key: "forged"), by: verifier) == .unknownKey) }
        #expect(issuer.fetches == 1)
        issuer.clock.advance(by: .seconds(30))
        for _ in 0..<20 { #expect(await refusal(of: try await issuer.token(key: "forged"), by: verifier) == .unknownKey) }
        #expect(issuer.fetches == 2)
        issuer.addKey("b")
        #expect(await refusal(of: try await issuer.token(key: "b"), by: verifier) == .unknownKey)
        issuer.clock.advance(by: .seconds(30))
        #expect(await refusal(of: try await issuer.token(key: "b"), by: verifier) == nil)
        #expect(await refusal(of: try await issuer.token(key: "a"), by: verifier) == nil)
    }

    @Test("Refuses a retired key once the keys were fetched again")
    func retiredKey() async throws {
        let issuer = Issuer("a", "b")
        let verifier = issuer.verifier()
        let token = try await issuer.token(key: "a")
        #expect(await refusal(of: token, by: verifier) == nil)
        issuer.removeKey("a")
        #expect(await refusal(of: token, by: verifier) == nil)
        issuer.clock.advance(by: .seconds(300))
        #expect(await refusal(of: token, by: verifier) == .unknownKey)
    }

    @Test("Uses old keys while the issuer can't be reached, but not for more than an hour")
    func outage() async throws {
        let issuer = Issuer("a")
        let verifier = issuer.verifier()
        let token = try await issuer.token(claims: Issuer.claims(lifetime: 100_000))
        #expect(await refusal(of: token, by: verifier) == nil)
        issuer.stop()
        issuer.clock.advance(by: .seconds(3_600))
        #expect(await refusal(of: token, by: verifier) == nil)
        issuer.clock.advance(by: .seconds(1))
        #expect(await refusal(of: token, by: verifier) == .keysUnavailable)
        issuer.start()
        issuer.clock.advance(by: .seconds(2))
        #expect(await refusal(of: token, by: verifier) == nil)
    }

    @Test("Fetches again after many callers entered while fetches failed")
    func endingFetch() async throws {
        let issuer = Issuer("a")
        var rules = TokenVerifier.Rules()
        (rules.refreshAge, rules.unknownKeyPause, rules.retryPause) = (.zero, .zero, .zero)
        let verifier = issuer.verifier(rules: rules)
        #expect(await refusal(of: try await issuer.token(), by: verifier) == nil)
        issuer.stop()
        // The check of this signature is fast, so more callers enter while a fetch ends.
        let forged = try await issuer.token { _ in [UInt8](repeating: 0, count: 64) }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<1_000 { _ = await refusal(of: forged, by: verifier) } }
            }
        }
        let fetches = issuer.fetches
        #expect(await refusal(of: forged, by: verifier) == .signature)
        #expect(issuer.fetches == fetches + 1)
    }

    @Test("Repeats a failed first fetch after two seconds")
    func failedFirstFetch() async throws {
        let issuer = Issuer("a")
        let verifier = issuer.verifier()
        issuer.stop()
        for _ in 0..<5 { #expect(await refusal(of: try await issuer.token(), by: verifier) == .keysUnavailable) }
        #expect(issuer.fetches == 1)
        issuer.start()
        issuer.clock.advance(by: .seconds(2))
        #expect(await refusal(of: try await issuer.token(), by: verifier) == nil)
    }

    @Test("Uses only the keys for ES256 signatures of a key set")
    func otherKeys() async throws {
        let issuer = Issuer("a")
        let point = try #require(issuer.key("a").parameters)
        let (x, y) = (Issuer.url(point.x), Issuer.url(point.y))
        let members = [
            #"{"kty":"RSA","kid":"rsa","n":"AQAB","e":"AQAB"}"#,
            #"{"kty":"oct","kid":"secret","k":"AAAA"}"#,
            #"{"kty":"EC","crv":"P-384","kid":"p384","x":"\#(x)","y":"\#(y)"}"#,
            #"{"kty":"EC","crv":"P-256","kid":"encryption","use":"enc","x":"\#(x)","y":"\#(y)"}"#,
            #"{"kty":"EC","crv":"P-256","kid":"short","x":"AAAA","y":"\#(y)"}"#,
            #"{"kty":"EC","crv":"P-256","kid":"off-curve","x":"\#(x)","y":"\#(x)"}"#,
            #"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)"}"#,
            Issuer.member("a", x: point.x, y: point.y, more: #","jku":"https://evil.example""#),
            "7",
        ]
        let keys = try await TokenKeys(document: Array(#"{"keys":[\#(members.joined(separator: ","))]}"#.utf8))
        #expect(keys.ids == ["a"])
        for document in ["", "[]", "{}", #"{"keys":[]}"#, #"{"keys":{}}"#, #"{"keys":[7]}"#] {
            await #expect(throws: TokenKeysError.self, "\(document)") { try await TokenKeys(document: Array(document.utf8)) }
        }
    }
}
