/// A machine-readable error code as it travels between server and app, such as `RATE_LIMIT_EXCEEDED`.
///
/// An open struct rather than an enum: a code that this version does not know survives decoding,
/// comparison and re-encoding, so that a newer server never breaks an older app.
public struct ErrorCode: RawRepresentable, Hashable, Sendable, Codable {
    /// The code's text on the wire, upper snake case.
    public let rawValue: String

    /// Creates a code from its text on the wire.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Creates a code from its text on the wire.
    public init(_ rawValue: String) {
        self.init(rawValue: rawValue)
    }

    /// Reads a code from its JSON string, known or not.
    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    /// Writes the code as a JSON string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

extension ErrorCode: CustomStringConvertible {
    /// The code's text on the wire.
    public var description: String { rawValue }
}

/// The group that a code belongs to, named by the code's prefix.
public struct ErrorFamily: RawRepresentable, Hashable, Sendable, Codable {
    /// The prefix shared by the family's codes, without the trailing underscore.
    public let rawValue: String

    /// Creates a family from the prefix of its codes.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Credentials, sessions and accounts.
    public static let authentication = Self(rawValue: "AUTH")
    /// Input that does not have the required shape.
    public static let validation = Self(rawValue: "VALIDATION")
    /// Requests refused because there were too many.
    public static let rateLimit = Self(rawValue: "RATE_LIMIT")
    /// Failures of the server or of something behind it.
    public static let server = Self(rawValue: "SERVER")
    /// Things that are missing, taken, deleted or not the caller's.
    public static let resource = Self(rawValue: "RESOURCE")
    /// Keys for third-party interfaces.
    public static let apiKey = Self(rawValue: "API_KEY")
    /// Connections to social platforms.
    public static let social = Self(rawValue: "SOCIAL")
    /// Generated or published content.
    public static let content = Self(rawValue: "CONTENT")
    /// What an HTTP server itself has to say about a request.
    public static let request = Self(rawValue: "REQUEST")
}
