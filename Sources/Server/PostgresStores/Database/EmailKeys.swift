import AccountContract
public import Crypto
import Foundation

/// Computes the keys under which PostgreSQL stores the addresses of accounts. A key is the HMAC-SHA-256 of the normalized address under a
/// secret, which has 32 bytes.
///
/// So the table of keys discloses no address to a reader without the secret, and two spellings of one address have the same key. All
/// servers of a database must use the same secret. A server with another secret finds no account and would register addresses a second
/// time.
///
/// To replace the secret, start all servers with both secrets, call ``PostgresAccountStores/addKeysOfPresentSecret()``, and then start them
/// without the previous secret. While both secrets are in use, each address has two keys. Otherwise, a server that only has the previous
/// secret and a server that has both could register one address twice.
public struct EmailKeys: Sendable {
    /// The secrets of the keys: the present one first, and then the previous one while it is replaced.
    private let secrets: [SymmetricKey]

    /// Creates the keys.
    /// - Parameters:
    ///   - secret: The present secret.
    ///   - previous: The secret that `secret` replaces. Pass it as long as servers or rows still use it; otherwise `nil`.
    public init(_ secret: SymmetricKey, previous: SymmetricKey? = nil) {
        secrets = [secret] + (previous.map { [$0] } ?? [])
    }

    /// Whether addresses have two keys.
    ///
    /// If so, a registration writes two rows, and a lookup of an unknown address takes two statements instead of one.
    public var isRotating: Bool { secrets.count > 1 }

    /// Returns the keys of an address, beginning with the key of the present secret.
    /// - Returns: One key; two while a secret is replaced.
    func keys(of email: EmailAddress) -> [[UInt8]] {
        secrets.map { Self.key(of: email.normalized, $0) }
    }

    /// Returns the key of a normalized address under the present secret.
    /// - Parameter address: The normalized address. It is not normalized again.
    package func key(ofNormalized address: String) -> [UInt8] { Self.key(of: address, secrets[0]) }

    /// Returns HMAC-SHA-256 of the address's UTF-8 bytes.
    private static func key(of normalized: String, _ secret: SymmetricKey) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Data(normalized.utf8), using: secret))
    }

    /// Returns the key of an address under the present secret.
    func key(of email: EmailAddress) -> [UInt8] { keys(of: email)[0] }
}
