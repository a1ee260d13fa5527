import Foundation

/// The name that a person is greeted by: 1–100 characters on one line, spaces around it removed.
public struct FirstName: BoundedText {
    /// The longest name, in characters.
    public static let maximumLength = 100
    /// The name, without spaces around it.
    public let rawValue: String

    /// Reads a name.
    public init(_ text: String) throws(TextRefusal) {
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !trimmed.isEmpty else { throw .empty }
        guard trimmed.count <= Self.maximumLength, trimmed.utf8.count <= 4 * Self.maximumLength else { throw .tooLong }
        guard trimmed.unicodeScalars.allSatisfy(Self.isPlain) else { throw .forbiddenCharacter }
        rawValue = trimmed
    }

    /// Control and bidirectional formatting characters could rearrange the mail that greets the person.
    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: !(0x202A...0x202E).contains(scalar.value) && !(0x2066...0x2069).contains(scalar.value)
        }
    }
}
