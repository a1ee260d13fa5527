/// A machine-readable error code that servers and apps exchange, such as `RATE_LIMIT_EXCEEDED`.
///
/// The type is a struct rather than an enumeration, so it can have a value that the app doesn't know. Decoding and encoding preserve such a
/// value, so the codes of a newer server never break an older app.
///
/// ```swift
/// extension ErrorCode {
///     static let paymentDeclined = Self("PAYMENT_DECLINED")
/// }
/// ```
///
/// Two codes are equal if their texts are equal; compare them with `==`. ``ErrorCatalogue`` has the definitions.
public struct ErrorCode: RawRepresentable, Hashable, Sendable, Codable {
    /// The text of the code in responses. The library's own codes are in upper snake case. Codes of other servers keep their format.
    public let rawValue: String

    /// Creates a code from its text. The text isn't validated.
    /// - Parameter rawValue: The text, in upper snake case for the library's own codes.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Creates a code from its text.
    public init(_ rawValue: String) {
        self.init(rawValue: rawValue)
    }

    /// Decodes a code from a JSON string. The code can be unknown.
    /// - Throws: `DecodingError` if the value isn't a string.
    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    /// Encodes the code as a JSON string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

extension ErrorCode: CustomStringConvertible {
    /// The text of the code.
    public var description: String { rawValue }
}

/// A group of codes with a common prefix. A server that defines its own codes also defines a family for them, such as
/// `ErrorFamily(rawValue: "PAYMENT")`.
public struct ErrorFamily: RawRepresentable, Hashable, Sendable, Codable {
    /// The prefix shared by the family's codes, without the trailing underscore.
    public let rawValue: String

    /// Creates a family from the prefix of its codes.
    /// - Parameter rawValue: The prefix without the trailing underscore, such as `PAYMENT`.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Credentials, sessions and accounts.
    public static let authentication = Self(rawValue: "AUTH")
    /// Input that does not have the required shape.
    public static let validation = Self(rawValue: "VALIDATION")
    /// Requests refused because of rate limits.
    public static let rateLimit = Self(rawValue: "RATE_LIMIT")
    /// Failures of the server or of a service that it depends on.
    public static let server = Self(rawValue: "SERVER")
    /// Resources that are missing, taken, deleted or not accessible to the caller.
    public static let resource = Self(rawValue: "RESOURCE")
    /// Keys for third-party APIs.
    public static let apiKey = Self(rawValue: "API_KEY")
    /// Connections to social platforms.
    public static let social = Self(rawValue: "SOCIAL")
    /// Generated or published content.
    public static let content = Self(rawValue: "CONTENT")
    /// Requests that the HTTP server can't process.
    public static let request = Self(rawValue: "REQUEST")
}
