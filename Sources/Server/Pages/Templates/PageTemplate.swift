import ErrorContract
import Mustache

extension MustacheLibrary {
    private static let main = "main"

    /// Reads a template of HTML, which may name the partial `run`: a stretch of a text, with markup around a value that runs in
    /// another direction.
    /// - Throws: Mustache's error if it can't be read.
    init(markup template: [UInt8]) throws {
        self.init(templates: [
            Self.main: try MustacheTemplate(string: String(decoding: template, as: UTF8.self)),
            "run": try MustacheTemplate(string: String(decoding: PackageResources.run_html_mustache, as: UTF8.self)),
        ])
    }

    /// The HTML of a content.
    func markup(_ content: Any) -> String { render(content, withTemplate: Self.main) ?? "" }
}

/// The content security policy of the pages: nothing but their own style and script.
enum PagePolicy {
    /// The policy of a page with this nonce.
    static func text(nonce: String, runsScript: Bool = false, connects: Bool = false, sendsForms: Bool = false) -> String {
        let directives = [
            "default-src 'none'", "style-src 'nonce-\(nonce)'", runsScript ? "script-src 'nonce-\(nonce)'" : nil,
            connects ? "connect-src 'self'" : nil, "form-action '\(sendsForms ? "self" : "none")'", "base-uri 'none'",
            "frame-ancestors 'none'",
        ]
        return directives.compactMap(\.self).joined(separator: "; ")
    }
}

/// The values of a template by their names. Mustache finds the members of other types by reflection, which took most of the time of
/// rendering an email.
struct TemplateValues: MustacheParent, ExpressibleByDictionaryLiteral, Sendable {
    private var values: [String: any Sendable]

    /// Creates the values. Those that are `nil` are left out, so that their sections aren't rendered.
    init(dictionaryLiteral elements: (String, (any Sendable)?)...) {
        values = Dictionary(elements.compactMap { name, value in value.map { (name, $0) } }) { $1 }
    }

    subscript(name: String) -> (any Sendable)? {
        get { values[name] }
        set { values[name] = newValue }
    }

    func child(named name: String) -> Any? { values[name] }
}

extension TextRun {
    /// The run for the partial `run`.
    var values: TemplateValues { ["text": text, "direction": direction] }
}
