import ErrorContract
import Testing

@Suite struct PreferredLanguageTests {
    @Test(
        "Chooses the first language of the user that the app has texts in",
        arguments: [
            (["es-419", "en"], Language.spanish), (["it-IT", "pt-BR", "en"], .portuguese), (["he-IL"], .hebrew),
            (["it"], .english),
            ([], .english),
        ]
    )
    func choice(tags: [String], expected: Language) {
        #expect(Language.preferred(from: tags) == expected)
    }

    @Test("An app adds its own languages and fallback")
    func own() {
        let italian = Language("it")
        #expect(Language.preferred(from: ["it-CH"], available: Language.supported + [italian]) == italian)
        #expect(Language.preferred(from: ["ja"], fallback: .spanish) == .spanish)
        #expect((Language.supported + [.english]).contains(Language.preferred()))
    }
}
