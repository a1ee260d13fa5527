/// The token of a reset link: what the person holding the mail can show.
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

/// The token that a session is continued with.
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

/// Proof that a device has signed in to an account before. It authenticates nobody: with it, failed attempts of other devices don't
/// stand in the way of a sign-in.
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
