import ErrorContract
import Testing

@Suite struct LanguagePreferenceTests {
    private static let none = Language("zz")

    @Test(
        "Chooses the available language with the highest weight",
        arguments: [
            ("es", Language.spanish), ("ES", .spanish), ("es-MX", .spanish), ("es-419", .spanish), ("es-x-private", .spanish),
            ("es-MX,en;q=0.8", .spanish), ("en;q=0.5, es;q=0.9", .spanish), ("en;q=0.123, es;q=0.124", .spanish),
            ("it, es;q=0.1", .spanish), ("zh-Hant-TW, es", .spanish), ("en;Q=0.1, es;Q=0.2", .spanish),
            ("en;level=1;q=0.3, es;q=0.4", .spanish), ("\t es \t;\t q=0.7", .spanish), ("en-US,en;q=0.9,es;q=0.8", .english),
        ]
    )
    func wanted(header: String, expected: Language) {
        #expect(LanguagePreference(acceptLanguage: header).choose(from: Language.supported, fallback: Self.none) == expected)
    }

    @Test(
        "Of equally weighted languages the first wins",
        arguments: [
            ("es;q=0.5, en;q=0.5", Language.spanish), ("en;q=0.5, es;q=0.5", .english), ("es, en", .spanish),
            ("en, es", .english),
        ]
    )
    func ties(header: String, expected: Language) {
        #expect(LanguagePreference(acceptLanguage: header).choose(from: Language.supported, fallback: Self.none) == expected)
    }

    @Test(
        "Returns the fallback if nothing matches",
        arguments: [
            nil, "", "it", "*", "*;q=0.1", "es;q=0", "es;q=0.0", "es;q=1.5", "es;q=-1", "es;q=nan", "es;q=inf", "es;q=abc",
            "es;q=",
            ";;;,,,", "español", "e s", "es--mx", "-es", "es-", "es_MX", "es-muchtoolongsubtag", "q=1", "\u{0}", "💥",
        ]
    )
    func fallback(header: String?) {
        #expect(LanguagePreference(acceptLanguage: header).choose(from: Language.supported, fallback: Self.none) == Self.none)
    }

    @Test(
        "Skips a wildcard, which names no language",
        arguments: [("*, es;q=0.5", Language.spanish), ("*;q=0.9, en;q=0.1", .english), ("it, *, es", .spanish)]
    )
    func wildcard(header: String, expected: Language) {
        #expect(LanguagePreference(acceptLanguage: header).choose(from: Language.supported, fallback: Self.none) == expected)
    }

    @Test(
        "Unwanted and unreadable entries do not hide the rest",
        arguments: ["en;q=0, es", "💥, es", "en;q=2, es;q=1"]
    )
    func garbageAside(header: String) {
        #expect(LanguagePreference(acceptLanguage: header).choose(from: Language.supported, fallback: Self.none) == .spanish)
    }

    @Test(
        "Finds each supported language, also by region, script or old name",
        arguments: [
            ("pt-BR", Language.portuguese), ("pt-PT", .portuguese), ("iw", .hebrew), ("iw-IL;q=0.9, en;q=0.8", .hebrew),
            ("he-IL,he;q=0.9,en-US;q=0.8,en;q=0.7", .hebrew), ("he-Hebr-IL", .hebrew), ("de-AT;q=0.5, fr", .french),
            ("fr-CA", .french), ("de-AT;q=0.5, fr;q=0.4", .german), ("de-CH-1996", .german), ("it-IT, pt-BR;q=0.8, en", .english),
            ("it-IT, pt-BR, en;q=0.9", .portuguese), ("sv, de;q=0", .english), ("ar, iw;q=0.2", .hebrew), ("DE_at", .english),
        ]
    )
    func supported(header: String, expected: Language) {
        #expect(LanguagePreference(acceptLanguage: header).choose(from: Language.supported, fallback: .english) == expected)
    }

    @Test("Prefers a region over the bare language if it has a text")
    func region() {
        let available = [Language("pt"), Language("pt-BR"), .english]
        #expect(LanguagePreference(acceptLanguage: "pt-BR").choose(from: available, fallback: .english) == Language("pt-br"))
        #expect(LanguagePreference(acceptLanguage: "pt-PT").choose(from: available, fallback: .english) == Language("pt"))
    }

    @Test("Reads at most 32 ranges")
    func bound() {
        let noise = String(repeating: "it,", count: 32)
        #expect(
            LanguagePreference(acceptLanguage: noise + "es").choose(from: Language.supported, fallback: Self.none) == Self.none
        )
        #expect(
            LanguagePreference(acceptLanguage: noise.dropFirst(3) + "es").choose(from: [.spanish], fallback: .english) == .spanish
        )
    }
}
