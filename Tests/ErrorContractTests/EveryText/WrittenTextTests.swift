import ErrorContract
import Testing

/// Tests the parser that the tests of all texts use.
@Suite struct WrittenTextTests {
    @Test("Finds texts in any syntax, with their lines")
    func found() {
        let source = #"""
            // LocalizedText(en: "in a comment")
            /* (en: "another") */
            static let a = LocalizedText(en: "A \"quoted\" \u{A0}one", es: "B")
            let b: LocalizedText = .init(
                en: "first "
                    + "second (not a call",
                he: PluralForms(one: "x", other: "{count} y"),
                others: [Language("it"): "z"]
            )
            let c = f(LocalizedText(en: text, es: "inner"), "en: nothing")
            let d = LocalizedText(en: "has \(value(1)) in it", de: """
                several
                """)
            """#
        let texts = WrittenText.texts(in: source, file: "a.swift")
        #expect(texts.map(\.line) == [3, 4, 10, 11])
        #expect(texts[0].forms == [.english: [.other: "A \"quoted\" \u{A0}one"], .spanish: [.other: "B"]])
        #expect(texts[1].english == "first second (not a call")
        #expect(texts[1].forms[.hebrew] == [.one: "x", .other: "{count} y"])
        #expect(texts[1].forms[Language("it")] == nil)
        #expect(texts[2].forms[.english] == [:])
        #expect(texts[2].forms[.spanish] == [.other: "inner"])
        #expect(texts[3].english == "has \\(…) in it")
        #expect(texts[3].forms[.german]?[.other]?.contains("several") == true)
        #expect(texts[0].testDescription == "a.swift:3")
    }

    @Test("Finds texts in every module")
    func everywhere() {
        let files = WrittenText.all.map(\.file)
        for place in [
            "Sources/Shared/ErrorContract/Catalogue/Standard/", "Sources/Shared/ErrorContract/Localization/",
            "Sources/Server/AccountCore/",
            "Sources/Server/Pages/Mails/", "Sources/Server/Pages/Recovery/", "Sources/Server/Pages/Home/",
            "Examples/TerminalApp/",
        ] {
            #expect(files.contains { $0.hasPrefix(place) }, "\(place)")
        }
        #expect(WrittenText.all.count > 140)
    }
}
