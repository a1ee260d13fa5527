import ErrorContract
import Testing

@Suite struct DirectionTests {
    @Test(
        "A language has the direction of its script",
        arguments: [
            ("he", true), ("iw", true), ("he-IL", true), ("ar", true), ("ar-EG", true), ("fa", true), ("ur-PK", true),
            ("yi", true),
            ("ji", true), ("ps", true), ("dv", true), ("ckb", true), ("az-Arab", true), ("uz-arab-AF", true), ("pa-Arab", true),
            ("en", false), ("es", false), ("pt", false), ("fr", false), ("de", false), ("he-Latn", false), ("ar-latn-EG", false),
            ("az", false), ("hear", false), ("zh-Hant", false), ("", false), ("x-arab", false), ("en-x-arab", false),
            ("de-1901", false),
        ]
    )
    func languages(tag: String, expected: Bool) {
        #expect(Language(tag).isRightToLeft == expected)
        #expect("\(Language(tag).direction)" == (expected ? "rtl" : "ltr"))
    }

    @Test(
        "The first letter with a direction gives a text its direction",
        arguments: [
            ("Ana", TextDirection.leftToRight), ("דנה", .rightToLeft), ("سارة", .rightToLeft), ("1 דנה", .rightToLeft),
            ("… (Ana) דנה", .leftToRight), ("Ñandú", .leftToRight), ("李", .leftToRight), ("42", nil), ("", nil), ("!?", nil),
        ]
    )
    func texts(text: String, expected: TextDirection?) {
        #expect(TextDirection(of: text) == expected)
    }
}

/// Values with another direction than the text around them.
@Suite struct IsolationTests {
    private static let text = LocalizedText(en: "Hello {name}, 3 new", he: "שלום {name}, יש 3 חדשים")

    @Test(
        "Isolates a value of the other direction in both directions, and no other",
        arguments: [
            (Language.english, "Ana", "Hello Ana, 3 new"), (.english, "דנה", "Hello \u{2068}דנה\u{2069}, 3 new"),
            (.english, "سارة (2)", "Hello \u{2068}سارة (2)\u{2069}, 3 new"),
            (.english, "Ana דנה", "Hello \u{2068}Ana דנה\u{2069}, 3 new"),
            (.english, "C++", "Hello C++, 3 new"), (.hebrew, "דנה", "שלום דנה, יש 3 חדשים"),
            (.hebrew, "בת שבע", "שלום בת שבע, יש 3 חדשים"), (.hebrew, "Ana", "שלום \u{2068}Ana\u{2069}, יש 3 חדשים"),
            (.hebrew, "C++", "שלום \u{2068}C++\u{2069}, יש 3 חדשים"), (.hebrew, "דנה!", "שלום \u{2068}דנה!\u{2069}, יש 3 חדשים"),
            (.hebrew, "ana@example.com", "שלום \u{2068}ana@example.com\u{2069}, יש 3 חדשים"),
            (.hebrew, "42", "שלום 42, יש 3 חדשים"),
            (.hebrew, "", "שלום , יש 3 חדשים"), (Language("fr"), "דנה", "Hello \u{2068}דנה\u{2069}, 3 new"),
        ]
    )
    func isolation(language: Language, value: String, expected: String) {
        let filled = Self.text.filling("name", with: value)
        #expect(Array(filled.text(in: language).unicodeScalars) == Array(expected.unicodeScalars))
        #expect(filled.runs(in: language).isolated == filled.text(in: language))
    }

    @Test("A value can't end its isolation or reorder the text around it")
    func steering() {
        let attack = "\u{2069}\u{202E}Ana\u{2066}\u{200F}\u{061C}דנה\u{2067}"
        let filled = Self.text.filling("name", with: attack)
        for language in [Language.english, .hebrew] {
            let text = filled.text(in: language)
            #expect(text.contains("\u{2068}Anaדנה\u{2069}"))
            #expect(text.unicodeScalars.count { (0x2066...0x2069).contains($0.value) } == 2)
            #expect(!text.unicodeScalars.contains("\u{202E}"))
        }
    }

    @Test("The runs of a text contain the values to mark up and their direction")
    func runs() {
        let filled = Self.text.filling("name", with: "Ana")
        #expect(filled.runs(in: .english) == [TextRun("Hello Ana, 3 new")])
        #expect(
            filled.runs(in: .hebrew)
                == [TextRun("שלום "), TextRun("Ana", direction: .leftToRight), TextRun(", יש 3 חדשים")]
        )
        #expect(Self.text.filling("name", with: "דנה").runs(in: .english)[1] == TextRun("דנה", direction: .rightToLeft))
        #expect(filled.runs(in: .hebrew).bare == "שלום Ana, יש 3 חדשים")
    }
}
