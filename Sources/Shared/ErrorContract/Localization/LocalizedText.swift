/// A text in several languages, with placeholders such as `{name}` for values.
///
/// ```swift
/// LocalizedText(en: "Card declined", es: "Tarjeta rechazada", others: [Language("it"): "Carta rifiutata"])
/// ```
///
/// A text of this library exists in all languages in ``Language/supported``. A text of an app needs only the languages of the app.
///
/// `filling(_:with:)` replaces a placeholder by a value. A placeholder without a value stays in the text. If a text depends on a number,
/// use ``PluralForms`` with ``counting(_:)``. In HTML, use ``runs(in:)`` to mark up the inserted values.
///
/// Copying a text and filling a placeholder are cheap, because only ``text(in:)`` builds the resulting string.
public struct LocalizedText: Hashable, Sendable {
    /// The texts by language, shared by all copies.
    let table: TextTable
    /// The number that chooses the plural form.
    private var count: Int?
    /// The values of placeholders. If a placeholder was filled twice, the first value applies.
    private var fillings: [Filling] = []

    /// Creates a text.
    /// - Parameters:
    ///   - en: The English text, which is also the fallback.
    ///   - es: The Spanish text.
    ///   - he: The Hebrew text.
    ///   - pt: The Portuguese text.
    ///   - fr: The French text.
    ///   - de: The German text.
    ///   - others: Texts in further languages.
    public init(
        en: String,
        es: String? = nil,
        he: String? = nil,
        pt: String? = nil,
        fr: String? = nil,
        de: String? = nil,
        others: [Language: String] = [:]
    ) {
        let forms = { (text: String?) in text.map { PluralForms(other: $0) } }
        self.init(
            en: PluralForms(other: en),
            es: forms(es),
            he: forms(he),
            pt: forms(pt),
            fr: forms(fr),
            de: forms(de),
            others: others.mapValues { PluralForms(other: $0) }
        )
    }

    /// Creates a text that depends on a count. ``counting(_:)`` sets the count, which determines the form. A text without a count uses the
    /// form `other`.
    /// - Parameters:
    ///   - en: The English forms, which are also the fallback.
    ///   - es: The Spanish forms.
    ///   - he: The Hebrew forms.
    ///   - pt: The Portuguese forms.
    ///   - fr: The French forms.
    ///   - de: The German forms.
    ///   - others: Forms in further languages. They take precedence over the other parameters.
    public init(
        en: PluralForms,
        es: PluralForms? = nil,
        he: PluralForms? = nil,
        pt: PluralForms? = nil,
        fr: PluralForms? = nil,
        de: PluralForms? = nil,
        others: [Language: PluralForms] = [:]
    ) {
        let named: [(Language, PluralForms?)] = [
            (.english, en), (.spanish, es), (.hebrew, he), (.portuguese, pt), (.french, fr), (.german, de),
        ]
        var texts = others.sorted { $0.key.rawValue < $1.key.rawValue }.map { TextTable.Entry(language: $0, forms: $1) }
        for (language, forms) in named where others[language] == nil {
            if let forms { texts.append(.init(language: language, forms: forms)) }
        }
        table = TextTable(english: en, entries: texts)
    }

    /// Returns the text in a language. If the text doesn't exist in this language, the method shortens the tag from the right, such as
    /// `es-mx` to `es`. If no text is found, the method returns the English text.
    ///
    /// An inserted value can have another direction than the text, such as a Latin name in a Hebrew text. The method encloses such a value
    /// in U+2068 and U+2069. Without these characters, the value could change the order of the words around it. If these characters are not
    /// allowed, use ``runs(in:)``.
    /// - Parameter language: The language of the user.
    /// - Complexity: O(length of the text + number of languages).
    public func text(in language: Language) -> String {
        text(in: language, saying: Translations())
    }

    /// Returns the text in a language as runs of words and inserted values. The method chooses the language as ``text(in:)`` does.
    /// - Parameter language: The language of the user.
    public func runs(in language: Language) -> [TextRun] {
        runs(in: language, saying: Translations())
    }

    /// The languages in which the text exists, including English but without an app's own ``Translations``.
    public var languages: Set<Language> { Set(table.entries.map(\.language)).union([.english]) }

    /// Returns the text with each occurrence of a placeholder replaced by a value, in every language.
    /// - Parameters:
    ///   - placeholder: The name without braces. If the text doesn't contain the placeholder, the value has no effect.
    ///   - value: The value. A placeholder within the value isn't replaced, so the value can come from a user.
    /// - Complexity: O(number of filled placeholders). The text is built later, by ``text(in:)``.
    public func filling(_ placeholder: String, with value: String) -> LocalizedText {
        filling(Filling(placeholder: placeholder, value: .inserted(value)))
    }

