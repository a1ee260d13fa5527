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
