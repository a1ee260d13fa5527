import ErrorContract
import StrictJSON

/// The schema of a JSON value. It covers the part of JSON Schema (draft 2020-12) that the account API needs.
///
/// A schema has no fractional numbers, no unions and no conditions, because many client generators don't support them well. If the rules of
/// a value need one of these, the schema is less strict than the rules.
///
/// A schema also contains ``refusals``, which JSON Schema can't express. They are the error codes for values that the server doesn't
/// accept.
package struct Schema: Sendable {
    /// The kind of value.
    indirect enum Kind: Sendable {
        /// A text: `type: string`, with the keywords of its rules.
        case text(TextRules)
        /// A whole number: `type: integer`, with `minimum` and `maximum` if there is a range.
        case integer(ClosedRange<Int>?)
        /// `true` or `false`: `type: boolean`.
        case flag
        /// Exactly one value: `const`.
        case constant(JSONValue)
        /// An array with elements of one schema: `items`, and `minItems` if it can't be empty.
        case list(of: Schema, atLeast: Int)
        /// An object with known members: `properties` and `required`. Further members are allowed.
        case object([Field])
        /// The body of an HTML form. All its members are texts. It has at most 100 members.
        case form([Field])
        /// An object with any names. All its members have the same schema: `additionalProperties`.
        case map(of: Schema)
        /// A reference to a schema that the document defines once: `$ref`.
        case named(NamedSchema)
    }

    /// The kind of value, with its rules.
    let kind: Kind
    /// The meaning of the value; empty if the name is sufficient.
    var meaning: Prose = ""
    /// The error codes for a value that has the right JSON type but breaks the rules of the schema.
    var refusals: [ErrorCode] = []

    /// Creates the schema of a text.
    /// - Parameters:
    ///   - rules: The rules; any text by default.
    ///   - meaning: The meaning of the value.
    ///   - refusals: The codes with which the server refuses a text. If a request contains the schema, these codes become codes of its
    ///     operation.
    static func text(
        _ rules: TextRules = TextRules(),
        _ meaning: Prose = "",
        refusals: [ErrorCode] = []
    ) -> Schema {
        Schema(kind: .text(rules), meaning: meaning, refusals: refusals)
    }

    /// Creates the schema of a whole number.
    /// - Parameters:
    ///   - range: The valid values; `nil` allows all.
    ///   - meaning: The meaning of the value.
    static func integer(_ range: ClosedRange<Int>? = nil, _ meaning: Prose = "") -> Schema {
        Schema(kind: .integer(range), meaning: meaning)
    }

    /// Creates the schema of exactly one value.
    /// - Parameters:
    ///   - value: The value.
    ///   - meaning: The meaning of the value.
    static func constant(_ value: JSONValue, _ meaning: Prose = "") -> Schema {
        Schema(kind: .constant(value), meaning: meaning)
    }

    /// Creates the schema of an array.
    /// - Parameters:
    ///   - element: The schema of each element.
    ///   - minimum: The smallest number of elements, 0 by default. The number of elements has no maximum.
    static func list(of element: Schema, atLeast minimum: Int = 0) -> Schema {
        Schema(kind: .list(of: element, atLeast: minimum))
    }

    /// Creates the schema of an object with any names.
    /// - Parameters:
    ///   - element: The schema of each value.
    ///   - meaning: The meaning of the object.
    static func map(of element: Schema, _ meaning: Prose = "") -> Schema {
        Schema(kind: .map(of: element), meaning: meaning)
    }

    /// Creates the schema of an object with known members. The JSON Schema allows further members, because later versions may add members.
    static func object(_ fields: Field..., meaning: Prose = "") -> Schema {
        Schema(kind: .object(fields), meaning: meaning)
    }

    /// Creates a reference to a named schema.
    static func named(_ schema: NamedSchema) -> Schema { Schema(kind: .named(schema)) }

    /// The schema that this reference refers to. If this schema is not a reference, the property is the schema itself.
    var resolved: Schema {
        if case .named(let named) = kind { named.schema.resolved } else { self }
    }

    /// The members of an object or a form. For all other kinds, the array is empty.
    package var fields: [Field] {
        switch resolved.kind {
        case .object(let fields), .form(let fields): fields
        default: []
        }
    }
}

/// The rules of a text. A text must fulfill all rules that are set.
struct TextRules: Sendable {
    /// The valid lengths in characters; `nil` allows all lengths.
    var length: ClosedRange<Int>?
    /// A regular expression in the syntax of ECMA-262 with the flag `u`. It isn't anchored, so a pattern for the whole text needs `^` and
    /// `$`.
    var pattern: String?
    /// A format of JSON Schema, such as `uuid`. Validators may ignore formats. If they must enforce the rule, set `pattern`, too.
    var format: String?
    /// The only valid values. An empty array allows all values.
    var choices: [String] = []
}

/// A schema with a name. The OpenAPI document defines the schema once.
package struct NamedSchema: Sendable {
    /// The name, such as `LoginRequest`. References of the document contain it.
    package let name: String
    /// The schema that the document has under the name. It may refer to further named schemas.
    package let schema: Schema

    /// Creates a named schema.
    ///
    /// Two different schemas must not have the same name, because the document would contain only the first schema.
    /// - Parameters:
    ///   - name: The name in `#/components/schemas`.
    ///   - schema: The schema.
    init(_ name: String, _ schema: Schema) {
        self.name = name
        self.schema = schema
    }
}

/// A member of an object.
package struct Field: Sendable {
    /// Whether a member may be absent or `null`.
    package enum Presence: Sendable {
        /// The member always exists. The schema lists it under `required`.
        case required
        /// The member may be absent.
        case optional
        /// The member may be absent or `null`. In the document, its schema becomes a choice between the schema and `null`.
        case nullable
    }

    /// The name in JSON.
    package let name: String
    /// Whether the member may be absent or `null`.
    package let presence: Presence
    /// The schema of the value.
    package let schema: Schema
    /// The purpose of the member, in addition to the meaning of its schema. Empty if the name is sufficient.
    package let purpose: Prose

    /// Creates a member.
    /// - Parameters:
    ///   - name: The name in JSON.
    ///   - schema: The schema of its value.
    ///   - presence: Whether the member may be absent; it is required by default.
    ///   - purpose: The purpose, in addition to the meaning of its schema. It must not repeat this meaning, because the document shows both
    ///     texts.
    init(_ name: String, _ schema: Schema, _ presence: Presence = .required, _ purpose: Prose = "") {
        self.name = name
        self.presence = presence
        self.schema = schema
        self.purpose = purpose
    }
}

/// A text for developers, in English. It has paragraphs separated by empty lines, and code in backticks. The document contains it as
/// Markdown, and the reference page as HTML.
package struct Prose: Hashable, Sendable, ExpressibleByStringInterpolation {
    /// The text as CommonMark.
    package let markdown: String

    /// Creates a text from a literal in CommonMark.
    package init(stringLiteral value: String) { markdown = value }

    /// Creates a text from CommonMark.
    package init(_ text: String) { markdown = text }

    /// Whether there is no text.
    package var isEmpty: Bool { markdown.isEmpty }

    /// Returns this text, followed by another text in the same paragraph. If one of the two texts is empty, the result is the other text.
    package func followed(by other: Prose) -> Prose {
        isEmpty ? other : other.isEmpty ? self : Prose(markdown + " " + other.markdown)
    }
}