    /// Returns the text with each occurrence of a placeholder replaced by another text, in every language.
    /// - Parameters:
    ///   - placeholder: The name without braces.
    ///   - text: The text to insert. It is inserted in the user's language, even if the surrounding text is in its fallback language.
    public func filling(_ placeholder: String, with text: LocalizedText) -> LocalizedText {
        filling(Filling(placeholder: placeholder, value: .text(text)))
    }

    /// Returns the text with the plural form that a number requires.
    /// - Parameter count: The number, which also replaces `{count}`.
    public func counting(_ count: Int) -> LocalizedText {
        var counted = self
        counted.count = count
        return counted
    }

    /// Returns a copy with one more value of a placeholder.
    private func filling(_ filling: Filling) -> LocalizedText {
        var filled = self
        filled.fillings.append(filling)
        return filled
    }
}

extension LocalizedText {
    /// The value of a placeholder.
    private struct Filling: Hashable, Sendable {
        enum Value: Hashable, Sendable {
            case inserted(String)
            case text(LocalizedText)
        }

        let placeholder: String
        let value: Value
    }

    /// Implements ``text(in:)``, with an app's own translations.
    func text(in language: Language, saying translations: Translations) -> String {
        let (spoken, forms) = forms(for: language, in: translations)
        guard count != nil || !fillings.isEmpty else { return forms.other }
        return runs(of: forms, in: spoken, asked: language, saying: translations).isolated
    }

    /// Implements ``runs(in:)``, with an app's own translations.
    func runs(in language: Language, saying translations: Translations) -> [TextRun] {
        let (spoken, forms) = forms(for: language, in: translations)
        return runs(of: forms, in: spoken, asked: language, saying: translations)
    }

    /// Returns whether a text exists in a language, so that ``text(in:)`` doesn't need the English fallback.
    func exists(in language: Language, saying translations: Translations) -> Bool {
        found(for: language, in: translations) != nil
    }

    /// Returns the text in a language or its fallback, and the language of the returned text.
    private func forms(for language: Language, in translations: Translations) -> (Language, PluralForms) {
        found(for: language, in: translations) ?? (.english, translations[.english, table.key] ?? table.english)
    }

    /// Returns the text in a language, and the language of the returned text. If there is no text for a tag, the method shortens the tag
    /// (RFC 4647 §3.4).
    ///
    /// For each tag, a translation of the app takes precedence over the text of the library.
    /// - Returns: `nil` if the text exists neither for the tag of the language nor for a shortened tag.
    private func found(for language: Language, in translations: Translations) -> (Language, PluralForms)? {
        var tag: Language? = language
        while let language = tag {
            if let forms = translations[language, table.key] ?? table[language] { return (language, forms) }
            tag = language.parent
        }
        return nil
    }

    /// Splits a text at its placeholders.
    /// - Parameters:
    ///   - forms: The text in a language.
    ///   - spoken: The language of `forms`. It determines the plural form and the direction.
    ///   - asked: The language of the user. An inserted text is in this language, if the text exists in this language.
    ///   - translations: The app's own translations.
    private func runs(
        of forms: PluralForms,
        in spoken: Language,
        asked: Language,
        saying translations: Translations
    ) -> [TextRun] {
        let template = forms[count.map(spoken.pluralCategory(of:)) ?? .other]
        var runs: [TextRun] = []
        var words = ""
        var rest = template[...]
        while let open = rest.utf8.firstIndex(of: UInt8(ascii: "{")),
            let close = rest[open...].utf8.firstIndex(of: UInt8(ascii: "}"))
        {
            words += rest[..<open]
            let name = rest[rest.utf8.index(after: open)..<close]
            switch fillings.first(where: { $0.placeholder == name })?.value {
            case .inserted(let value):
                let run = TextRun(value: value, in: spoken.direction)
                if run.direction == nil {
                    words += run.text
                } else {
                    if !words.isEmpty { runs.append(TextRun(words)) }
                    runs.append(run)
                    words = ""
                }
            case .text(let text): words += text.text(in: asked, saying: translations)
            case nil:
                if name == "count", let count { words += "\(count)" } else { words += rest[open...close] }
            }
            rest = rest[rest.utf8.index(after: close)...]
        }
        words += rest
        if !words.isEmpty || runs.isEmpty { runs.append(TextRun(words)) }
        return runs
    }
}

/// The text in all languages, shared by all copies of a ``LocalizedText``. The type is a class, because a struct with seven texts would be
/// expensive to copy.
final class TextTable: Hashable, Sendable {
    /// The text in one language.
    struct Entry: Hashable, Sendable {
        let language: Language
        let forms: PluralForms
    }

    /// The English text, the fallback.
    let english: PluralForms
    /// The texts in all languages, in an order that depends only on the languages.
    let entries: [Entry]

    /// Creates a table.
    /// - Parameters:
    ///   - english: The English text, which is the fallback.
    ///   - entries: The texts in all languages, including English.
    init(english: PluralForms, entries: [Entry]) {
        self.english = english
        self.entries = entries
    }

