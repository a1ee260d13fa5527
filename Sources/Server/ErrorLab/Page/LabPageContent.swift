import ErrorLabContract

/// What the page's template is filled with.
struct LabPageContent {
    /// A parameter.
    struct Control: Sendable {
        let name: String
        let summary: String
        let isChoice: Bool
        let options: [String]
        let isNumber: Bool
        let placeholder: String
    }

    /// A scenario.
    struct Row: Sendable {
        let name: String
        let summary: String
        let advice: String
        let method: String
        let path: String
        /// The path for a browser without scripts.
        let link: String
        let note: String?
        let credentials: String
        let timeout: Int
    }

    /// Scenarios of one sort.
    struct Group: Sendable {
        let name: String
        let count: Int
        let scenarios: [Row]
    }

    let nonce: String
    let root: String
    let css: String
    let script: String
    let main: [Control]
    let more: [Control]
    let groups: [Group]
}

extension LabPageContent.Control {
    init(_ parameter: LabParameter, codes: [String]) {
        name = parameter.name
        summary = parameter.summary
        switch parameter.values {
        case .choice(let words): (isChoice, options) = (true, words)
        case .outcome: (isChoice, options) = (true, ["ok", "wrapped"] + codes)
        default: (isChoice, options) = (false, [])
        }
        switch parameter.values {
        case .whole(let range): (isNumber, placeholder) = (true, "\(range.lowerBound)–\(range.upperBound)")
        case .fraction: (isNumber, placeholder) = (false, "0–1")
        case .delay: (isNumber, placeholder) = (false, "30, date:30, none, raw:…")
        case .language: (isNumber, placeholder) = (false, "es")
        default: (isNumber, placeholder) = (false, "")
        }
    }
}

extension LabPageContent.Row {
    init(_ scenario: LabScenario) {
        name = scenario.name
        summary = scenario.summary
        advice = scenario.advice
        method = scenario.method
        path = scenario.path
        link = scenario.path(session: "link")
        credentials = scenario.credentials.rawValue
        timeout = scenario.timeoutMilliseconds ?? 0
        let notes = [
            scenario.method == "GET" ? nil : scenario.method,
            scenario.credentials == .none ? nil : "token \(scenario.credentials.rawValue)",
        ]
        let text = notes.compactMap(\.self).joined(separator: ", ")
        note = text.isEmpty ? nil : text
    }
}
