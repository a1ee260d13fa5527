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
