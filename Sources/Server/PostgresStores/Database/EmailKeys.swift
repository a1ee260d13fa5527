import AccountContract
public import Crypto
import Foundation

/// The keys under which the addresses of accounts are unique: hashes of the normalized address under a secret.
///
/// While a secret is replaced, each address has two keys: servers that know only the previous secret and servers that know both must not register an
/// address twice.
public struct EmailKeys: Sendable {
    private let secrets: [SymmetricKey]

    /// Creates the keys.
    /// - Parameters:
    ///   - secret: The present secret.
    ///   - previous: The secret that it replaces, as long as servers or rows use that one.
    public init(_ secret: SymmetricKey, previous: SymmetricKey? = nil) {
        secrets = [secret] + (previous.map { [$0] } ?? [])
    }

    /// Whether addresses have two keys.
    public var isRotating: Bool { secrets.count > 1 }

    /// The keys of an address: that of the present secret first.
    func keys(of email: EmailAddress) -> [[UInt8]] {
        secrets.map { Array(HMAC<SHA256>.authenticationCode(for: Data(email.normalized.utf8), using: $0)) }
    }

    /// The key of an address under the present secret.
    func key(of email: EmailAddress) -> [UInt8] { keys(of: email)[0] }
}
