import AccountCore
import Crypto
import RateLimiting
import Testing

@Suite struct ServerKeysTests {
    private let secret = SymmetricKey(data: [UInt8](repeating: 7, count: 32))

    @Test("Derives the same keys from one secret, a different one for each purpose")
    func derived() {
        let keys = ServerKeys(secret: secret)
        #expect(keys.accessTokens == ServerKeys(secret: secret).accessTokens)
        #expect(keys.limitKeys == ServerKeys(secret: secret).limitKeys)
        #expect(keys.accessTokens != secret)
        #expect(keys.deviceTokens == ServerKeys(secret: secret).deviceTokens)
        #expect(![secret, keys.accessTokens, keys.idempotencyKeys, keys.decoys].contains(keys.deviceTokens))
        let accessBytes = keys.accessTokens.withUnsafeBytes { Array($0) }
        let secretBytes = secret.withUnsafeBytes { Array($0) }
        #expect(!accessBytes.starts(with: keys.limitKeys.bytes) && !secretBytes.starts(with: keys.limitKeys.bytes))
        #expect(keys.accessTokens.bitCount == 256)
    }

    @Test("Another secret derives other keys")
    func otherSecret() {
        let other = ServerKeys(secret: SymmetricKey(data: [UInt8](repeating: 8, count: 32)))
        #expect(other.accessTokens != ServerKeys(secret: secret).accessTokens)
    }

    @Test("A secret of less than 256 bits fails a precondition")
    func shortSecret() async {
        await #expect(processExitsWith: .failure) { _ = ServerKeys(secret: SymmetricKey(size: .bits192)) }
    }

    @Test("A limit's stored key depends on the server's secret and reveals neither")
    func limitKeys() {
        let keys = ServerKeys(secret: secret)
        let digest = keys.limitKeys.digest(of: "ana@example.com")
        #expect(digest == ServerKeys(secret: secret).limitKeys.digest(of: "ana@example.com"))
        #expect(digest != keys.limitKeys.digest(of: "ana@example.org"))
        let other = ServerKeys(secret: SymmetricKey(data: [UInt8](repeating: 8, count: 32)))
        #expect(digest != other.limitKeys.digest(of: "ana@example.com"))
        #expect(!String(reflecting: keys.limitKeys).contains("\(keys.limitKeys.bytes[0])"))
    }
}
