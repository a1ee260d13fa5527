/// The plural categories of Unicode CLDR.
public enum PluralCategory: String, Hashable, Sendable, CaseIterable {
    /// A category, by its name in CLDR.
    case zero, one, two, few, many, other
}

/// A text in the forms that different counts ask for; `{count}` stands for the number.
///
/// ```swift
/// PluralForms(one: "{count} secondo", other: "{count} secondi")
/// ```
/// A literal is a text that is the same for every count.
public struct PluralForms: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The form that stands for every category without one of its own.
    public let other: String
    private let special: [PluralCategory: String]

    /// Creates the forms; only those need to be given that differ from `other`.
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

    /// Creates a text that is the same for every count.
    public init(stringLiteral value: String) {
        self.init(other: value)
    }

    /// The form for a category.
    public subscript(category: PluralCategory) -> String {
        special.isEmpty ? other : special[category] ?? other
    }
}
