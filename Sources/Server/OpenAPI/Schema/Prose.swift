/// A text for developers, in English: paragraphs with an empty line between them, code in backticks. Both Markdown and HTML are
/// made from it.
struct Prose: Hashable, Sendable, ExpressibleByStringInterpolation {
    /// The text as CommonMark.
    let markdown: String

    init(stringLiteral value: String) { markdown = value }

    init(_ text: String) { markdown = text }

    var isEmpty: Bool { markdown.isEmpty }

    /// This text, then another, each as sentences of one paragraph.
    func followed(by other: Prose) -> Prose {
        isEmpty ? other : other.isEmpty ? self : Prose(markdown + " " + other.markdown)
    }

    /// The paragraphs as HTML, escaped, without the tags around them.
    var htmlParagraphs: [String] {
        markdown.split(separator: "\n\n").map { Self.html(String($0)) }
    }

    /// The text as one line of HTML.
    var htmlLine: String { htmlParagraphs.joined(separator: " ") }

    /// Every second piece between backticks is code.
    private static func html(_ paragraph: String) -> String {
        paragraph.split(separator: "`", omittingEmptySubsequences: false).enumerated().map { index, piece in
            let text = escaped(String(piece))
            return index.isMultiple(of: 2) ? text : "<code>\(text)</code>"
        }.joined()
    }

    /// A text with the characters escaped that mean something to HTML.
    static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;").replacing("'", with: "&#39;")
    }
}
