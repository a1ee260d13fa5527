import AccountContract
import Crypto
public import Foundation

/// A token of 256 random bits as its holder sees it: 43 characters of base64url.
///
/// The clear text exists only on its way to the holder; what is kept is the ``TokenDigest``.
public struct SecretToken: Sendable, CustomStringConvertible {
    /// The text for the holder.
    public let text: String

    /// Makes a new token from the system's random source.
    public init() {
        let key = SymmetricKey(size: .bits256)
        text = key.withUnsafeBytes { Base64URL.encoded($0) }
    }

    /// What is kept of the token.
    public var digest: TokenDigest { TokenDigest(of: text) }

    /// Never the token.
    public var description: String { "SecretToken(hidden)" }
}

/// The SHA-256 of a token: enough to recognise it, useless to whoever reads the database.
public struct TokenDigest: Hashable, Sendable {
    /// The 32 bytes.
    public let bytes: Data

    /// The digest of a token's text.
    public init(of text: String) {
        bytes = Data(SHA256.hash(data: Data(text.utf8)))
    }
}
