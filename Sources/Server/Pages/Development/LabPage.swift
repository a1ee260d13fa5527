public import ErrorContract
import ErrorLabContract
import Mustache

/// The page on which a developer configures a test response, requests it, and sees how the browser handles it.
///
/// The parameters and scenarios come from `ErrorLabContract`, so the page always matches the routes of the error lab. The page is one file
/// without third-party resources. In a browser without JavaScript, the scenarios are links.
///
/// `ErrorLabRoutes` of `ErrorLab` serves the page. The script of the page sends the requests, so the page shows how a real browser handles
/// broken responses.
///
/// ```swift
/// let page = try LabPage(root: "/dev/lab", catalogue: .standard)
/// let html = page.html(nonce: nonce)
/// let policy = LabPage.policy(nonce: nonce)
/// ```
public struct LabPage: Sendable {
    /// The parameters that most users need. All other parameters are collapsed.
    private static let mainControls: Set<String> = ["code", "form", "lang", "status", "retry_after", "delay_ms"]

    /// The templates of the page and of one control.
    private let library: MustacheLibrary
    /// The path of the lab.
    private let root: String
    /// The controls that are always visible.
    private let main: [TemplateValues]
    /// The controls that are collapsed.
    private let more: [TemplateValues]
    /// The scenarios by group.
    private let groups: [TemplateValues]

    /// Reads the templates and prepares the values of the page, which are the same for all requests.
    /// - Parameters:
    ///   - root: The path of the lab, without a trailing slash.
    ///   - catalogue: The codes that developers can choose. Pass the catalogue that the routes of the lab use.
    /// - Throws: Mustache's error if a template can't be read.
    public init(root: String, catalogue: ErrorCatalogue) throws {
        self.root = root
        library = MustacheLibrary(templates: [
            "lab": try Self.template(PackageResources.lab_html_mustache),
            "control": try Self.template(PackageResources.control_mustache),
        ])
        let codes = catalogue.definitions.map(\.code.rawValue)
        let isMain = { (parameter: LabParameter) in Self.mainControls.contains(parameter.name) }
        main = LabParameter.all.filter(isMain).map { TemplateValues($0, codes: codes) }
        more = LabParameter.all.filter { !isMain($0) }.map { TemplateValues($0, codes: codes) }
        let scenarios = LabScenario.all(root: root, catalogue: catalogue)
        groups = LabScenario.groups.map { group in
            let rows = scenarios.filter { $0.group == group }.map { TemplateValues($0) }
            return ["name": group.rawValue, "count": rows.count, "scenarios": rows]
        }
    }

    /// Returns the HTML of the page.
    /// - Parameter nonce: The nonce of the response's content security policy.
    ///
    /// - Returns: The page as UTF-8 text. Send it with the policy of ``policy(nonce:)``.
    public func html(nonce: String) -> String {
        let content: TemplateValues = [
            "nonce": nonce,
            "root": root,
            "css": String(decoding: PackageResources.lab_css, as: UTF8.self),
            "script": String(decoding: PackageResources.lab_js, as: UTF8.self),
            "main": main,
            "more": more,
            "groups": groups,
        ]
        return library.render(content, withTemplate: "lab") ?? ""
    }

    /// Returns the content security policy of a page with a nonce. The policy allows only the page's own style and script, and connections
    /// to the page's own server.
    /// - Parameter nonce: The nonce that was passed to ``html(nonce:)``: a new random one for each response.
    public static func policy(nonce: String) -> String { PagePolicy.text(nonce: nonce, runsScript: true, connects: true) }

    /// Parses a template of the module's resources.
    private static func template(_ bytes: [UInt8]) throws -> MustacheTemplate {
        try MustacheTemplate(string: String(decoding: bytes, as: UTF8.self))
    }
}

extension TemplateValues {
    /// Creates the values of a parameter: a list of choices, or a field with a placeholder.
    /// - Parameter codes: The error codes. A parameter that selects the outcome of a request offers them in addition to `ok` and `wrapped`.
    fileprivate init(_ parameter: LabParameter, codes: [String]) {
        let options: [String]? =
            switch parameter.values {
            case .choice(let words): words
            case .outcome: ["ok", "wrapped"] + codes
            default: nil
            }
        let (isNumber, placeholder) =
            switch parameter.values {
            case .whole(let range): (true, "\(range.lowerBound)–\(range.upperBound)")
            case .fraction: (false, "0–1")
            case .delay: (false, "30, date:30, none, raw:…")
            case .language: (false, "es")
            default: (false, "")
            }
        self = [
            "name": parameter.name,
            "summary": parameter.summary,
            "isChoice": options != nil,
            "options": options,
            "isNumber": isNumber,
            "placeholder": placeholder,
        ]
    }

    /// Creates the values of a scenario. Its `link` is for browsers without scripts.
    fileprivate init(_ scenario: LabScenario) {
        let notes = [
            scenario.method == "GET" ? nil : scenario.method,
            scenario.credentials == .none ? nil : "token \(scenario.credentials.rawValue)",
        ].compactMap(\.self)
        self = [
            "name": scenario.name,
            "summary": scenario.summary,
            "advice": scenario.advice,
            "method": scenario.method,
            "path": scenario.path,
            "link": scenario.path(session: "link"),
            "credentials": scenario.credentials.rawValue,
            "timeout": scenario.timeoutMilliseconds ?? 0,
            "note": notes.isEmpty ? nil : notes.joined(separator: ", "),
        ]
    }
}
