import Foundation

/// A password hash that another system created. The server verifies the hash in the format of that system, and replaces it with an Argon2id
/// hash at the next sign-in.
///
/// The type supports Django's `pbkdf2_sha256$ROUNDS$SALT$HASH`, `bcrypt$…` and `bcrypt_sha256$…`, and plain bcrypt of the kinds `$2a$`,
/// `$2b$` and `$2y$`.
///
/// ```swift
/// let imported = try ImportedHash("$2b$04$abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYZ01234")
/// print(imported.verify("another password"))
/// ```
/// For Argon2id hashes, including those of other systems, use ``Argon2id``.
public enum ImportedHash: Hashable, Sendable {
    /// A PBKDF2 hash in Django's format.
    case pbkdf2(PBKDF2)
    /// A bcrypt hash, as in Laravel.
    case bcrypt(Bcrypt)

    /// The reason why a hash can't be imported.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The format is not supported.
        case unknownFormat
        /// The text has a supported scheme, but not the format of this scheme.
        case malformed
        /// The verification would take too long. An attacker could use such a hash to overload the server.
        case tooCostly(limit: String)

        public var description: String {
            switch self {
            case .unknownFormat: "the password hash is of no known format (pbkdf2_sha256, bcrypt, bcrypt_sha256)"
            case .malformed: "the password hash is damaged"
            case .tooCostly(let limit): "the password hash costs more than \(limit)"
            }
        }
    }

    /// Parses a hash.
    /// - Parameter text: At most 1,024 printable ASCII characters without spaces.
    /// - Throws: ``Refusal``: `unknownFormat` for an unsupported scheme, `malformed` for a text that does not follow the format of its
    ///   scheme, and `tooCostly` for a cost above ``PBKDF2/maximumRounds`` or ``Bcrypt/maximumCost``.
    public init(_ text: String) throws(Refusal) {
        guard text.utf8.count <= 1_024, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw .malformed }
        let scheme = text.prefix { $0 != "$" }
        switch scheme {
        case "pbkdf2_sha256": self = .pbkdf2(try PBKDF2(text))
        case "bcrypt", "bcrypt_sha256":
            let setting = text.dropFirst(scheme.count + 1)
            self = .bcrypt(try Bcrypt(String(setting), isDigested: scheme == "bcrypt_sha256"))
        case "" where text.hasPrefix("$2"): self = .bcrypt(try Bcrypt(text, isDigested: false))
        default: throw .unknownFormat
        }
    }

    /// Returns whether a password matches this hash. The comparison takes constant time. The call blocks the thread for the time of one
    /// hash computation.
    ///
    /// A password with a zero byte never matches, because bcrypt and HMAC can't distinguish such a password from a shorter one.
    public func verify(_ password: String) -> Bool {
        switch self {
        case .pbkdf2(let hash): hash.verify(password)
        case .bcrypt(let hash): hash.verify(password)
        }
    }

    /// A decoy: a hash of the same cost that no password matches. Verify the decoy when a user signs in to an unknown account, so that the
    /// response takes the same time as for a known account.
    public var decoy: String {
        switch self {
        case .pbkdf2(let hash): "pbkdf2_sha256$\(hash.rounds)$decoy$\(Data(count: 32).base64EncodedString())"
        case .bcrypt(let hash): hash.decoy
        }
    }
}

/// Returns whether two byte sequences are equal. The time of the comparison depends only on their lengths.
func areEqual(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
}
