public import Foundation

/// A language of texts, as a BCP 47 tag in lower case, such as `en` or `es`.
///
/// Two languages are equal if their tags are equal. For example, `es` and `es-mx` are different languages. If there is no text for a tag,
/// ``LocalizedText/text(in:)`` shortens the tag until a text exists. ``preferred(from:available:fallback:)`` chooses the language of the
/// device's user.
///
/// ```swift
/// let language = Language("pt_BR")
/// print(language, language.isRightToLeft)  // pt-br false
/// ```
public struct Language: RawRepresentable, Hashable, Sendable, Codable {
    /// The tag, in lower case.
    public let rawValue: String

    /// Creates a language from a tag. The initializer converts uppercase letters to lowercase letters. It converts `_` to `-`, because
    /// POSIX names contain `_`. It also replaces renamed language codes: `iw` by `he`, `in` by `id`, `ji` by `yi`.
    /// - Parameter rawValue: The tag. It is not validated. If a tag is unknown, ``LocalizedText/text(in:)`` returns the English text.
    public init(rawValue: String) {
        var tag = rawValue.lowercased()
        if tag.utf8.contains(UInt8(ascii: "_")) { tag = tag.replacing("_", with: "-") }
        switch tag.prefix(while: { $0 != "-" }) {
        case "iw": tag = "he" + tag.dropFirst(2)
        case "in": tag = "id" + tag.dropFirst(2)
        case "ji": tag = "yi" + tag.dropFirst(2)
        default: break
        }
        self.rawValue = tag
    }

    /// Creates a language from a tag.
    /// - Parameter tag: The tag, in uppercase or lowercase letters, as for ``init(rawValue:)``.
    public init(_ tag: String) {
        self.init(rawValue: tag)
    }

    /// English. Every text exists in English.
    public static let english = Self("en")
    /// Spanish.
    public static let spanish = Self("es")
    /// Hebrew.
    public static let hebrew = Self("he")
    /// Brazilian Portuguese.
    public static let portuguese = Self("pt")
    /// French.
    public static let french = Self("fr")
    /// German.
    public static let german = Self("de")

    /// The languages in which every text of this library exists.
    ///
    /// All texts of a language address the user in the same form: tú in Spanish, du in German, vous in French, você in Brazilian
    /// Portuguese, and forms without gender in Hebrew (`נא להזין`).
    public static let supported: [Language] = [.english, .spanish, .hebrew, .portuguese, .french, .german]
}

extension Language: CustomStringConvertible {
    /// The tag, in lower case.
    public var description: String { rawValue }
}

extension Language {
    /// The language without its region, script and variants: `pt` for `pt-br`.
    var primary: Substring { rawValue.prefix { $0 != "-" } }

    /// The tag without its last subtag, as in the lookup of RFC 4647 §3.4. If the last subtag of the result has a single character, the
    /// property removes this subtag, too. `nil` if nothing remains.
    var parent: Language? {
        guard var end = rawValue.utf8.lastIndex(of: UInt8(ascii: "-")) else { return nil }
        if let before = rawValue[..<end].utf8.lastIndex(of: UInt8(ascii: "-")),
            rawValue.utf8.distance(from: before, to: end) == 2
        {
            end = before
        }
        return Language(String(rawValue[..<end]))
    }
}

/// The direction of a text. Its description is the name in HTML: `ltr` or `rtl`.
public enum TextDirection: String, Hashable, Sendable, CustomStringConvertible {
    /// From left to right, as in English.
    case leftToRight = "ltr"
    /// From right to left, as in Hebrew.
    case rightToLeft = "rtl"

    /// Creates the direction of the first letter that has a direction (UAX #9, rule P2).
    /// - Parameter text: The text, such as a name that is shown in a text of another language.
    /// - Returns: `nil` if no letter has a direction, as in `42`.
    public init?(of text: some StringProtocol) {
        for scalar in text.unicodeScalars {
            if scalar.isRightToLeft {
                self = .rightToLeft
                return
            }
            if scalar.properties.isAlphabetic {
                self = .leftToRight
                return
            }
        }
        return nil
    }

    /// The name in HTML.
    public var description: String { rawValue }
}

extension Language {
    /// Whether the language is written from right to left. See ``direction``.
    public var isRightToLeft: Bool { direction == .rightToLeft }

    /// The direction in which the language is written. The script in the tag, such as `latn`, determines the direction. If the tag has no
    /// script, the usual script of the language determines it.
    public var direction: TextDirection {
        // A subtag with a single character begins an extension or a private-use part (RFC 5646 §2.2), which the property ignores.
        let subtags = rawValue.split(separator: "-").prefix { $0.count != 1 }.dropFirst()
        let script = subtags.first { $0.count == 4 && $0.first?.isLetter == true }
        if let script { return Self.rightToLeftScripts.contains(String(script)) ? .rightToLeft : .leftToRight }
        return Self.rightToLeftLanguages.contains(String(primary)) ? .rightToLeft : .leftToRight
    }

