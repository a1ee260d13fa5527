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
