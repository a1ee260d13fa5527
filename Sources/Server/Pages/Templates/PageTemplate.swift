import ErrorContract
import Mustache

extension MustacheLibrary {
    /// The name of the main template in the library.
    private static let main = "main"

    /// Parses an HTML template. The template can use the partial `run`, which renders a part of a text. If the part is a value with another
    /// writing direction, `run` adds markup around it.
    /// - Throws: Mustache's error if the template can't be read.
    init(markup template: [UInt8]) throws {
        self.init(templates: [
            Self.main: try MustacheTemplate(string: String(decoding: template, as: UTF8.self)),
            "run": try MustacheTemplate(string: String(decoding: PackageResources.run_html_mustache, as: UTF8.self)),
        ])
    }

    /// Renders the main template.
    /// - Parameter content: The values, usually ``TemplateValues``.
    /// - Returns: The text. Only a library without the main template would give an empty text, and `init(markup:)` always adds this
    ///   template.
    func markup(_ content: Any) -> String { render(content, withTemplate: Self.main) ?? "" }
}

/// The content security policy of the pages, which only allows their inline style and script.
enum PagePolicy {
    /// Returns the policy of a page with a nonce. The policy forbids everything except the inline style and the exceptions that the
    /// parameters allow. No site can show the page in a frame.
    /// - Parameters:
    ///   - nonce: The nonce of the inline style and script: a new random one for each response.
    ///   - runsScript: Whether the page has a script.
    ///   - connects: Whether the script may call the page's own server.
    ///   - sendsForms: Whether forms may be sent to the page's own server.
    static func text(nonce: String, runsScript: Bool = false, connects: Bool = false, sendsForms: Bool = false) -> String {
        let directives = [
            "default-src 'none'", "style-src 'nonce-\(nonce)'", runsScript ? "script-src 'nonce-\(nonce)'" : nil,
            connects ? "connect-src 'self'" : nil, "form-action '\(sendsForms ? "self" : "none")'", "base-uri 'none'",
            "frame-ancestors 'none'",
        ]
        return directives.compactMap(\.self).joined(separator: "; ")
    }
}

/// The values of a template by name. Mustache finds the members of other types by reflection. Reflection took most of the time for
/// rendering an email, so templates use this type.
///
/// A list of values is a section that is rendered once per element. An empty list is rendered like a missing value.
struct TemplateValues: MustacheParent, ExpressibleByDictionaryLiteral, Sendable {
    /// The values, without `nil`.
    private var values: [String: any Sendable]

    /// Creates the values. `nil` values are omitted, so that their sections aren't rendered.
    init(dictionaryLiteral elements: (String, (any Sendable)?)...) {
        values = Dictionary(elements.compactMap { name, value in value.map { (name, $0) } }) { $1 }
    }

    /// The value with the given name. Setting `nil` removes the value.
    subscript(name: String) -> (any Sendable)? {
        get { values[name] }
        set { values[name] = newValue }
    }

    /// Returns a value for Mustache.
    func child(named name: String) -> Any? { values[name] }
}

extension TextRun {
    /// The values for the partial `run`.
    var values: TemplateValues { ["text": text, "direction": direction] }
}
