extension ErrorCatalogue {
    /// Returns the same codes with an app's own words, which go before those of the codes and of the contract.
    ///
    /// ``APIError/presentation(in:now:catalogue:)`` and the screens of `AccountKit` say them, and so does a server whose
    /// renderer has the catalogue.
    public func saying(_ translations: Translations) -> ErrorCatalogue {
        var speaking = self
        speaking.translations = self.translations.adding(translations)
        return speaking
    }

    /// A text in a language, in the app's own words if there are some.
    public func text(_ text: LocalizedText, in language: Language) -> String {
        text.text(in: language, saying: translations)
    }

    /// The English texts of the codes and of the contract that have no text in a language: empty if an app has translated
    /// everything that it may come to show. For a test of the app's.
    public func untranslated(in language: Language) -> [String] {
        var seen: Set<String> = []
        return (definitions.map(\.message) + ContractText.all)
            .filter { !$0.exists(in: language, saying: translations) && seen.insert($0.table.key).inserted }
            .map(\.table.key)
    }
}
