import ErrorContract

/// A query parameter of ``LabPath/response``: its name, its values and its effect. The lab's page, the documentation and the parser use the
/// same table of parameters.
///
/// ``all`` is this table. The server refuses all other names. A new parameter therefore needs a row in this table and a line in the parser
/// of ``LabResponse``.
public struct LabParameter: Hashable, Sendable {
    /// The values of a parameter. ``LabParameter/allowed`` describes them in words.
    ///
    /// If a value is invalid, the server's error contains the text of ``LabParameter/allowed``.
    public enum Values: Hashable, Sendable {
        /// One of the given words. The comparison is exact.
        case choice([String])
        /// A whole number within a range, in decimal digits.
        case whole(ClosedRange<Int>)
        /// A number from 0 to 1.
        case fraction
        /// `ok`, `wrapped`, or a code.
        case outcome
        /// A delay; see ``LabRetryAfter``.
        case delay
        /// A language tag of 2 to 35 letters, digits and hyphens.
        case language
        /// A line of at most 100 printable ASCII characters.
        case line
        /// A name of at most 64 letters, digits, dots, underscores and hyphens.
        case name
    }

    /// The name in the query.
    public let name: String
    /// The values.
    public let values: Values
    /// The effect, as a sentence for the page and the documentation.
    public let summary: String

    /// A description of the values.
    public var allowed: String {
        switch values {
        case .choice(let words): "one of " + words.joined(separator: ", ")
        case .whole(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .fraction: "a number from 0 to 1"
        case .outcome where name == "then": "ok, wrapped, or a code of the catalogue"
        case .outcome: "ok, wrapped, or a code of the catalogue; any other code in capitals requires status"
        case .delay: "seconds from 0 to 86400, date:SECONDS, none, or raw:TEXT"
        case .language: "a language tag such as es"
        case .line: "at most 100 characters of ASCII"
        case .name: "at most 64 letters, digits and ._-"
        }
    }

    /// Creates a parameter.
    /// - Parameters:
    ///   - name: The name in the query.
    ///   - values: The valid values.
    ///   - summary: The effect, as a sentence for the documentation.
    private init(_ name: String, _ values: Values, _ summary: String) {
        self.name = name
        self.values = values
        self.summary = summary
    }

    /// The parameters of ``LabPath/response``, in the order of the page.
    public static let all: [LabParameter] = [
        LabParameter("code", .outcome, "The code of the response, or a success; ok by default."),
        LabParameter("form", .choice(ErrorForm.allCases.map(\.rawValue)), "The form of an error's body."),
        LabParameter("lang", .language, "The language of an error's text, with any Accept-Language."),
        LabParameter("status", .whole(200...599), "The HTTP status in place of the code's."),
        LabParameter("retry_after", .delay, "The Retry-After header, and the same in the body."),
        LabParameter("delay_ms", .whole(0...LabResponse.maximumDelay), "The time until the response begins."),
        LabParameter("dribble_ms", .whole(0...LabResponse.maximumDribble), "The time for each of up to 20 parts of the body."),
        LabParameter("drop", choice(LabDrop.self), "The point at which the connection breaks."),
        LabParameter("close", choice(LabClose.self), "The way in which the connection breaks."),
        LabParameter("truncate", .whole(0...65_536), "The number of bytes of the body that are sent."),
        LabParameter("content", choice(LabContent.self), "The replacement of the body."),
        LabParameter("type", .line, "The Content-Type in place of the body's."),
        LabParameter("charset", choice(LabCharset.self), "The encoding of the body, which its Content-Type doesn't report."),
        LabParameter("bare", .choice(["true", "false"]), "Whether X-Error-Code is omitted."),
        LabParameter("redirect", choice(LabRedirect.self), "The target of a redirect before the response."),
        LabParameter("times", .whole(0...1_000), "The number of calls of the session that fail before the next ones succeed."),
        LabParameter("flaky", .fraction, "The share of calls that fail."),
        LabParameter("seed", .whole(0...1_000_000_000), "The seed that selects the calls that fail."),
        LabParameter("then", .outcome, "The response to the calls that don't fail."),
        LabParameter("session", .name, "The session whose calls are counted together."),
        LabParameter("family", .choice(LabFamily.all.map(\.name)), "The kind of server whose error body is sent."),
    ]

    /// Returns the raw values of an enumeration as a choice.
    /// - Parameter type: The enumeration. The choice lists its cases in their order.
    private static func choice<Word: RawRepresentable<String> & CaseIterable>(_ type: Word.Type) -> Values {
        .choice(type.allCases.map(\.rawValue))
    }
}

/// Parses query parameters and collects all problems, so that a developer can correct all of them in one step. The parser treats an invalid
/// value as absent.
struct LabParameterReader {
    /// The problems so far; at most 50, and one per parameter.
    private(set) var problems: [LabRefusal.Problem] = []
    /// The names and values of a request, in order. If a name occurs twice, the parser uses the last value.
    private let values: [(name: String, value: String)]

    /// Creates a parser.
    /// - Parameter values: The decoded names and values of a request, in order.
    init(_ values: [(name: String, value: String)]) {
        self.values = values
    }

    /// Returns the value of a parameter that allows only certain words; `nil` if the value is absent or another word.
    ///
    /// - Parameter name: The name of the parameter, which must be in ``LabParameter/all``.
    mutating func word(_ name: String) -> String? {
        read(name) { text, values in
            guard case .choice(let words) = values, words.contains(text) else { return nil }
            return text
        }
    }

