/// One text in every language of the contract.
public struct LocalizedText: Hashable, Sendable {
    private let english: String
    private let translations: [Language: String]

    /// Creates a text.
    /// - Parameters:
    ///   - en: The English text, which is also the fallback.
    ///   - es: The Spanish text.
    ///   - others: Texts in further languages, which an app may add.
    public init(en: String, es: String, others: [Language: String] = [:]) {
        self.english = en
        self.translations = others.merging([.spanish: es]) { given, _ in given }
    }

    /// The text in a language, or in the language without its region (`es` for `es-mx`), or in English.
    public func text(in language: Language) -> String {
        if let exact = translations[language] { return exact }
        guard let primary = language.rawValue.split(separator: "-").first else { return english }
        return translations[Language(String(primary))] ?? english
    }

    /// The languages that the text exists in.
    public var languages: Set<Language> { Set(translations.keys).union([.english]) }

    /// A text with each occurrence of a placeholder such as `{name}` replaced, in every language.
    public func filling(_ placeholder: String, with value: String) -> LocalizedText {
        mapping { _, text in text.replacing("{\(placeholder)}", with: value) }
    }

    /// A text made from this one, language by language.
    public func mapping(_ transform: (Language, String) -> String) -> LocalizedText {
        LocalizedText(
            english: transform(.english, english),
            translations: Dictionary(uniqueKeysWithValues: translations.map { ($0, transform($0, $1)) })
        )
    }

    private init(english: String, translations: [Language: String]) {
        self.english = english
        self.translations = translations
    }
}
