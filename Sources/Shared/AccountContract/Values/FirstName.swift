import Foundation

/// The name with which emails and screens greet a user: 1 to 60 characters on one line, without surrounding spaces.
///
/// A name consists of letters, marks, spaces and the characters `'`, `’`, `.` and `-`. Digits and web addresses are not allowed. Otherwise,
/// an attacker who registers another user's address could send text such as a phone number or a link in the emails to that user.
public struct FirstName: BoundedText {
    /// The maximum length of a name, in characters.
    public static let maximumLength = 60
    /// The maximum length of an existing name, in characters. Earlier versions and other systems accepted names of up to this length.
    private static let longestStored = 100
    /// The name, without surrounding spaces.
    public let rawValue: String

    /// Validates the name of a new account.
    /// - Parameter text: The name. The initializer removes surrounding spaces.
    /// - Throws: ``TextRefusal`` if the name is invalid, has no letter, or could become a link in an email program.
    public init(_ text: String) throws(TextRefusal) {
        if Self.isLetters(text, atMost: Self.maximumLength) {
            rawValue = text
            return
        }
        rawValue = try Self.trimmed(text)
        guard rawValue.count <= Self.maximumLength else { throw .tooLong }
        let scalars = rawValue.unicodeScalars
        guard scalars.allSatisfy(Self.isOfNames), scalars.contains(where: \.properties.isAlphabetic), !Self.isDomain(scalars)
        else { throw .forbiddenCharacter }
    }

    /// Validates the name of an existing account, from the database or from another system. Such a name can have up to 100 characters, and
    /// can contain digits and signs that aren't allowed in new names.
    ///
    /// Use it only for names that the server or another system has already accepted. For names from a client, use ``init(_:)``.
    /// - Parameter text: The stored name.
    /// - Throws: ``TextRefusal`` for an empty name, more than 100 characters, a control or invisible character, or the beginning of a web
    ///   address.
    public init(stored text: String) throws(TextRefusal) {
        rawValue = Self.isLetters(text, atMost: Self.longestStored) ? text : try Self.trimmed(text)
    }

    /// Returns whether a text consists of ASCII letters. This is the case for most names.
    private static func isLetters(_ text: String, atMost limit: Int) -> Bool {
        (1...limit).contains(text.utf8.count) && text.utf8.allSatisfy { (0x61...0x7A).contains($0 | 0x20) }
    }

    /// Returns the text without surrounding white space, after the checks that apply to every name.
    private static func trimmed(_ text: String) throws(TextRefusal) -> String {
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !trimmed.isEmpty else { throw .empty }
        guard trimmed.count <= longestStored, trimmed.utf8.count <= 4 * longestStored else { throw .tooLong }
        guard trimmed.unicodeScalars.allSatisfy(isPlain), !isAddress(trimmed) else { throw .forbiddenCharacter }
        return trimmed
    }

    /// Returns whether a character can be part of a new name.
    private static func isOfNames(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter: true
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        // The two joiners are part of the spelling of some names.
        case .format: isJoiner(scalar)
        default: signs.contains(scalar)
        }
    }

    /// The characters other than letters and marks.
    private static let signs: Set<Unicode.Scalar> = [" ", "'", "’", ".", "-"]

    /// Returns whether a dot is followed by two letters or marks, as in a domain name. Initials such as `J.R.` have only one letter after a
    /// dot.
    private static func isDomain(_ scalars: String.UnicodeScalarView) -> Bool {
        zip(zip(scalars, scalars.dropFirst()), scalars.dropFirst(2)).contains { pair, third in
            pair.0 == "." && !signs.contains(pair.1) && !signs.contains(third)
        }
    }

    /// Returns whether a text contains the beginning of a web address.
    private static func isAddress(_ text: String) -> Bool {
        let folded = text.lowercased()
        return folded.contains("://") || folded.contains("www.")
    }

    /// Returns whether a character is not a control, invisible or bidirectional formatting character. Such a character could change the
    /// order of the text in an email.
    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        case .format: isJoiner(scalar)
        default: true
        }
    }

    /// Returns whether a character is the zero-width non-joiner or the zero-width joiner.
    private static func isJoiner(_ scalar: Unicode.Scalar) -> Bool { scalar == "\u{200C}" || scalar == "\u{200D}" }
}
