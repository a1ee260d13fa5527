import ErrorContract
import Testing

@Suite struct LocalizedTextTests {
    private static let greeting = LocalizedText(
        en: "Hello {name}",
        es: "Hola {name}",
        pt: "Olá {name}",
        others: [Language("zh-Hant"): "{name}，你好"]
    )

    @Test(
        "Finds a text by language, then by the shortened tag, otherwise in English",
        arguments: [
            ("es", "Hola {name}"), ("es-MX", "Hola {name}"), ("es_mx", "Hola {name}"), ("PT", "Olá {name}"),
            ("en", "Hello {name}"), ("fr", "Hello {name}"), ("", "Hello {name}"), ("-", "Hello {name}"),
            ("zh-Hant-TW", "{name}，你好"), ("zh-hant-x-y", "{name}，你好"), ("zh", "Hello {name}"), ("es-a-b", "Hola {name}"),
        ]
    )
    func lookup(tag: String, expected: String) {
        #expect(Self.greeting.text(in: Language(tag)) == expected)
    }

    @Test("Fills a placeholder in every language")
    func filling() {
        let filled = Self.greeting.filling("name", with: "Ana")
        #expect(filled.text(in: .english) == "Hello Ana")
        #expect(filled.text(in: .spanish) == "Hola Ana")
        #expect(filled.text(in: .portuguese) == "Olá Ana")
    }

    @Test(
        "Does not fill placeholders inside of values",
        arguments: ["{app}", "{name}", "{", "}"]
    )
    func literalValues(value: String) {
        let text = LocalizedText(en: "{name} uses {app}, {name}").filling("name", with: value).filling("app", with: "X")
        #expect(text.text(in: .english) == "\(value) uses X, \(value)")
    }

    @Test("Braces without a name stay unchanged")
    func braces() {
        for text in ["{", "}", "{}", "{unknown}", "a } b { c", "{{name}"] {
            #expect(LocalizedText(en: text).filling("other", with: "x").text(in: .english) == text)
        }
    }

    @Test("A text inside a text is in the same language")
    func nested() {
        let inner = LocalizedText(en: "{count} nights", es: "{count} noches").counting(3)
        let text = LocalizedText(en: "In {when}.", es: "En {when}.").filling("when", with: inner)
        #expect(text.text(in: .spanish) == "En 3 noches.")
        #expect(text.text(in: .english) == "In 3 nights.")
    }

    @Test("A text knows its languages")
    func languages() {
        #expect(Self.greeting.languages == [.english, .spanish, .portuguese, Language("zh-hant")])
    }

    @Test("Texts with the same content are equal, whoever created them")
    func equality() {
        let make = {
            LocalizedText(en: "a {x}", es: "b {x}", others: [Language("it"): "c {x}", Language("nl"): "d {x}"])
                .filling("x", with: "1")
        }
        #expect(make() == make())
        #expect(Set([make(), make()]).count == 1)
        #expect(make() != make().filling("y", with: "1"))
        #expect(LocalizedText(en: "a", es: "b") != LocalizedText(en: "a", es: "c"))
        #expect(LocalizedText(en: "a").counting(1) != LocalizedText(en: "a").counting(2))
    }

    @Test("Compares language tags in lowercase, with hyphens, under their current names")
    func tags() {
        #expect(Language("ES_mx") == Language("es-MX"))
        #expect("\(Language("ES"))" == "es")
        #expect(Language("iw") == .hebrew)
        #expect(Language("IW-il") == Language("he-IL"))
        #expect(Language("ji").rawValue == "yi")
        #expect(Language("in-ID").rawValue == "id-id")
        #expect(Language("iwx").rawValue == "iwx")
    }
}
