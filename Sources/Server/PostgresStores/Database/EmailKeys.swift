import AccountContract
public import Crypto
import Foundation

/// The keys under which the addresses of accounts are unique: hashes of the normalized address with a secret.
///
/// While a secret is replaced, each address has two keys, so that servers that only know the previous secret and servers that know both
/// don't register an address twice.
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
    public var isRotating: Bool { secrets.count > 1 }

    /// Returns the keys of an address, that of the present secret first.
    func keys(of email: EmailAddress) -> [[UInt8]] {
        secrets.map { Self.key(of: email.normalized, $0) }
    }

    /// Returns the key of a normalized address under the present secret.
    package func key(ofNormalized address: String) -> [UInt8] { Self.key(of: address, secrets[0]) }

    private static func key(of normalized: String, _ secret: SymmetricKey) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Data(normalized.utf8), using: secret))
    }

    /// Returns the key of an address under the present secret.
    func key(of email: EmailAddress) -> [UInt8] { keys(of: email)[0] }
}
