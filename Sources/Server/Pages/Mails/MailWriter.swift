import AccountContract
import ErrorContract

/// Fills the placeholders in the texts of an email, in one language.
struct MailWriter {
    /// The language of the email.
    let language: Language
    /// The name of the app, which fills `{app}`.
    private let appName: String

    /// Creates a writer.
    /// - Parameters:
    ///   - language: The recipient's language. If there are no texts in this language, English is used.
    ///   - appName: The app's name.
    init(language: Language, appName: String) {
        self.language = LanguagePreference(acceptLanguage: language.rawValue)
            .choose(from: Language.supported, fallback: .english)
        self.appName = appName
    }

    /// Returns a subject with the app's name.
    ///
    /// The subject contains no invisible marks, because users and programs search, compare and filter subjects. The app's name is at the
    /// end, so its writing direction can't reorder other text.
    func subject(_ text: LocalizedText) -> String { filled(text).runs(in: language).bare }

    /// Returns a text that has no placeholders.
    func label(_ text: LocalizedText) -> String { text.text(in: language) }

    /// Returns a text for both parts of an email.
    /// - Returns: Two forms of the text. `plain`, for the text part, has invisible marks that isolate the writing direction of the values.
    ///   `runs`, for the HTML part, has markup instead.
    func line(_ text: LocalizedText) -> TemplateValues {
        let runs = filled(text).runs(in: language)
        return ["plain": runs.isolated, "runs": runs.map(\.values)]
    }

    /// Returns the greeting. The name in the greeting is changed so that no mail program turns the name into a link.
    /// - Parameter name: The name; `nil` to greet without a name.
    func greeting(_ name: FirstName?) -> TemplateValues {
        line(name.map { MailTexts.greeting.filling("name", with: $0.rawValue.withoutLinks) } ?? MailTexts.greetingUnnamed)
    }

    /// Returns the button of an email, with the line that replaces it in the text part.
    func button(_ text: LocalizedText, link: String) -> TemplateValues {
        ["label": label(text), "line": label(MailTexts.buttonLine.filling("label", with: text)), "link": link]
    }

    /// The closing with the app's name.
    var closing: TemplateValues { ["regards": label(MailTexts.regards), "team": line(MailTexts.team)] }

    /// Returns the text with the app's name.
    private func filled(_ text: LocalizedText) -> LocalizedText { text.filling("app", with: appName) }
}

extension String {
    /// The text with an invisible word joiner after each dot within a word, so that no mail program turns a part of it into a link. The
    /// joiners are necessary because clients choose the names of users and devices, and these names can appear in emails to other users.
    var withoutLinks: String {
        var text = String.UnicodeScalarView()
        for scalar in unicodeScalars {
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

    /// Returns whether a character can be part of a label of a domain name: a letter or a number of any script.
    private static func isOfWord(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic || scalar.properties.numericType != nil
    }
}
