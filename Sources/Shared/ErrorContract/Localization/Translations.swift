/// An app's own words for texts of the contract: in a language that the contract does not have, or in place of its words.
///
/// A text is known by its English one, placeholders included, as in a string catalogue:
///
/// ```swift
/// let italian = Translations(Language("it"), [
///     "Too many attempts": "Troppi tentativi",
///     "Too many requests. Please try again in {wait}.": "Troppe richieste. Riprova tra {wait}.",
///     "{count} seconds": PluralForms(one: "{count} secondo", other: "{count} secondi"),
/// ])
/// let catalogue = ErrorCatalogue.standard.saying(italian)
/// ```
/// ``ErrorCatalogue/untranslated(in:)`` tells what is missing.
public struct Translations: Hashable, Sendable {
    private var texts: [Language: [String: PluralForms]] = [:]

    /// No words at all.
    public init() {}

    /// Creates the words for one language.
    /// - Parameters:
    ///   - language: The language of the words.
    ///   - texts: By the English text; of a text that depends on a count, by its form for many.
    public init(_ language: Language, _ texts: [String: PluralForms]) {
        self.texts = [language: texts]
    }

    /// Returns these words and others; of two for the same text in the same language, the other.
    public func adding(_ others: Translations) -> Translations {
        var sum = self
        sum.texts.merge(others.texts) { $0.merging($1) { $1 } }
        return sum
    }

    subscript(language: Language, key: String) -> PluralForms? {
        texts.isEmpty ? nil : texts[language]?[key]
    }
}
