import ErrorContract
import Testing

@Suite struct PluralTests {
    /// The numbers of the table below.
    private static let numbers = Array(0...25) + [100, 101, 102, 103, 111, 112, 121, 122, 1_000]

    @Test(
        "A number has the plural category of CLDR",
        arguments: [
            ("en", "o1ooooooooooooooooooooooooooooooooo"),
            ("es", "o1ooooooooooooooooooooooooooooooooo"),
            ("he", "o12oooooooooooooooooooooooooooooooo"),
            ("pt", "11ooooooooooooooooooooooooooooooooo"),
            ("pt-PT", "o1ooooooooooooooooooooooooooooooooo"),
            ("fr", "11ooooooooooooooooooooooooooooooooo"),
            ("de", "o1ooooooooooooooooooooooooooooooooo"),
            ("it", "o1ooooooooooooooooooooooooooooooooo"),
            ("nl", "o1ooooooooooooooooooooooooooooooooo"),
            ("ru", "m1fffmmmmmmmmmmmmmmmm1fffmm1ffmm1fm"),
            ("uk", "m1fffmmmmmmmmmmmmmmmm1fffmm1ffmm1fm"),
            ("be", "m1fffmmmmmmmmmmmmmmmm1fffmm1ffmm1fm"),
            ("pl", "m1fffmmmmmmmmmmmmmmmmmfffmmmffmmmfm"),
            ("cs", "o1fffoooooooooooooooooooooooooooooo"),
            ("sk", "o1fffoooooooooooooooooooooooooooooo"),
            ("hr", "o1fffoooooooooooooooo1fffoo1ffoo1fo"),
            ("sr", "o1fffoooooooooooooooo1fffoo1ffoo1fo"),
            ("bs", "o1fffoooooooooooooooo1fffoo1ffoo1fo"),
            ("ar", "z12ffffffffmmmmmmmmmmmmmmmooofmmmmo"),
            ("ro", "f1ffffffffffffffffffooooooofffffooo"),
            ("ja", "ooooooooooooooooooooooooooooooooooo"),
            ("zh", "ooooooooooooooooooooooooooooooooooo"),
            ("id", "ooooooooooooooooooooooooooooooooooo"),
            ("hi", "11ooooooooooooooooooooooooooooooooo"),
            ("fa", "11ooooooooooooooooooooooooooooooooo"),
            ("hy", "11ooooooooooooooooooooooooooooooooo"),
        ]
    )
    func categories(tag: String, expected: String) {
        let letters: [PluralCategory: Character] = [.zero: "z", .one: "1", .two: "2", .few: "f", .many: "m", .other: "o"]
        for (number, letter) in zip(Self.numbers, expected) {
            #expect(letters[Language(tag).pluralCategory(of: number)] == letter, "\(tag) \(number)")
        }
        #expect(expected.count == Self.numbers.count)
    }

    @Test("Regions except Portugal and signs do not change the category")
    func regions() {
        #expect(Language("pt-BR").pluralCategory(of: 0) == .one)
        #expect(Language("pt-PT").pluralCategory(of: 0) == .other)
        #expect(Language("he-IL").pluralCategory(of: 2) == .two)
        #expect(Language("xx").pluralCategory(of: 1) == .one)
        #expect(Language.english.pluralCategory(of: -1) == .one)
        #expect(Language("ru").pluralCategory(of: Int.min) == .many)
    }

    @Test("A text uses the plural form of its language, or else the form for many")
    func forms() {
        let text = LocalizedText(
            en: PluralForms(one: "one day", other: "{count} days"),
            he: PluralForms(one: "יום אחד", two: "יומיים", other: "{count} ימים"),
            fr: PluralForms(one: "{count} jour", other: "{count} jours"),
            de: "{count} d"
        )
        #expect([0, 1, 2].map { text.counting($0).text(in: .hebrew) } == ["0 ימים", "יום אחד", "יומיים"])
        #expect([0, 1, 2].map { text.counting($0).text(in: .french) } == ["0 jour", "1 jour", "2 jours"])
        #expect([0, 1, 2].map { text.counting($0).text(in: .german) } == ["0 d", "1 d", "2 d"])
        #expect([0, 1, 2].map { text.counting($0).text(in: Language("ja")) } == ["0 days", "one day", "2 days"])
        #expect(text.text(in: .english) == "{count} days", "without a count, the form for many")
    }
}
