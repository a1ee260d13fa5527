public import Crypto
import Foundation

/// What a limit is counted by, as a keyed 128-bit hash: an address can't be read back from memory or a snapshot.
public struct LimitKey: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    /// The key of a text under the server's key.
    public init(_ text: String, key: SymmetricKey) {
        let code = HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key)
        (high, low) = code.withUnsafeBytes {
            ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
    }
}
