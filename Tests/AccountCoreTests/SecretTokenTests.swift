import AccountCore
import Crypto
import Foundation
import Testing

@Suite struct SecretTokenTests {
    @Test("A token is 256 random bits as 43 characters of base64url")
    func form() throws {
        let alphabet = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        for _ in 0..<200 {
            let text = SecretToken().text
            #expect(text.count == 43)
            #expect(Set(text).isSubset(of: alphabet))
            let base64 = text.replacing("-", with: "+").replacing("_", with: "/") + "="
            #expect(try #require(Data(base64Encoded: base64)).count == 32)
        }
    }

    @Test("No two tokens are equal")
    func unique() {
        #expect(Set((0..<10_000).map { _ in SecretToken().text }).count == 10_000)
    }

    @Test("Descriptions do not show a token")
    func hidden() {
        let token = SecretToken()
        #expect("\(token)" == "SecretToken(hidden)")
        #expect(!String(describing: [token]).contains(token.text))
    }

    @Test("The digest of a token is the SHA-256 of its text")
    func digest() {
        let token = SecretToken()
        #expect(token.digest.bytes == Data(SHA256.hash(data: Data(token.text.utf8))))
        #expect(token.digest == TokenDigest(of: token.text))
        #expect(token.digest != SecretToken().digest)
    }

    @Test("The digest of a known text equals the published one")
    func knownDigest() {
        let hex = TokenDigest(of: "abc").bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        #expect(hex == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }
}
