import ErrorContract

/// A parameter of ``LabPath/answer``: its name, what it takes, and what it does.
public struct LabParameter: Hashable, Sendable {
    /// What a parameter takes.
    public enum Values: Hashable, Sendable {
        /// One of some words.
        case choice([String])
        /// A whole number.
        case whole(ClosedRange<Int>)
        /// A number from 0 to 1.
        case fraction
        /// `ok`, `wrapped`, or a code.
        case outcome
        /// A delay, see ``LabRetryAfter``.
        case delay
        /// A language tag.
        case language
        /// A line of ASCII.
        case line
        /// Letters, digits and `._-`.
        case name
    }

    /// The name in the query.
    public let name: String
    /// What it takes.
    public let values: Values
    /// What it does.
    public let summary: String

    /// What it takes, in words.
    public var allowed: String {
        switch values {
        case .choice(let words): "one of " + words.joined(separator: ", ")
        case .whole(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .fraction: "a number from 0 to 1"
        case .outcome: "ok, wrapped, or a code of the catalogue (any other code in capitals together with status)"
        case .delay: "seconds from 0 to 86400, date:SECONDS, none, or raw:TEXT"
        case .language: "a language tag such as es"
        case .line: "at most 100 characters of ASCII"
        case .name: "at most 64 letters, digits and ._-"
        }
    }

    private init(_ name: String, _ values: Values, _ summary: String) {
        self.name = name
        self.values = values
        self.summary = summary
    }

    /// The parameters of ``LabPath/answer``.
    public static let all: [LabParameter] = [
        LabParameter("code", .outcome, "What is answered; ok unless told otherwise."),
        LabParameter("form", .choice(ErrorForm.allCases.map(\.rawValue)), "The form of an error's body."),
        LabParameter("lang", .language, "The language of an error's text, whatever the request asks for."),
        LabParameter("status", .whole(200...599), "The HTTP status, if not the code's own."),
        LabParameter("retry_after", .delay, "The Retry-After header, and the same in the body."),
        LabParameter("delay_ms", .whole(0...LabAnswer.maximumDelay), "How long the answer takes to begin."),
        LabParameter("dribble_ms", .whole(0...LabAnswer.maximumDribble), "How long each of up to 20 pieces of the body takes."),
        LabParameter("drop", choice(LabDrop.self), "When the connection breaks."),
        LabParameter("close", choice(LabClose.self), "How the connection breaks."),
        LabParameter("truncate", .whole(0...65_536), "How many bytes of the body are sent."),
        LabParameter("content", choice(LabContent.self), "What stands in the place of the body."),
        LabParameter("type", .line, "The Content-Type, whatever the body is."),
        LabParameter("charset", choice(LabCharset.self), "In which characters the body is, whatever its type claims."),
        LabParameter("bare", .choice(["true", "false"]), "Whether X-Error-Code is left out."),
        LabParameter("redirect", choice(LabRedirect.self), "Where the request is sent first."),
        LabParameter("times", .whole(0...1_000), "How many calls of the session fail before the next ones succeed."),
        LabParameter("flaky", .fraction, "The share of calls that fail."),
        LabParameter("seed", .whole(0...1_000_000_000), "Which of the calls fail."),
        LabParameter("then", .outcome, "What the calls that don't fail get."),
        LabParameter("session", .name, "Whose calls are counted together."),
        LabParameter("family", .choice(LabFamily.all.map(\.name)), "The server whose error body is sent instead."),
    ]

    private static func choice<Word: RawRepresentable<String> & CaseIterable>(_ type: Word.Type) -> Values {
        .choice(type.allCases.map(\.rawValue))
    }
}
