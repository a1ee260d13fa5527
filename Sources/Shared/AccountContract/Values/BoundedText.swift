public import ErrorContract

/// A validated text from a client, with a maximum length. A value of the type proves that the text was validated.
///
/// The server decodes the fields of requests into types that conform to this protocol. So an invalid value becomes a `FieldViolation` for
/// its field before the route handler runs. An app that uses these types finds the same problems before it sends a request.
public protocol BoundedText: Codable, Hashable, Sendable {
    /// The text.
    var rawValue: String { get }
    /// The maximum length: in UTF-8 bytes for secrets, in characters for names.
    static var maximumLength: Int { get }
    /// Validates a text.
    /// - Parameter text: The text, as a client sent it or a user typed it.
    /// - Throws: ``TextRefusal``. Its ``TextRefusal/code`` becomes the code of the problem with the field.
    init(_ text: String) throws(TextRefusal)
}

/// The reason why a text was refused.
public enum TextRefusal: Error, Hashable, Sendable, ContractRefusal {
    /// The text is empty. If the type ignores surrounding spaces, a text that consists of spaces is also empty.
    case empty
    /// The text is longer than the type's maximum.
    case tooLong
    /// The text contains a character that is not allowed, such as a control character.
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
    /// Decodes and validates the text of a JSON string.
    /// - Throws: `DecodingError` if the value isn't a string; ``TextRefusal`` if the text is invalid.
    public init(from decoder: any Decoder) throws {
        try self.init(try decoder.singleValueContainer().decode(String.self))
    }

    /// Encodes the text as a JSON string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

/// The token of an emailed link, such as a reset link. It proves that the user received the email, and can be used once. A server stores
/// only the token's digest.
///
/// Its description doesn't contain the token, so a log of the request doesn't contain the token either. An app gets the token from the link
/// that opened it:
///
/// ```swift
/// let link = try ResetLink(url, hosts: ["accounts.example.com"])
/// let request = ValidateResetTokenRequest(token: link.token, email: link.email)
/// ```
public struct ResetToken: BoundedText {
    /// The maximum length of a token, in UTF-8 bytes.
    public static let maximumLength = 512
    /// The secret.
    public let rawValue: String

    /// Validates a token. Spaces are part of the token.
    /// - Parameter text: The token of a link, from 1 to ``maximumLength`` UTF-8 bytes.
    /// - Throws: ``TextRefusal`` if the text is empty or too long. The initializer doesn't check whether the token exists.
    public init(_ text: String) throws(TextRefusal) {
        rawValue = try Secrets.bounded(text, bytes: Self.maximumLength)
    }
}

/// The token that refreshes a session. Each refresh replaces the token. If a client uses a replaced token again, the server ends the
/// session. As an exception, a client can repeat a refresh for ten seconds if the response was lost. The server stores only the digest of a
/// token, and an app stores the token in the keychain.
public struct RefreshToken: BoundedText {
    /// The maximum length of a token, in UTF-8 bytes.
    public static let maximumLength = 512
    /// The secret.
    public let rawValue: String

    /// Validates a token. Spaces are part of the token.
    /// - Parameter text: The token of a session, from 1 to ``maximumLength`` UTF-8 bytes.
    /// - Throws: ``TextRefusal`` if the text is empty or too long. The initializer doesn't check whether the token exists.
    public init(_ text: String) throws(TextRefusal) {
        rawValue = try Secrets.bounded(text, bytes: Self.maximumLength)
    }
}

/// The token that proves that a device has signed in to an account before. It does not authenticate the user. If a sign-in contains this
/// token, failed attempts of other devices don't block it.
public struct DeviceToken: BoundedText {
    /// The maximum length of a token, in UTF-8 bytes.
    public static let maximumLength = 512
    /// The secret.
    public let rawValue: String

    /// Validates a token. Spaces are part of the token.
    /// - Parameter text: The token of a device, from 1 to ``maximumLength`` UTF-8 bytes.
    /// - Throws: ``TextRefusal`` if the text is empty or too long. The initializer doesn't check whether the token exists.
    public init(_ text: String) throws(TextRefusal) {
        rawValue = try Secrets.bounded(text, bytes: Self.maximumLength)
    }
}

/// A password as the user typed it, without any normalization. This type doesn't check the strength of the password, because the server's
/// policy does this. The description doesn't contain the password.
public struct Password: BoundedText {
    /// The maximum length in UTF-8 bytes, far above the maximum of every policy. Without this bound, a client could send very long
    /// passwords, and the server would need much time to normalize and hash them.
    public static let maximumLength = 4_096
    /// The secret.
    public let rawValue: String

    /// Validates the length of a password. Spaces are part of the password.
    /// - Parameter text: The password as the user typed it, from 1 to ``maximumLength`` UTF-8 bytes.
    /// - Throws: ``TextRefusal`` if the text is empty or too long.
    public init(_ text: String) throws(TextRefusal) {
        rawValue = try Secrets.bounded(text, bytes: Self.maximumLength)
    }
}

/// Validates the lengths of secrets.
private enum Secrets {
    /// Returns the text if its length is from 1 to `maximum` UTF-8 bytes.
    /// - Throws: ``TextRefusal/empty`` or ``TextRefusal/tooLong``.
    static func bounded(_ text: String, bytes maximum: Int) throws(TextRefusal) -> String {
        guard !text.isEmpty else { throw .empty }
        guard text.utf8.count <= maximum else { throw .tooLong }
        return text
    }
}

extension BoundedText where Self: SecretText {
    /// A placeholder for the secret, because descriptions are often logged.
    public var description: String { "\(Self.self)(hidden)" }
    /// A placeholder for the secret.
    public var debugDescription: String { description }
    /// A mirror without members.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// A type with a secret text. Its descriptions never contain the text. So `print`, `dump` and the description of an enclosing value can't
/// log the secret by mistake. Read the text with `rawValue`.
public protocol SecretText: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension ResetToken: SecretText {}
extension RefreshToken: SecretText {}
extension DeviceToken: SecretText {}
extension Password: SecretText {}
