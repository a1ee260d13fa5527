import AccountContract
import Crypto
public import Foundation

/// A random token with 256 bits, as 43 characters of base64url, for refresh tokens and emailed links.
///
/// The server sends the clear text only to the recipient, and stores only the ``TokenDigest``. `description` doesn't contain the token, so
/// a log line with a `SecretToken` doesn't disclose the token.
public struct SecretToken: Sendable, CustomStringConvertible {
    /// The clear text.
    public let text: String

    /// Creates a token from the system's random source.
    public init() {
        let key = SymmetricKey(size: .bits256)
        text = key.withUnsafeBytes { Base64URL.encoded($0) }
    }

    /// The digest to store.
    public var digest: TokenDigest { TokenDigest(of: text) }

    /// A text without the token.
    public var description: String { "SecretToken(hidden)" }
}

/// The SHA-256 of a token. A store recognizes a token by this digest, but a reader of the database can't derive the token from the digest.
///
/// A fast hash is sufficient, because a token has 256 random bits and can't be guessed.
public struct TokenDigest: Hashable, Sendable {
    /// The 32 bytes.
    public let bytes: Data

    /// Computes the digest of a token's text.
    public init(of text: String) {
        bytes = Data(SHA256.hash(data: Data(text.utf8)))
    }

    /// Creates a digest from stored bytes.
    /// - Returns: `nil` if there are not exactly 32 bytes.
    public init?(bytes: Data) {
        guard bytes.count == SHA256.byteCount else { return nil }
        self.bytes = bytes
    }
}
