import Foundation
import Holdfast
import HoldfastTesting
import Testing

/// Runs the example of `docs/app/localization.md`.
@Suite struct LocalizationPageTests {
    @Test("An app adds a language and can list the texts that it lacks")
    func language() throws {
        let url = try #require(URL(string: "https://api.example.com"))
        // snippet: language-of-an-app
        let italian = Translations(
            Language("it"),
            [
                "Too many attempts": "Troppi tentativi",
                "Too many requests. Please try again in {wait}.": "Troppe richieste. Riprova tra {wait}.",
                "{count} seconds": PluralForms(one: "{count} secondo", other: "{count} secondi"),
            ]
        )
        let catalogue = ErrorCatalogue.standard.saying(italian)
        let api = APIClient(baseURL: url, language: Language("it"), catalogue: catalogue)
        // snippet end
        var error = APIError(kind: .rateLimited, code: .rateLimitExceeded, recovery: .wait)
        error.retryAfter = .seconds(5)
        let shown = error.presentation(in: api.language, now: Date(), catalogue: api.catalogue)
        #expect(shown.title == "Troppi tentativi")
        #expect(shown.message == "Troppe richieste. Riprova tra 5 secondi.")
        #expect(!api.catalogue.untranslated(in: Language("it")).isEmpty)
    }
}