    /// Returns a whole number within the range of the parameter.
    ///
    /// - Parameter name: The name of the parameter.
    /// - Returns: The number; `nil` if it is absent or out of range.
    mutating func whole(_ name: String) -> Int? {
        read(name) { text, values in
            guard case .whole(let range) = values, let number = Int(text), range.contains(number) else { return nil }
            return number
        }
    }

    /// Returns a number from 0 to 1.
    ///
    /// - Parameter name: The name of the parameter.
    /// - Returns: The number; `nil` if it is absent or out of range.
    mutating func fraction(_ name: String) -> Double? {
        read(name) { text, _ in
            guard let number = Double(text), (0...1).contains(number) else { return nil }
            return number
        }
    }

    /// Returns an outcome.
    mutating func outcome(_ name: String) -> LabOutcome? {
        read(name) { text, _ in LabOutcome(parameter: text) }
    }

    /// Returns a delay.
    mutating func delay(_ name: String) -> LabRetryAfter? {
        read(name) { text, _ in LabRetryAfter(parameter: text) }
    }

    /// Returns a language. The tag has 2 to 35 letters, digits and hyphens.
    mutating func language(_ name: String) -> Language? {
        read(name) { text, _ in
            let isTag = text.utf8.allSatisfy { $0 == 0x2D || isLetterOrDigit($0) }
            return isTag && (2...35).contains(text.utf8.count) ? Language(text) : nil
        }
    }

    /// Returns a line of ASCII.
    mutating func line(_ name: String) -> String? {
        read(name) { text, _ in
            (1...100).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) } ? text : nil
        }
    }

    /// Returns a name.
    mutating func name(_ name: String) -> String? {
        read(name) { text, _ in
            let isName = text.utf8.allSatisfy { isLetterOrDigit($0) || "._-".utf8.contains($0) }
            return isName && (1...64).contains(text.utf8.count) ? text : nil
        }
    }

    /// Refuses unknown names, because a misspelled parameter would otherwise have no effect.
    mutating func refuseUnknown() {
        let known = LabParameter.all.map(\.name)
        for (name, _) in values where !known.contains(name) {
            refuse(
                String(name.prefix(64)),
                .validationInvalidInput,
                "unknown parameter; the parameters are " + known.joined(separator: ", ")
            )
        }
    }

    /// Refuses parameters that are valid but contradict each other, such as `family` and `code`.
    /// - Parameters:
    ///   - response: The response with all parsed parameters.
    ///   - catalogue: The catalogue of the server. If it doesn't contain the code of `code`, the parameter `status` is required. It must
    ///     contain the code of `then`, because `status` doesn't apply to this response.
    mutating func refuseContradictions(of response: LabResponse, catalogue: ErrorCatalogue) {
        // The status of a redirect doesn't apply to its target.
        let isOfRedirect = response.redirect != nil && response.status.map(LabRedirect.statuses.contains) == true
        if case .code(let code) = response.outcome, catalogue[code] == nil, response.status == nil || isOfRedirect {
            let text = "a code that the catalogue does not have needs status beside it"
            refuse("code", .validationInvalidInput, isOfRedirect ? "\(text), which is not that of the redirect" : text)
        }
        if case .code(let code) = response.then, catalogue[code] == nil {
            refuse("then", .validationInvalidInput, "a code of the catalogue, because status does not apply to then")
        }
        let given = Set(values.map(\.name))
        let pairs = [
            ("family", "code", "can't be combined with family"),
            ("family", "form", "can't be combined with family, whose form is fixed"),
            ("family", "lang", "can't be combined with family, whose language is fixed"),
            ("times", "flaky", "can't be combined with times"),
            ("content", "charset", "can't be combined with content, which is ASCII"),
        ]
        for (first, second, text) in pairs where given.contains(first) && given.contains(second) {
            refuse(second, .validationInvalidInput, text)
        }
    }

    /// Parses the last value of a parameter, and records a problem if it is invalid.
    ///
    /// - Parameters:
    ///   - name: The name of the parameter.
    ///   - parse: A closure that receives the text and the valid values of the parameter. It returns the value, or `nil` if the text is
    ///     invalid.
    private mutating func read<Value>(_ name: String, _ parse: (String, LabParameter.Values) -> Value?) -> Value? {
        guard let text = values.last(where: { $0.name == name })?.value else { return nil }
        guard let parameter = LabParameter.all.first(where: { $0.name == name }) else { return nil }
        if let value = parse(text, parameter.values) { return value }
        refuse(name, .validationInvalidFormat, parameter.allowed)
        return nil
    }

    /// Records a problem, but at most one problem for each parameter, and at most 50 problems in total.
    /// - Parameters:
    ///   - name: The name of the parameter.
    ///   - code: The code of the problem.
    ///   - allowed: A description of the valid values.
    private mutating func refuse(_ name: String, _ code: ErrorCode, _ allowed: String) {
        guard problems.count < 50, !problems.contains(where: { $0.parameter == name }) else { return }
        problems.append(LabRefusal.Problem(parameter: name, code: code, allowed: allowed))
    }
}

/// Returns whether a byte is an ASCII letter or digit.
private func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: false
    }
}
