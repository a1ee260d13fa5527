import AccountContract
public import Crypto
import Foundation

/// The keys under which the addresses of accounts are unique: HMAC-SHA-256 of the normalized address with a secret, 32 bytes.
///
/// The table of keys therefore discloses no address to a reader without the secret, and two spellings of one mailbox have the same key. All
/// servers of a database must use the same secret: with another one, a server finds no account and would register addresses twice.
///
/// To replace the secret, start all servers with both secrets, call ``PostgresAccountStores/addKeysOfPresentSecret()``, and then start them
/// without the previous one. While both are in use, each address has two keys, so that servers that only know the previous secret and
/// servers that know both don't register an address twice.
public struct EmailKeys: Sendable {
    private let secrets: [SymmetricKey]

    /// Creates the keys.
    /// - Parameters:
    ///   - secret: The present secret.
    ///   - previous: The secret that it replaces, while servers or rows still use that one.
    public init(_ secret: SymmetricKey, previous: SymmetricKey? = nil) {
        secrets = [secret] + (previous.map { [$0] } ?? [])
    }

    /// Whether addresses have two keys.
    ///
    /// While they have, a registration writes two rows, and a lookup of an unknown address takes two statements instead of one.
    public var isRotating: Bool { secrets.count > 1 }

    /// Returns the keys of an address, that of the present secret first.
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
