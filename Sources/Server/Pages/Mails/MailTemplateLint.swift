/// Finds tags in an email template that refer to unknown values. Also finds tags that would insert a user's name as HTML.
///
/// Like Mustache, the check keeps a stack of the values that are visible in the open sections. In HTML templates, it refuses `{{{name}}}`
/// and `{{&name}}`, because Mustache would insert a user's text unescaped.
struct MailTemplateLint {
    /// Whether the template is for the HTML part.
    let isHTML: Bool

    /// Returns the problems. Each text begins with the line number.
    /// - Parameter source: A template that the parser accepts.
    /// - Complexity: O(length of the template).
    func problems(in source: String) -> [String] {
        var problems: [String] = []
        var scopes = [MailTemplateField.mail]
        for tag in Self.tags(of: source) {
            if let problem = check(tag, &scopes) { problems.append("\(tag.line): \(problem)") }
        }
        return problems
    }

    /// A tag of the template: `{{name}}`, `{{#name}}`, `{{{name}}}` and so on.
    private struct Tag {
        /// The number of the line on which the tag begins, from 1.
        let line: Int
        /// The character after the opening braces, such as `#`; a space for a tag that inserts a value.
        let sign: Character
        /// The name, without spaces. A dot separates a value from its member.
        let name: String
        /// The tag as the template has it, for the text of a problem.
        var shown: String { sign == "{" ? "{{{\(name)}}}" : "{{\(sign == " " ? "" : String(sign))\(name)}}" }
    }

    /// Checks a tag. If the tag opens or closes a section, the visible values change.
    ///
    /// - Parameters:
    ///   - tag: The tag.
    ///   - scopes: The values that are visible in each open section, the innermost one last.
    /// - Returns: The problem; `nil` if there is none.
    private func check(_ tag: Tag, _ scopes: inout [[String: MailTemplateField]]) -> String? {
        switch tag.sign {
        case "!": return nil
        case "/":
            if scopes.count > 1 { scopes.removeLast() }
            return nil
        case ">":
            // Templates of the text part are rendered without a library, so that partials would be empty.
            guard isHTML else { return "\(tag.shown): a text template has no partials; write {{plain}} for a sentence" }
            return tag.name == "run" && scopes.last?["direction"] != nil
                ? nil : "\(tag.shown): there is no partial but {{>run}} within runs"
        case "=", "<", "$", "%": return "\(tag.shown): this kind of tag has no place in a mail"
        default: break
        }
        let isSection = tag.sign == "#" || tag.sign == "^"
        guard let field = Self.field(tag.name, in: scopes) else {
            // The check continues with the tags in the section, as if the section did not exist.
            if isSection { scopes.append([:]) }
            let names = Set(scopes.flatMap(\.keys)).sorted().joined(separator: ", ")
            return "\(tag.shown) names nothing here; there are \(names)"
        }
        if isSection {
            scopes.append(tag.sign == "#" ? field.members : [:])
            return nil
        }
        guard case .text = field else {
            return "\(tag.shown) is no text: open it with {{#\(tag.name)}} and close it with {{/\(tag.name)}}"
        }
        if isHTML, tag.sign != " " { return "\(tag.shown) would bring markup into the mail: write {{\(tag.name)}}" }
        return nil
    }

    /// Returns the value of a name with dots, by Mustache's rule. The first part of the name refers to a value in the innermost section
    /// that has such a value. Each further part refers to a member of the previous value. A list has no members here, because
    /// Mustache renders nothing for a member of a list.
    private static func field(_ name: String, in scopes: [[String: MailTemplateField]]) -> MailTemplateField? {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard let first = parts.first, let found = scopes.reversed().lazy.compactMap({ $0[first] }).first else { return nil }
        return parts.dropFirst().reduce(Optional(found)) { field, part in
            if case .fields(let inner) = field { inner[part] } else { nil }
        }
    }

    /// Returns the tags of a template with the numbers of their lines. Stops at an unfinished tag, which the parser reports.
    private static func tags(of source: String) -> [Tag] {
        var tags: [Tag] = []
        var line = 1
        var rest = source[...]
        while let start = rest.firstRange(of: "{{") {
            line += rest[..<start.lowerBound].count(where: \.isNewline)
            let body = rest[start.upperBound...]
            let isTriple = body.first == "{"
            guard let end = body.firstRange(of: isTriple ? "}}}" : "}}") else { break }
            let inner = body[..<end.lowerBound].drop { $0 == " " }
            let isSigned = inner.first.map { "#^/>!&{=<$%".contains($0) } ?? false
            let sign = isSigned ? inner.first ?? " " : " "
            let name = inner.dropFirst(isSigned ? 1 : 0).filter { !$0.isWhitespace }
            tags.append(Tag(line: line, sign: sign, name: String(name)))
            line += body[..<end.upperBound].count(where: \.isNewline)
            rest = body[end.upperBound...]
        }
        return tags
    }
}

/// A value that a tag of an email template can refer to, with its members. Mirrors the values of ``MailTemplates``.
indirect enum MailTemplateField: Sendable {
    /// A text. As a section, it is rendered if there is a text.
    case text
    /// A Boolean.
    case flag
    /// An object with members.
    case fields([String: MailTemplateField])
    /// A list of objects. Only the tags in a section of the list can refer to the members of these objects.
    case list([String: MailTemplateField])

    /// The values that are visible in a section of this value.
    var members: [String: MailTemplateField] {
        switch self {
        case .fields(let members), .list(let members): members
        case .text, .flag: [:]
        }
    }

    /// The members of a text in two forms: as plain text, and as parts that have one writing direction each.
    private static let forms: [String: MailTemplateField] = ["plain": .text, "runs": .list(["text": .text, "direction": .text])]
    /// A text in two forms.
    private static let line = MailTemplateField.fields(forms)

    /// The fields of an email.
    static let mail: [String: MailTemplateField] = [
        "appName": .text, "firstName": .text, "actionLink": .text, "lifetime": .text, "device": .text, "removalDate": .text,
        "language": .text, "isRightToLeft": .flag, "subject": .text, "preview": .text,
        "greeting": line, "paragraphs": .list(forms), "afterButton": .list(forms),
        "button": .fields(["label": .text, "line": .text, "link": .text]),
        "closing": .fields(["regards": .text, "team": line]),
        "footnotes": .list(["text": line, "link": .text]),
    ]
}
