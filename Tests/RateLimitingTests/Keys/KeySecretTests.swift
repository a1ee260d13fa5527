import Testing

@testable import RateLimiting

@Suite struct KeySecretTests {
    /// The key and the first vectors of the reference implementation, for messages of 0, 8 and 16 bytes 00 01 02 …
    static let vectors: [([UInt64], UInt64)] = [
        ([], 0x726f_db47_dd0e_0e31),
        ([0x0706_0504_0302_0100], 0x93f5_f579_9a93_2462),
        ([0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908], 0x3f2a_cc7f_57c2_9bdb),
    ]

    @Test("Computes SipHash-2-4 by the reference's vectors", arguments: vectors)
    func reference(words: [UInt64], expected: UInt64) throws {
        var hasher = KeyHasher(try #require(KeySecret(bytes: 0..<16)))
        for word in words { hasher.combine(word) }
        #expect(hasher.finalize() == expected)
    }

    @Test("A stored secret gives the same digests in another process, a new one others")
    func kept() throws {
        let secret = KeySecret()
        let again = try #require(KeySecret(bytes: secret.bytes))
        #expect(again == secret && again.digest(of: "ana@example.com") == secret.digest(of: "ana@example.com"))
        #expect(KeySecret().digest(of: "ana@example.com") != secret.digest(of: "ana@example.com"))
        #expect(KeySecret(bytes: [1, 2, 3]) == nil)
    }

    @Test("Keys of several parts differ by the boundaries of their parts")
    func parts() {
        let secret = KeySecret()
        let keys = [["ab", "c"], ["a", "bc"], ["abc"], ["abc", ""], ["", "abc"], ["abc\0"], []]
        #expect(Set(keys.map { secret.digest(of: $0) }).count == keys.count)
        #expect(secret.digest(of: UInt128(1) << 64) != secret.digest(of: UInt128(1)))
    }

    @Test("Descriptions of a secret show nothing of it")
    func silent() {
        let secret = KeySecret(bytes: 0..<16)
        #expect("\(secret as Any) \(String(reflecting: secret))".filter(\.isNumber).isEmpty)
    }

    @Test("No key has a reserved digest")
    func reserved() {
        for hash in [0, 1, 1_048_575, 1_048_576, .max] as [UInt64] { #expect(KeyDigest(hash: hash).isKey) }
    }
}
