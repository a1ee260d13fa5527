public import Foundation

extension Language {
    /// Returns the language of the device's user, among those that an app has texts in.
    ///
    /// ```swift
    /// let api = APIClient(baseURL: url, language: .preferred())
    /// ```
    ///
    /// A server reads the same from `Accept-Language` with ``LanguagePreference``. O(tags · available).
    /// - Parameters:
    ///   - tags: BCP 47 tags, the most preferred one first; by default those of the system settings.
    ///   - available: The languages that the app has texts in; add those of ``Translations`` to ``supported``.
    ///   - fallback: The language if no tag matches.
    public static func preferred(
        from tags: [String] = Locale.preferredLanguages,
        available: [Language] = Language.supported,
        fallback: Language = .english
    ) -> Language {
        LanguagePreference(acceptLanguage: tags.joined(separator: ",")).choose(from: available, fallback: fallback)
    }
}
