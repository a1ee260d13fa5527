import Foundation

/// The name that a person is greeted by: 1–100 characters on one line, spaces around it removed.
public struct FirstName: BoundedText {
    /// The longest name, in characters.
    public static let maximumLength = 100
    /// The name, without spaces around it.
    public let rawValue: String

    /// Reads a name.
    public init(_ text: String) throws(TextRefusal) {
        // Letters alone, as most names are, have nothing to trim, and are no address.
        if (1...Self.maximumLength).contains(text.utf8.count), text.utf8.allSatisfy({ (0x61...0x7A).contains($0 | 0x20) }) {
            rawValue = text
            return
        }
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !trimmed.isEmpty else { throw .empty }
        guard trimmed.count <= Self.maximumLength, trimmed.utf8.count <= 4 * Self.maximumLength else { throw .tooLong }
        guard trimmed.unicodeScalars.allSatisfy(Self.isPlain), !Self.isAddress(trimmed) else { throw .forbiddenCharacter }
        rawValue = trimmed
    }

    /// A name greets its owner in mails of ours: an address in it would be somebody's advertisement in somebody else's mailbox.
    private static func isAddress(_ text: String) -> Bool {
        let folded = text.lowercased()
        return folded.contains("://") || folded.contains("www.")
    }

    /// Control, invisible and bidirectional formatting characters could rearrange the mail that greets the person; the two joiners
    /// belong to the spelling of names.
    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        case .format: scalar == "\u{200C}" || scalar == "\u{200D}"
        default: true
        }
    }
}
