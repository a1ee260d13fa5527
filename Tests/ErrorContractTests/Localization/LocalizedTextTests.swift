import ErrorContract
import Testing

@Suite struct LocalizedTextTests {
    private static let greeting = LocalizedText(en: "Hello {name}", es: "Hola {name}", others: [Language("pt"): "Olá {name}"])

    @Test(
        "A text is found by language, by the language without its region, else in English",
        arguments: [
            ("es", "Hola {name}"), ("es-MX", "Hola {name}"), ("es_mx", "Hola {name}"), ("PT", "Olá {name}"),
            ("en", "Hello {name}"), ("fr", "Hello {name}"), ("", "Hello {name}"), ("-", "Hello {name}"),
        ]
    )
    func lookup(tag: String, expected: String) {
        #expect(Self.greeting.text(in: Language(tag)) == expected)
    }

    @Test("A placeholder is filled in every language")
    func filling() {
        let filled = Self.greeting.filling("name", with: "Ana")
        #expect(filled.text(in: .english) == "Hello Ana")
        #expect(filled.text(in: .spanish) == "Hola Ana")
        #expect(filled.text(in: Language("pt")) == "Olá Ana")
    }

    @Test("A text knows its languages")
    func languages() {
        #expect(Self.greeting.languages == [.english, .spanish, Language("pt")])
    }

    @Test("A language tag is compared in lower case, with hyphens")
    func tags() {
        #expect(Language("ES_mx") == Language("es-MX"))
        #expect("\(Language("ES"))" == "es")
    }
}
