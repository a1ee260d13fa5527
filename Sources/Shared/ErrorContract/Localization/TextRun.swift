/// A stretch of a text: its own words, or a value that was put into it.
public struct TextRun: Hashable, Sendable {
    /// The words.
    public let text: String
    /// The direction of a value that must be kept apart from the text around it, as by `<bdi>`; `nil` for everything else.
    public let direction: TextDirection?

    /// Creates a run.
    public init(_ text: String, direction: TextDirection? = nil) {
        self.text = text
        self.direction = direction
    }

    /// Creates the run of a value. What steers directions is taken out of it, since it could end its isolation.
    /// - Parameter surrounding: The direction of the text that it is put into.
    init(value: String, in surrounding: TextDirection) {
        let isSteering = value.unicodeScalars.contains(where: \.isDirectionControl)
        text = isSteering ? String(String.UnicodeScalarView(value.unicodeScalars.filter { !$0.isDirectionControl })) : value
        direction = Self.fits(text, surrounding) ? nil : TextDirection(of: text) ?? .leftToRight
    }

    /// Whether a value can stand in a text without either changing the order of the other: in a text that runs from right to
    /// left, letters of that direction alone, or a plain number; in any other, whatever has no letter of that direction.
    private static func fits(_ value: String, _ surrounding: TextDirection) -> Bool {
        let scalars = value.unicodeScalars
        switch surrounding {
        case .leftToRight: return !scalars.contains(where: \.isRightToLeft)
        case .rightToLeft:
            return scalars.allSatisfy { $0.isRightToLeft || $0 == " " } || value.utf8.allSatisfy { (0x30...0x39).contains($0) }
        }
    }
}

extension [TextRun] {
    /// The runs as plain text: a value that must be kept apart stands between FIRST STRONG ISOLATE and POP DIRECTIONAL ISOLATE.
    public var isolated: String {
        reduce(into: "") { text, run in text += run.direction == nil ? run.text : "\u{2068}\(run.text)\u{2069}" }
    }

    /// The runs as plain text without any mark, for what must stay exact, such as a mail's subject.
    public var bare: String { reduce(into: "") { $0 += $1.text } }
}
