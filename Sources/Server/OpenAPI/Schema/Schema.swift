import ErrorContract
import StrictJSON

/// The shape of a JSON value, as far as JSON Schema (draft 2020-12) can tell it.
package struct Schema: Sendable {
    indirect enum Kind: Sendable {
        case text(TextRules)
        case integer(ClosedRange<Int>?)
        case flag
        case constant(JSONValue)
        case list(of: Schema, atLeast: Int)
        case object([Field])
        /// An object as a form sends it: all members are texts.
        case form([Field])
        /// An object whose members all have one shape, under any name.
        case map(of: Schema)
        case named(NamedSchema)
    }

    let kind: Kind
    /// What it means; empty if the name says it all.
    var meaning: Prose = ""
    /// The codes with which a value of the right JSON type is refused.
    var refusals: [ErrorCode] = []

    static func text(
        _ rules: TextRules = TextRules(),
        _ meaning: Prose = "",
        refusals: [ErrorCode] = []
    ) -> Schema {
        Schema(kind: .text(rules), meaning: meaning, refusals: refusals)
    }

    static func integer(_ range: ClosedRange<Int>? = nil, _ meaning: Prose = "") -> Schema {
        Schema(kind: .integer(range), meaning: meaning)
    }

    static func constant(_ value: JSONValue, _ meaning: Prose = "") -> Schema {
        Schema(kind: .constant(value), meaning: meaning)
    }

    static func list(of element: Schema, atLeast minimum: Int = 0) -> Schema {
        Schema(kind: .list(of: element, atLeast: minimum))
    }

    static func map(of element: Schema, _ meaning: Prose = "") -> Schema {
        Schema(kind: .map(of: element), meaning: meaning)
    }

    static func object(_ fields: Field..., meaning: Prose = "") -> Schema {
        Schema(kind: .object(fields), meaning: meaning)
    }

    static func named(_ schema: NamedSchema) -> Schema { Schema(kind: .named(schema)) }

    /// The shape itself, behind any names.
    var resolved: Schema {
        if case .named(let named) = kind { named.schema.resolved } else { self }
    }

    /// The members, if the shape is an object's.
    package var fields: [Field] {
        switch resolved.kind {
        case .object(let fields), .form(let fields): fields
        default: []
        }
    }
}

/// What a text must be like.
struct TextRules: Sendable {
    /// In characters.
    var length: ClosedRange<Int>?
    /// A regular expression of ECMA-262 with the flag `u`.
    var pattern: String?
    /// A name that JSON Schema has for it, such as `uuid`.
    var format: String?
    /// The only values.
    var choices: [String] = []
}

/// A shape that has a name, under which the document tells it once.
package struct NamedSchema: Sendable {
    /// The name, such as `LoginRequest`.
    package let name: String
    package let schema: Schema

    init(_ name: String, _ schema: Schema) {
        self.name = name
        self.schema = schema
    }
}

/// A member of an object.
package struct Field: Sendable {
    package enum Presence: Sendable {
        case required
        /// May be left out.
        case optional
        /// May be left out or `null`.
        case nullable
    }

    package let name: String
    package let presence: Presence
    package let schema: Schema
    /// What the member is for, beyond what its shape means.
    package let purpose: Prose

    init(_ name: String, _ schema: Schema, _ presence: Presence = .required, _ purpose: Prose = "") {
        self.name = name
        self.presence = presence
        self.schema = schema
        self.purpose = purpose
    }
}

/// A text for developers, in English: paragraphs with an empty line between them, code in backticks. Both Markdown and HTML are
/// made from it.
package struct Prose: Hashable, Sendable, ExpressibleByStringInterpolation {
    /// The text as CommonMark.
    package let markdown: String

    package init(stringLiteral value: String) { markdown = value }

    package init(_ text: String) { markdown = text }

    package var isEmpty: Bool { markdown.isEmpty }

    /// This text, then another, each as sentences of one paragraph.
    package func followed(by other: Prose) -> Prose {
        isEmpty ? other : other.isEmpty ? self : Prose(markdown + " " + other.markdown)
    }
}