    /// The right-to-left scripts by their code in ISO 15924, in lower case.
    private static let rightToLeftScripts: Set<String> = [
        "arab", "aran", "hebr", "syrc", "thaa", "nkoo", "adlm", "rohg", "mand", "samr",
    ]
    /// The languages whose usual script is written from right to left.
    private static let rightToLeftLanguages: Set<String> = [
        "ar", "he", "fa", "ur", "yi", "ps", "sd", "ug", "dv", "ckb", "ks", "prs", "azb", "pnb", "nqo", "syr", "arc", "rhg",
    ]
}

extension Unicode.Scalar {
    /// Whether the scalar belongs to a script that is written from right to left. The check includes blocks with the bidirectional class R
    /// or AL, and blocks that Unicode reserves for right-to-left scripts (UAX #9).
    var isRightToLeft: Bool {
        switch value {
        case 0x0590...0x08FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFE, 0x10800...0x10FFF, 0x1E800...0x1EFFF: true
        default: false
        }
    }

    /// Whether the scalar only controls the direction of the surrounding text.
    var isDirectionControl: Bool {
        switch value {
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}

extension Language {
    /// Returns the plural category of a whole number, by the rules of Unicode CLDR for cardinal numbers.
    ///
    /// The library contains the rules of some languages. All other languages use the English rule, which has the categories one and other.
    /// For Spanish, French and Portuguese, CLDR also has a category for millions. The library doesn't support this category, because none
    /// of its texts contains such large numbers.
    ///
    /// - Parameter count: The number. The method ignores its sign.
    public func pluralCategory(of count: Int) -> PluralCategory {
        let number = count.magnitude
        switch primary {
        case "pt" where rawValue == "pt-pt" || rawValue.hasPrefix("pt-pt-"): return number == 1 ? .one : .other
        case "fr", "pt", "hi", "bn", "fa", "hy", "am", "zu": return number < 2 ? .one : .other
        case "he": return number == 1 ? .one : number == 2 ? .two : .other
        case "ja", "ko", "zh", "yue", "th", "vi", "id", "ms", "lo", "km", "my": return .other
        case "ru", "uk", "be": return Self.eastSlavic(number)
        case "hr", "sr", "bs": return Self.eastSlavic(number) == .many ? .other : Self.eastSlavic(number)
        case "pl": return number == 1 ? .one : Self.isFew(number) ? .few : .many
        case "cs", "sk": return number == 1 ? .one : (2...4).contains(number) ? .few : .other
        case "ar": return Self.arabic(number)
        case "ro": return number == 1 ? .one : number == 0 || (1...19).contains(number % 100) ? .few : .other
        default: return number == 1 ? .one : .other
        }
    }

    /// Returns whether a number ends in 2, 3 or 4 but not in 12, 13 or 14.
    private static func isFew(_ number: UInt) -> Bool {
        (2...4).contains(number % 10) && !(12...14).contains(number % 100)
    }

    /// Returns the plural category of a number in Russian, Ukrainian and Belarusian.
    private static func eastSlavic(_ number: UInt) -> PluralCategory {
        if number % 10 == 1, number % 100 != 11 { return .one }
        return isFew(number) ? .few : .many
    }

    /// Returns the plural category of a number in Arabic, which uses all six categories.
    private static func arabic(_ number: UInt) -> PluralCategory {
        switch (number, number % 100) {
        case (0, _): .zero
        case (1, _): .one
        case (2, _): .two
        case (_, 3...10): .few
        case (_, 11...99): .many
        default: .other
        }
    }
}

extension Language {
    /// Returns the language of the texts that the app shows to the device's user. The method chooses from the languages in which the app
    /// has texts.
    ///
    /// ```swift
    /// let api = APIClient(baseURL: url, language: .preferred())
    /// ```
    ///
    /// A server chooses the language of a request with ``LanguagePreference`` instead.
    /// - Parameters:
    ///   - tags: BCP 47 tags, the most preferred tag first. The default is the list of languages in the system settings.
    ///   - available: The languages in which the app has texts. If the app has ``Translations``, add their languages to ``supported``.
    ///   - fallback: The language to return if no tag matches.
    /// - Complexity: O(number of tags · number of available languages).
    public static func preferred(
        from tags: [String] = Locale.preferredLanguages,
        available: [Language] = Language.supported,
        fallback: Language = .english
    ) -> Language {
        LanguagePreference(acceptLanguage: tags.joined(separator: ",")).choose(from: available, fallback: fallback)
    }
}
