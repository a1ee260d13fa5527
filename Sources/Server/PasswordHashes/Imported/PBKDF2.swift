import Crypto
import CryptoExtras
import Foundation

/// A PBKDF2 hash with HMAC-SHA256 (RFC 8018) in Django's format.
public struct PBKDF2: Hashable, Sendable {
    /// The largest accepted number of rounds. Django 5.2 uses 1,000,000.
    public static let maximumRounds = 2_000_000

    let rounds: Int
    private let salt: [UInt8]
    private let digest: Data

    init(_ text: String) throws(ImportedHash.Refusal) {
        let parts = text.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[1].utf8.allSatisfy({ (48...57).contains($0) }),
            let digest = Data(base64Encoded: String(parts[3])),
            digest.count == 32, !parts[2].isEmpty
        else { throw .malformed }
        // If the number doesn't fit an `Int`, it exceeds the limit.
        guard let rounds = Int(parts[1]), rounds <= Self.maximumRounds else {
            throw .tooCostly(limit: "2,000,000 rounds of PBKDF2")
        }
        guard rounds >= 1 else { throw .malformed }
        (self.rounds, self.salt, self.digest) = (rounds, Array(parts[2].utf8), digest)
    }

    /// Returns whether a password matches this hash. The comparison takes constant time.
    func verify(_ password: String) -> Bool {
        // HMAC pads a short key with zeros, so HMAC would ignore a zero byte at the end of a password.
        guard !password.utf8.contains(0) else { return false }
        let key = try? KDF.Insecure.PBKDF2.deriveKey(
            from: Array(password.utf8),
            salt: salt,
            using: .sha256,
            outputByteCount: 32,
            unsafeUncheckedRounds: rounds
        )
        return key?.withUnsafeBytes { areEqual(Array($0), digest) } ?? false
    }
}
