import AccountContract

extension FirstName {
    /// The name for a mail, in which no mail program finds an address to link: whoever registers somebody else's e-mail address
    /// chooses the name that the mails to it greet. A word joiner, which nobody sees, stands behind each dot within a word.
    var unlinked: String {
        var text = String.UnicodeScalarView()
        for scalar in rawValue.unicodeScalars {
            let (dot, before) = (text.last, text.dropLast().last)
            if let dot, let before, Self.dots.contains(dot), Self.isOfWord(before), Self.isOfWord(scalar) {
                text.append("\u{2060}")
            }
            text.append(scalar)
        }
        return String(text)
    }

    /// What separates the labels of a domain name, in the scripts that have a full stop of their own too.
    private static let dots: Set<Unicode.Scalar> = [".", "\u{3002}", "\u{FF0E}", "\u{FF61}"]

    private static func isOfWord(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic || scalar.properties.numericType != nil
    }
}
