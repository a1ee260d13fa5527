import AccountCore
import Crypto
import Testing

@Suite struct ServerKeysTests {
    private let secret = SymmetricKey(data: [UInt8](repeating: 7, count: 32))

    @Test("One secret gives the same keys each time, one for each purpose")
    func derived() {
        let keys = ServerKeys(secret: secret)
        #expect(keys.accessTokens == ServerKeys(secret: secret).accessTokens)
        #expect(keys.limitKeys == ServerKeys(secret: secret).limitKeys)
        #expect(keys.accessTokens != keys.limitKeys)
        #expect(keys.accessTokens != secret && keys.limitKeys != secret)
        #expect(keys.accessTokens.bitCount == 256)
    }

    @Test("Another secret gives other keys")
    func otherSecret() {
        let other = ServerKeys(secret: SymmetricKey(data: [UInt8](repeating: 8, count: 32)))
        #expect(other.accessTokens != ServerKeys(secret: secret).accessTokens)
    }

    @Test("A secret under 256 bits is a programmer's error")
    func shortSecret() async {
        await #expect(processExitsWith: .failure) { _ = ServerKeys(secret: SymmetricKey(size: .bits192)) }
    }

    @Test("A limit's key depends on the text and on the server's key, and shows neither")
    func limitKey() {
        let keys = ServerKeys(secret: secret)
        let key = LimitKey("ana@example.com", key: keys.limitKeys)
        #expect(key == LimitKey("ana@example.com", key: keys.limitKeys))
        #expect(key.hashValue == LimitKey("ana@example.com", key: keys.limitKeys).hashValue)
        #expect(key != LimitKey("ana@example.org", key: keys.limitKeys))
        #expect(key != LimitKey("ana@example.com", key: SymmetricKey(size: .bits256)))
        #expect(!String(reflecting: key).contains("ana"))
        let many = Set((0..<1_000).map { LimitKey("\($0)@example.com", key: keys.limitKeys) })
        #expect(many.count == 1_000)
    }
}
