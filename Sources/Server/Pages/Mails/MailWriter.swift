import AccountContract
import ErrorContract

/// Puts the texts of a mail into one language, with the app's name in them.
struct MailWriter {
    /// The language that the mail is written in.
    let language: Language
    private let appName: String

    /// Creates a writer.
    /// - Parameter language: The reader's language; what there are no texts in is written in English.
    init(language: Language, appName: String) {
        self.language = LanguagePreference(acceptLanguage: language.rawValue)
            .choose(from: Language.supported, fallback: .english)
        self.appName = appName
    }

    /// A subject. It stays exact, without marks that nobody sees: a subject is searched for, compared and judged by filters, and
    /// the app's name stands at its end, where nothing follows that it could reorder.
    func subject(_ text: LocalizedText) -> String { filled(text).runs(in: language).bare }

    /// A text without values.
    func label(_ text: LocalizedText) -> String { text.text(in: language) }

    /// A text as both parts of an email show it: with marks between the characters, and with markup.
    func line(_ text: LocalizedText) -> TemplateValues {
        let runs = filled(text).runs(in: language)
        return ["plain": runs.isolated, "runs": runs.map(\.values)]
    }

    func greeting(_ name: FirstName) -> TemplateValues {
        line(MailTexts.greeting.filling("name", with: name.unlinked))
    }

    var closing: TemplateValues { ["regards": label(MailTexts.regards), "team": line(MailTexts.team)] }

    private func filled(_ text: LocalizedText) -> LocalizedText { text.filling("app", with: appName) }
}

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

    /// The dots that separate the labels of a domain name, in all scripts.
    private static let dots: Set<Unicode.Scalar> = [".", "\u{3002}", "\u{FF0E}", "\u{FF61}"]

    private static func isOfWord(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic || scalar.properties.numericType != nil
    }
}
