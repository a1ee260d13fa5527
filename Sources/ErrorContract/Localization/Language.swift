/// A language of the texts, as a BCP 47 tag in lower case, such as `en` or `es`.
public struct Language: RawRepresentable, Hashable, Sendable, Codable {
    /// The tag, in lower case.
    public let rawValue: String

    /// Creates a language from a tag in any case; `_` counts as `-`, so that POSIX names work too.
    public init(rawValue: String) {
        self.rawValue = rawValue.lowercased().replacing("_", with: "-")
    }

    /// Creates a language from a tag.
    public init(_ tag: String) {
        self.init(rawValue: tag)
    }

    /// English, the language that every text has.
    public static let english = Self("en")
    /// Spanish.
    public static let spanish = Self("es")

    /// The languages in which every text of the contract exists.
    public static let supported: [Language] = [.english, .spanish]
}

extension Language: CustomStringConvertible {
    public var description: String { rawValue }
}
