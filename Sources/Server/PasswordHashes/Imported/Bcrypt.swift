import Crypto
import Foundation

#if os(Linux)
    private import CCrypt
#endif

/// A bcrypt hash. The system's libcrypt verifies the hash. On systems without libcrypt, verification always fails.
public struct Bcrypt: Hashable, Sendable {
    /// The largest accepted cost. A cost of 15 means 2^15 rounds. The smallest accepted cost is 4.
    public static let maximumCost = 15

    /// The whole hash, from which bcrypt reads the kind, the cost and the salt.
    private let setting: String
    /// Whether the hash was computed from the SHA-256 of the password. Django uses the SHA-256 because bcrypt reads only 72 bytes of a
    /// password.
    private let isDigested: Bool

    init(_ text: String, isDigested: Bool) throws(ImportedHash.Refusal) {
        guard let parts = text.wholeMatch(of: /\$2[aby]\$([0-9]{2})\$[.\/A-Za-z0-9]{53}/), let cost = Int(parts.1), cost >= 4
        else {
            throw .malformed
        }
        guard cost <= Self.maximumCost else { throw .tooCostly(limit: "bcrypt at 15") }
        setting = text
        self.isDigested = isDigested
    }

    /// A decoy: a hash with the same kind and cost, and with zeros as salt and digest. No password matches it.
    var decoy: String { (isDigested ? "bcrypt_sha256$" : "") + setting.prefix(7) + String(repeating: ".", count: 53) }

    /// Returns whether a password matches this hash. Only the first 72 bytes of the password count, as in bcrypt.
    func verify(_ password: String) -> Bool {
        var phrase = Array(password.utf8)
        if isDigested { phrase = Self.hex(SHA256.hash(data: phrase)) }
        // A C string ends at its first zero byte, so libcrypt would ignore the rest of the password.
        guard !phrase.contains(0) else { return false }
        // libcrypt refuses more than 512 bytes and reads only 72 bytes.
        phrase = Array(phrase.prefix(72))
        guard let made = Self.crypt(phrase, setting) else { return false }
        return areEqual(made, Array(setting.utf8))
    }

    private static func hex(_ digest: SHA256.Digest) -> [UInt8] {
        let digits = Array("0123456789abcdef".utf8)
        return digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    }

    #if os(Linux)
        private static func crypt(_ phrase: [UInt8], _ setting: String) -> [UInt8]? {
            var data: UnsafeMutableRawPointer?
            var size: Int32 = 0
            defer { free(data) }
            let made = (phrase + [0]).withUnsafeBytes { bytes in
                crypt_ra(bytes.bindMemory(to: CChar.self).baseAddress, setting, &data, &size)
            }
            return made.map { Array(String(cString: $0).utf8) }
        }
    #else
        private static func crypt(_ phrase: [UInt8], _ setting: String) -> [UInt8]? { nil }
    #endif
}
