import ErrorContract
import StrictJSON

/// What `holdfast doctor` says about one thing.
struct Finding: Hashable, Sendable {
    enum Verdict: String, Sendable {
        /// It works.
        case good
        /// The server runs, but somebody should look.
        case advice
        /// The server does not run, or not as it should.
        case wrong
    }

    /// What was looked at, such as `database`.
    let subject: String
    let verdict: Verdict
    /// What was found.
    let text: String
    /// What to do about it.
    let remedy: String?

    static func good(_ subject: String, _ text: String) -> Finding {
        Finding(subject: subject, verdict: .good, text: text, remedy: nil)
    }

    static func advice(_ subject: String, _ text: String, _ remedy: String) -> Finding {
        Finding(subject: subject, verdict: .advice, text: text, remedy: remedy)
    }

    static func wrong(_ subject: String, _ text: String, _ remedy: String) -> Finding {
        Finding(subject: subject, verdict: .wrong, text: text, remedy: remedy)
    }

    /// The finding as a program reads it.
    var json: JSONValue {
        var members: JSONObject = [
            "subject": .string(subject), "verdict": .string(verdict.rawValue), "text": .string(text),
        ]
        if let remedy { members["remedy"] = .string(remedy) }
        return .object(members)
    }

    /// The finding as a person reads it: a line, and another with what to do.
    func lines(_ style: TextStyle) -> [String] {
        let mark =
            switch verdict {
            case .good: style.good("ok    ")
            case .advice: style.waiting("advice")
            case .wrong: style.bad("wrong ")
            }
        let name = subject + String(repeating: " ", count: max(0, 14 - subject.count))
        return ["\(mark)  \(name) \(text)"]
            + (remedy.map { [style.faint("        \(String(repeating: " ", count: 14)) → \($0)")] } ?? [])
    }
}
