import AccountContract
public import Crypto
import Foundation

/// Computes the keys under which PostgreSQL stores the addresses of accounts. A key is the HMAC-SHA-256 of the normalized address under a
/// secret, which has 32 bytes.
///
/// So the table of keys discloses no address to a reader without the secret. Spellings of an address that differ only in case have the same
/// key. All servers of a database must use the same secret. A server with another secret finds no account, and would register the same
/// address a second time.
///
/// To replace the secret, restart all servers with both secrets. Then call ``PostgresAccountStores/addKeysOfPresentSecret()``, and restart
/// the servers without the previous secret. While both secrets are in use, each address that is registered or changed gets a key under each
/// secret. So a server that has only the previous secret and a server that has both secrets can't register the same address twice.
public struct EmailKeys: Sendable {
    /// The present secret and, while it is replaced, the previous secret.
    private let secrets: [SymmetricKey]

    /// Creates the keys.
    /// - Parameters:
    ///   - secret: The present secret, 32 bytes.
    ///   - previous: The secret that `secret` replaces. Pass it as long as servers or rows still use the previous secret; otherwise `nil`.
    public init(_ secret: SymmetricKey, previous: SymmetricKey? = nil) {
        secrets = [secret] + (previous.map { [$0] } ?? [])
    }

    /// Whether a secret is being replaced, so that addresses have two keys.
    ///
    /// If so, a registration writes two keys, and a lookup of an unknown address takes two statements instead of one.
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
