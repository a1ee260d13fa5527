/// An app's own translations of this library's texts. Translations add a language, or replace the library's texts in a language.
///
/// A text is identified by its English version, including placeholders, as in a string catalog:
///
/// ```swift
/// let italian = Translations(Language("it"), [
///     "Too many attempts": "Troppi tentativi",
///     "Too many requests. Please try again in {wait}.": "Troppe richieste. Riprova tra {wait}.",
///     "{count} seconds": PluralForms(one: "{count} secondo", other: "{count} secondi"),
/// ])
/// let catalogue = ErrorCatalogue.standard.saying(italian)
/// ```
///
/// If a key is not the English version of a text, its translation has no effect, and the library doesn't report the mistake. To find such
/// mistakes, use ``ErrorCatalogue/untranslated(in:)``, which returns the texts without a translation.
public struct Translations: Hashable, Sendable {
    private var texts: [Language: [String: PluralForms]] = [:]

    /// Creates translations without any text.
    public init() {}

    /// Creates the translations into one language.
    /// - Parameters:
    ///   - language: The language of the texts.
    ///   - texts: The translations by English text. If a text depends on a count, its key is the English form for `other`.
    public init(_ language: Language, _ texts: [String: PluralForms]) {
        self.texts = [language: texts]
    }

    /// Returns the union of two translations. If both translate the same text into the same language, the result contains the translation
    /// of the argument.
    /// - Parameter others: Translations into the same or other languages.
    public func adding(_ others: Translations) -> Translations {
        var sum = self
        sum.texts.merge(others.texts) { $0.merging($1) { $1 } }
        return sum
    }

    /// The translation of a text; `nil` if it doesn't exist.
    subscript(language: Language, key: String) -> PluralForms? {
        texts.isEmpty ? nil : texts[language]?[key]
    }
}
