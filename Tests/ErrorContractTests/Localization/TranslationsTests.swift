import ErrorContract
import Foundation
import Testing

@Suite struct TranslationsTests {
    private static let italian = Language("it")
    private static let translations = Translations(
        italian,
        [
            "Too many attempts": "Troppi tentativi", "Cancel": "Annulla", "Try Again": "Riprova",
            "Too many requests. Please try again in {wait}.": "Troppe richieste. Riprova tra {wait}.",
            "{count} seconds": PluralForms(one: "{count} secondo", other: "{count} secondi"),
            "We could not find this account.": "Account non trovato.",
        ]
    )
    private static let catalogue = ErrorCatalogue.standard.saying(translations)
    private static let now = Date(timeIntervalSince1970: 1_762_252_200)

    @Test(
        "Presentations, their actions and waits use an app's own language",
        arguments: [(1, "1 secondo"), (45, "45 secondi")]
    )
    func presentation(seconds: Int, wait: String) {
        var error = APIError(kind: .rateLimited, code: .rateLimitExceeded, recovery: .wait)
        error.retryAfter = .seconds(seconds)
        let shown = error.presentation(in: Language("it-CH"), now: Self.now, catalogue: Self.catalogue)
        #expect(shown.title == "Troppi tentativi")
        #expect(shown.message == "Troppe richieste. Riprova tra \(wait).")
        #expect(shown.primaryLabel(in: Self.italian, catalogue: Self.catalogue) == "Riprova")
        #expect(shown.secondaryLabel(in: Self.italian, catalogue: Self.catalogue) == "Annulla")
    }

    @Test("The text of a code is in the app's own language")
    func code() {
        let error = APIError(kind: .notFound, code: .authUserNotFound)
        #expect(error.presentation(in: Self.italian, now: Self.now, catalogue: Self.catalogue).message == "Account non trovato.")
        #expect(error.presentation(in: Self.italian, now: Self.now).message == "We could not find this account.")
    }

    @Test("An app's own texts override the contract's, for a region or a language")
    func overriding() {
        let words = Translations(Language("es-AR"), ["Please sign in again.": "Volvé a iniciar sesión."])
            .adding(Translations(.english, ["Please sign in again.": "Sign in once more."]))
        let catalogue = ErrorCatalogue.standard.saying(words)
        #expect(catalogue.text(ContractText.sessionExpired, in: Language("es-AR")) == "Volvé a iniciar sesión.")
        #expect(catalogue.text(ContractText.sessionExpired, in: .spanish) == "Por favor, inicia sesión de nuevo.")
        #expect(catalogue.text(ContractText.sessionExpired, in: .english) == "Sign in once more.")
        #expect(catalogue.text(ContractText.sessionExpired, in: Language("xx")) == "Sign in once more.")
    }

    @Test("Of two texts with one key the later wins, and codes added later keep it")
    func merging() throws {
        let later = Translations(Self.italian, ["Cancel": "Chiudi"])
        let catalogue = try Self.catalogue.saying(later).adding([])
        #expect(catalogue.text(ContractText.cancel, in: Self.italian) == "Chiudi")
        #expect(catalogue.text(ContractText.retry, in: Self.italian) == "Riprova")
    }

    @Test("Lists each text that an app has not translated, once")
    func untranslated() {
        let missing = Self.catalogue.untranslated(in: Self.italian)
        #expect(Set(missing).count == missing.count)
        #expect(missing.contains("{count} hours"))
        #expect(missing.contains("Invalid email or password"))
        #expect(!missing.contains("{count} seconds"))
        #expect(!missing.contains("We could not find this account."))
        for language in Language.supported + [Language("es-MX")] { #expect(Self.catalogue.untranslated(in: language) == []) }
        let rest = Translations(Self.italian, Dictionary(uniqueKeysWithValues: missing.map { ($0, PluralForms(other: "x")) }))
        #expect(Self.catalogue.saying(rest).untranslated(in: Self.italian) == [])
    }
}
