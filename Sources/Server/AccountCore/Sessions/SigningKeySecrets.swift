import Crypto
import Foundation

/// Encrypts and decrypts the private keys that sign access tokens (AES-256-GCM, under a key that is derived from the server's secret).
public struct SigningKeySecrets: Sendable {
    private let present: SymmetricKey
    private let previous: SymmetricKey?

    /// Creates a value that encrypts and decrypts private keys.
    /// - Parameters:
    ///   - keys: The keys that are derived from the server's current secret. One of them encrypts new private keys.
    ///   - previous: The keys of the earlier secret, while a new secret replaces it. They only decrypt private keys.
    public init(_ keys: ServerKeys, previous: ServerKeys? = nil) {
        (present, self.previous) = (keys.signingKeys, previous?.signingKeys)
    }

    /// Creates a key pair, and encrypts its private key.
    /// - Throws: An error of the cryptographic library.
    public func newKey() throws -> SigningKey.Material {
        let key = P256.Signing.PrivateKey()
        let id = key.publicKey.keyID
        let box = try AES.GCM.seal(key.rawRepresentation, using: present, authenticating: Data(id.utf8))
        guard let sealed = box.combined else { preconditionFailure("a nonce of 12 bytes is combined") }
        return SigningKey.Material(id: id, sealed: sealed)
    }

    /// Decrypts a private key.
    /// - Returns: `nil` if the key was encrypted under another secret, or if its stored bytes were changed.
    func open(_ key: SigningKey) -> P256.Signing.PrivateKey? {
        open(key, under: present) ?? previous.flatMap { open(key, under: $0) }
    }

    /// Returns whether a private key can be decrypted only with the previous secret.
    func needsPrevious(_ key: SigningKey) -> Bool { previous != nil && open(key, under: present) == nil && open(key) != nil }

    private func open(_ key: SigningKey, under secret: SymmetricKey) -> P256.Signing.PrivateKey? {
        guard let box = try? AES.GCM.SealedBox(combined: key.sealed),
            let bytes = try? AES.GCM.open(box, using: secret, authenticating: Data(key.id.utf8)),
            let opened = try? P256.Signing.PrivateKey(rawRepresentation: bytes), opened.publicKey.keyID == key.id
        else { return nil }
        return opened
    }
}

extension P256.Signing.PublicKey {
    /// The id of the key: 16 hexadecimal digits of its SHA-256.
    fileprivate var keyID: String {
        SHA256.hash(data: rawRepresentation).prefix(8).map { byte in
            String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }.joined()
    }
}
