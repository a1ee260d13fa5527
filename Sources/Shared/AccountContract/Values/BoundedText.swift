public import ErrorContract

/// A text from outside with a bounded length; being of the type proves that it was checked.
public protocol BoundedText: Codable, Hashable, Sendable {
    /// The text.
    var rawValue: String { get }
    /// The longest text, in UTF-8 bytes for tokens and in characters for what people type.
    static var maximumLength: Int { get }
    /// Reads a text.
    init(_ text: String) throws(TextRefusal)
}

/// Why a text was refused.
public enum TextRefusal: Error, Hashable, Sendable, ContractRefusal {
    /// Nothing, or nothing but spaces where those do not count.
    case empty
    /// More than the type's maximum.
    case tooLong
    /// A control character.
    case forbiddenCharacter

    /// The code of the violation.
    public var code: ErrorCode {
        switch self {
        case .empty: .validationMissingField
        case .tooLong: .validationFieldTooLong
        case .forbiddenCharacter: .validationInvalidFormat
        }
    }
}

extension BoundedText {
    /// Reads a text from its JSON string.
    public init(from decoder: any Decoder) throws {
        try self.init(try decoder.singleValueContainer().decode(String.self))
    }

    /// Writes the text as a JSON string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

/// The token of a reset link, which proves that the user received the email.
public struct ResetToken: BoundedText {
    /// The longest token, in UTF-8 bytes.
    public static let maximumLength = 512
    /// The secret.
    public let rawValue: String

    /// Reads a secret; spaces belong to it.
    public init(_ text: String) throws(TextRefusal) {
        rawValue = try Secrets.bounded(text, bytes: Self.maximumLength)
    }
}

/// The token that refreshes a session.
public struct RefreshToken: BoundedText {
    /// The longest token, in UTF-8 bytes.
    public static let maximumLength = 512
    /// The secret.
    public let rawValue: String

    /// Reads a secret; spaces belong to it.
    public init(_ text: String) throws(TextRefusal) {
        rawValue = try Secrets.bounded(text, bytes: Self.maximumLength)
    }
}

/// Proof that a device has signed in to an account before. It does not authenticate: with it, failed attempts of other devices don't
/// prevent a sign-in.
public struct DeviceToken: BoundedText {
    /// The longest token, in UTF-8 bytes.
    public static let maximumLength = 512
    /// The secret.
    public let rawValue: String

    /// Reads a secret; spaces belong to it.
    public init(_ text: String) throws(TextRefusal) {
        rawValue = try Secrets.bounded(text, bytes: Self.maximumLength)
    }
}

/// A password as it was typed. Whether it is strong enough is the server's policy, not this type's.
public struct Password: BoundedText {
    /// Far above every policy; keeps the cost of refusing a password small.
    public static let maximumLength = 4_096
    /// The secret.
    public let rawValue: String

    /// Reads a secret; spaces belong to it.
    public init(_ text: String) throws(TextRefusal) {
        rawValue = try Secrets.bounded(text, bytes: Self.maximumLength)
    }
}

private enum Secrets {
    static func bounded(_ text: String, bytes maximum: Int) throws(TextRefusal) -> String {
        guard !text.isEmpty else { throw .empty }
        guard text.utf8.count <= maximum else { throw .tooLong }
        return text
    }
}

extension BoundedText where Self: SecretText {
    /// Never the secret: descriptions end up in logs.
    public var description: String { "\(Self.self)(hidden)" }
    /// Never the secret.
    public var debugDescription: String { description }
    /// Shows no member.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// A text that must not be printed by accident.
public protocol SecretText: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension ResetToken: SecretText {}
extension RefreshToken: SecretText {}
extension DeviceToken: SecretText {}
extension Password: SecretText {}