    /// The key with which ``Translations`` identify the text: its English form for `other`.
    var key: String { english.other }

    /// Returns the text in a language. O(number of languages).
    subscript(language: Language) -> PluralForms? {
        entries.first { $0.language == language }?.forms
    }

    /// Returns whether two tables have the same texts. Copies of one text share a table, so most comparisons only compare the references.
    static func == (left: TextTable, right: TextTable) -> Bool {
        left === right || left.english == right.english && left.entries == right.entries
    }

    /// Hashes only the English text, which identifies most texts.
    func hash(into hasher: inout Hasher) { hasher.combine(english) }
}

/// The plural categories of Unicode CLDR. ``Language/pluralCategory(of:)`` returns the category of a number.
public enum PluralCategory: String, Hashable, Sendable, CaseIterable {
    /// A category with the same name as in CLDR.
    case zero, one, two, few, many, other
}

/// A text with forms for different counts. `{count}` is the placeholder of the number.
///
/// ```swift
/// PluralForms(one: "{count} secondo", other: "{count} secondi")
/// ```
/// A string literal creates a text with the same form for every count.
public struct PluralForms: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The form for all categories that have no separate form.
    public let other: String
    /// The forms that differ from `other`.
    private let special: [PluralCategory: String]

    /// Creates the forms. Pass only forms that differ from `other`. A category without a form uses `other`.
    /// - Parameters:
    ///   - zero: The form for zero, in Arabic for example.
    ///   - one: The form for one, and for zero in French.
    ///   - two: The form for two, in Hebrew for example.
    ///   - few: The form for a few, such as 2 to 4 in Czech.
    ///   - many: The form for many, such as 5 in Polish.
    ///   - other: The form for all other numbers.
    public init(
        zero: String? = nil,
        one: String? = nil,
        two: String? = nil,
        few: String? = nil,
        many: String? = nil,
        other: String
    ) {
        let given = [PluralCategory.zero: zero, .one: one, .two: two, .few: few, .many: many]
        self.special = given.compactMapValues(\.self)
        self.other = other
    }

    /// Creates a text with the same form for every count.
    public init(stringLiteral value: String) {
        self.init(other: value)
    }

    /// Returns the form for a category.
    public subscript(category: PluralCategory) -> String {
        special.isEmpty ? other : special[category] ?? other
    }
}

/// A part of a text: words of the text itself, or an inserted value. In HTML, enclose each run that has a ``direction`` in `<bdi>`. For
/// plain text, use the property `isolated` of an array of runs, which returns one string.
///
/// The element `<bdi>` isolates the value. Without isolation, a Latin name in a Hebrew sentence could change the order of the words around
/// it (UAX #9).
public struct TextRun: Hashable, Sendable {
    /// The text of the run.
    public let text: String
    /// The direction of a value that must be isolated from the surrounding text, for example with `<bdi>`; `nil` for any other run.
    public let direction: TextDirection?

    /// Creates a run.
    /// - Parameters:
    ///   - text: The text of the run.
    ///   - direction: The direction of a value that must be isolated; `nil` for words of the text, and for values that need no isolation.
    public init(_ text: String, direction: TextDirection? = nil) {
        self.text = text
        self.direction = direction
    }

    /// Creates the run of an inserted value. The initializer removes direction controls from the value, because such a control could end
    /// the isolation of the value.
    ///
    /// - Parameter surrounding: The direction of the text that the value is inserted into.
    init(value: String, in surrounding: TextDirection) {
        let isSteering = value.unicodeScalars.contains(where: \.isDirectionControl)
        text = isSteering ? String(String.UnicodeScalarView(value.unicodeScalars.filter { !$0.isDirectionControl })) : value
        direction = Self.fits(text, surrounding) ? nil : TextDirection(of: text) ?? .leftToRight
    }

    /// Returns whether a value needs no isolation from the surrounding text. In a left-to-right text, this is a value without right-to-left
    /// letters. In a right-to-left text, it is a value with only right-to-left letters, or a plain number.
    private static func fits(_ value: String, _ surrounding: TextDirection) -> Bool {
        let scalars = value.unicodeScalars
        switch surrounding {
        case .leftToRight: return !scalars.contains(where: \.isRightToLeft)
        case .rightToLeft:
            return scalars.allSatisfy { $0.isRightToLeft || $0 == " " } || value.utf8.allSatisfy { (0x30...0x39).contains($0) }
        }
    }
}

extension [TextRun] {
    /// The runs as plain text. If a value must be isolated, the property adds FIRST STRONG ISOLATE (U+2068) before it and POP DIRECTIONAL
    /// ISOLATE (U+2069) after it.
    public var isolated: String {
        reduce(into: "") { text, run in text += run.direction == nil ? run.text : "\u{2068}\(run.text)\u{2069}" }
    }

    /// The runs as plain text without direction controls, for texts that must stay exact, such as the subject of an email.
    public var bare: String { reduce(into: "") { $0 += $1.text } }
}
