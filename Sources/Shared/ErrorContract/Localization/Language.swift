/// A language of the texts, as a BCP 47 tag in lower case, such as `en` or `es`.
public struct Language: RawRepresentable, Hashable, Sendable, Codable {
    /// The tag, in lower case.
    public let rawValue: String

    /// Creates a language from a tag in any case; `_` counts as `-`, so that POSIX names work too. A language code that was
    /// renamed is read as what it is called now: `iw` as `he`, `in` as `id`, `ji` as `yi`.
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
    public init(_ tag: String) {
        self.init(rawValue: tag)
    }

    /// English, the language that every text has.
    public static let english = Self("en")
    /// Spanish.
    public static let spanish = Self("es")
    /// Hebrew.
    public static let hebrew = Self("he")
    /// Portuguese, as it is written in Brazil.
    public static let portuguese = Self("pt")
    /// French.
    public static let french = Self("fr")
    /// German.
    public static let german = Self("de")

    /// The languages in which every text of the contract exists.
    ///
    /// People are addressed in one way throughout: with tú in Spanish and du in German, with vous in French, as você in the
    /// Portuguese of Brazil, and in Hebrew by forms that have no gender (`נא להזין`).
    public static let supported: [Language] = [.english, .spanish, .hebrew, .portuguese, .french, .german]
}

extension Language: CustomStringConvertible {
    public var description: String { rawValue }
}

extension Language {
    /// The language without its region, script and variants: `pt` for `pt-br`.
    var primary: Substring { rawValue.prefix { $0 != "-" } }

    /// The tag shortened from the right, as RFC 4647 §3.4 does it: a single character that would end it goes as well. `nil` if
    /// nothing is left.
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
