import ErrorContract
import Foundation
import Testing

/// Every text of the sources. The tests find the texts by parsing the sources, so that none is missed.
@Suite struct EveryTextTests {
    /// Texts that are the same in English and in another language.
    private static let sameAsEnglish: [String: Set<Language>] = [
        "Error": [.spanish], "OK": [.spanish, .portuguese, .french, .german], "{count} minutes": [.french],
        "{label}:": [.spanish, .hebrew, .portuguese, .german],
    ]
    /// Texts whose punctuation at the end differs from English by the custom of the language.
    private static let endsOtherwise: [String: Set<Language>] = ["Regards,": [.german]]

    @Test("A text exists in every language", arguments: WrittenText.all)
    func complete(text: WrittenText) {
        let missing = Language.supported.filter { text.forms[$0]?[.other]?.isEmpty != false }
        #expect(missing == [], text.says("missing in \(missing)"), sourceLocation: text.place)
        for (language, forms) in text.forms where forms[.other]?.contains("\\(") == true {
            Issue.record(text.says("\(language) interpolates; fill a placeholder instead"), sourceLocation: text.place)
        }
    }

    @Test("A text differs from the English one, except for words that languages share", arguments: WrittenText.all)
    func translated(text: WrittenText) {
        let same = Language.supported.dropFirst().filter { text.forms[$0]?[.other] == text.english }
        #expect(
            Set(same) == Self.sameAsEnglish[text.english, default: []],
            text.says("same in \(same)"),
            sourceLocation: text.place
        )
    }

    @Test("A text has the same placeholders in every language", arguments: WrittenText.all)
    func placeholders(text: WrittenText) {
        for (language, forms) in text.forms {
            for (category, form) in forms {
                // "one hour" and "two hours" may be words without a number.
                let optional: Set<String> = category == .other ? [] : ["{count}"]
                let (given, expected) = (Self.placeholders(form), Self.placeholders(text.english))
                #expect(
                    given.union(optional) == expected.union(optional),
                    text.says("\(language) \(category) has \(given.sorted())"),
                    sourceLocation: text.place
                )
                #expect(
                    form.count { $0 == "{" } == form.count { $0 == "}" },
                    text.says("\(language)"),
                    sourceLocation: text.place
                )
            }
        }
    }

    @Test("A text with a count has its language's plural forms, or one for all", arguments: WrittenText.all)
    func plurals(text: WrittenText) {
        guard text.english.contains("{count}") else {
            #expect(
                text.forms.values.allSatisfy { $0.count == 1 },
                text.says("forms, but no {count}"),
                sourceLocation: text.place
            )
            return
        }
        for (language, forms) in text.forms where language == .english || Set(forms.keys) != [.other] {
            let told = Set((0...200).map(language.pluralCategory(of:)))
            #expect(Set(forms.keys) == told, text.says("\(language) has \(forms.keys)"), sourceLocation: text.place)
        }
    }

    @Test("A text follows the typography of its language", arguments: WrittenText.all)
    func typography(text: WrittenText) {
        for (language, forms) in text.forms {
            for form in forms.values {
                let note: Comment = text.says("\(language): “\(form)”")
                let stray = ["  ", "\"", "...", "``", "''", "\t", "\n", "( ", " )", " ,", " ."].filter(form.contains)
                #expect(stray == [], note, sourceLocation: text.place)
                #expect(form == form.trimmingCharacters(in: .whitespacesAndNewlines), note, sourceLocation: text.place)
                #expect(language == .english || !form.contains("'"), note, sourceLocation: text.place)
                #expect(!form.unicodeScalars.contains { Self.isInvisible($0) }, note, sourceLocation: text.place)
                let hasWords = form.replacing(/\{[^{}]*\}/, with: "").contains(/\p{Alphabetic}/)
                #expect(form.contains(/[א-ת]/) == (language == .hebrew && hasWords), note, sourceLocation: text.place)
                if language == .spanish {
                    #expect(form.contains("?") == form.contains("¿") && form.contains("!") == form.contains("¡"), note)
                }
                // French separates these by a no-break space; no other language does.
                let apart = form.matches(of: /\u{A0}[?!:;]/).count
                let all = form.matches(of: /[?!:;]/).count
                #expect(apart == (language == .french ? all : 0), note, sourceLocation: text.place)
                let ending = { (text: String) in text.last.flatMap { ".,:?!".contains($0) ? $0 : nil } }
                if Self.endsOtherwise[text.english]?.contains(language) != true {
                    #expect(ending(form) == ending(text.english), note, sourceLocation: text.place)
                }
            }
        }
    }

    @Test("The contract lists all of its texts, so an app can find untranslated ones")
    func known() {
        let written = WrittenText.all.filter { $0.file.hasPrefix("Sources/Shared/ErrorContract/") }.map(\.english)
        let known = ErrorCatalogue.standard.untranslated(in: Language("xx"))
        #expect(Set(written).symmetricDifference(known) == [], "ContractText.all lists those that belong to no code")
    }

    private static func placeholders(_ text: String) -> Set<String> {
        Set(text.matches(of: /\{[^{}]*\}/).map { String($0.output) })
    }

    /// Returns whether a scalar is invisible. Direction marks belong to values, not to texts, and texts need no other invisible
    /// characters.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        [.format, .control].contains(scalar.properties.generalCategory)
    }
}

extension WrittenText {
    /// Returns a finding with its location.
    fileprivate func says(_ finding: String) -> Comment { "\(file):\(line): \(finding) (“\(english)”)" }
}
