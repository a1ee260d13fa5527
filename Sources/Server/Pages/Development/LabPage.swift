public import ErrorContract
import ErrorLabContract
import Mustache

/// The page on which a developer composes a response, tries it, and sees how a client handles it.
public struct LabPage: Sendable {
    /// The parameters that most users need; the rest is folded away.
    private static let mainControls: Set<String> = ["code", "form", "lang", "status", "retry_after", "delay_ms"]

    private let library: MustacheLibrary
    private let root: String
    private let controls: [LabPageContent.Control]
    private let groups: [LabPageContent.Group]

    /// Reads the templates.
    /// - Parameters:
    ///   - root: The path of the lab.
    ///   - catalogue: The codes that can be chosen.
    /// - Throws: Mustache's error if a template can't be read.
    public init(root: String, catalogue: ErrorCatalogue) throws {
        self.root = root
        library = MustacheLibrary(templates: [
            "lab": try Self.template(PackageResources.lab_html_mustache),
            "control": try Self.template(PackageResources.control_mustache),
        ])
        controls = LabParameter.all.map { LabPageContent.Control($0, codes: catalogue.definitions.map(\.code.rawValue)) }
        let scenarios = LabScenario.all(root: root, catalogue: catalogue)
        groups = LabScenario.groups.map { group in
            let rows = scenarios.filter { $0.group == group }.map { LabPageContent.Row($0) }
            return LabPageContent.Group(name: group.rawValue, count: rows.count, scenarios: rows)
        }
    }

    /// The page's HTML.
    /// - Parameter nonce: The nonce of the response's content security policy.
    public func html(nonce: String) -> String {
        let content = LabPageContent(
            nonce: nonce,
            root: root,
            css: String(decoding: PackageResources.lab_css, as: UTF8.self),
            script: String(decoding: PackageResources.lab_js, as: UTF8.self),
            main: controls.filter { Self.mainControls.contains($0.name) },
            more: controls.filter { !Self.mainControls.contains($0.name) },
            groups: groups
        )
        return library.render(content, withTemplate: "lab") ?? ""
    }

    /// The content security policy of a page with this nonce.
    public static func policy(nonce: String) -> String { PagePolicy.text(nonce: nonce, runsScript: true, connects: true) }

    private static func template(_ bytes: [UInt8]) throws -> MustacheTemplate {
        try MustacheTemplate(string: String(decoding: bytes, as: UTF8.self))
    }
}

/// The content of the page's template.
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
