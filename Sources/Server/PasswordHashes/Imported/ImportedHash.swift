import Foundation

/// A password hash that another system made: it is verified as it is, and replaced by one of our own at the next sign-in.
///
/// Django's `pbkdf2_sha256$ROUNDS$SALT$HASH`, `bcrypt$…` and `bcrypt_sha256$…`, and bare bcrypt of the kinds `$2a$`, `$2b$` and
/// `$2y$`.
public enum ImportedHash: Hashable, Sendable {
    /// A hash by PBKDF2, as Django makes them.
    case pbkdf2(PBKDF2)
    /// A hash by bcrypt, as Laravel makes them.
    case bcrypt(Bcrypt)

    /// Why a text is not a hash that can be imported.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The format is none of those that can be imported.
        case unknownFormat
        /// The format is known, and the text does not follow it.
        case malformed
        /// To verify it would take too long: whoever could put it there could keep the server busy.
        case tooCostly(limit: String)

        public var description: String {
            switch self {
            case .unknownFormat: "the password hash is of no known format (pbkdf2_sha256, bcrypt, bcrypt_sha256)"
            case .malformed: "the password hash is damaged"
            case .tooCostly(let limit): "the password hash costs more than \(limit)"
            }
        }
    }

    /// Reads a hash.
    /// - Throws: ``Refusal``.
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

    /// Whether a password has this hash, compared in constant time. Blocks for as long as the hash costs.
    public func verify(_ password: String) -> Bool {
        switch self {
        case .pbkdf2(let hash): hash.verify(password)
        case .bcrypt(let hash): hash.verify(password)
        }
    }

    /// A hash of the same cost that no password has, for whoever must spend the same time for nothing.
    public var decoy: String {
        switch self {
        case .pbkdf2(let hash): "pbkdf2_sha256$\(hash.rounds)$decoy$\(Data(count: 32).base64EncodedString())"
        case .bcrypt(let hash): hash.decoy
        }
    }
}

/// Whether two texts are the same, in a time that tells nothing but their lengths.
func areEqual(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
}
