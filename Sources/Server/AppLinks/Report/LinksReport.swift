import ErrorContract
public import StrictJSON

/// The result of `holdfast links verify`: the findings about a file, and the matches of links.
///
/// ```swift
/// let report = LinksReport(file: "apple-app-site-association", bytes: bytes, links: ["https://example.com/reset-password?token=abc"])
/// print(report.text)
/// ```
///
/// The report makes no requests. For the findings alone, use ``AssociationLint``. For the matches alone, use ``AssociationMatcher``.
public struct LinksReport: Hashable, Sendable {
    /// The file's name or address.
    public let source: String
    /// The findings, errors first.
    public let findings: [AssociationFinding]
    /// The result for each link, in the order of the links.
    public let matches: [LinkMatch]

    /// Verifies a fetched file. The report refuses links that don't belong to the domain of the file.
    /// - Parameters:
    ///   - retrieval: The response. If its status is not 2xx, the file counts as missing, and all links are refused.
    ///   - links: The links that should open an app.
    public init(_ retrieval: Retrieval, links: [String] = []) {
        let isFile = (200..<300).contains(retrieval.status)
        self.init(
            source: retrieval.url,
            findings: AssociationLint.findings(in: retrieval),
            bytes: isFile ? retrieval.bytes : [],
            domain: retrieval.domain,
            links: links
        )
    }

    /// Verifies a file on disk, such as one that isn't served yet.
    /// - Parameters:
    ///   - file: The path, for the report only. The initializer doesn't read the file.
    ///   - bytes: The content of the file.
    ///   - domain: The domain that will serve the file; `nil` accepts links of any host.
    ///   - links: The links that are matched against the file.
    public init(file: String, bytes: [UInt8], domain: String? = nil, links: [String] = []) {
        self.init(source: file, findings: AssociationLint.findings(in: bytes), bytes: bytes, domain: domain, links: links)
    }

    /// Creates a report from findings. If the file can't be read, all links are refused.
    private init(source: String, findings: [AssociationFinding], bytes: [UInt8], domain: String?, links: [String]) {
        self.source = source
        self.findings = findings.filter { $0.severity == .error } + findings.filter { $0.severity == .warning }
        do throws(AssociationMatcher.Unreadable) {
            let matcher = try AssociationMatcher(bytes, domain: domain)
            matches = links.map { matcher.match($0) }
        } catch {
            let refusal = LinkMismatch(code: .unreadableFile, message: "The file can't be read; fix it first.")
            matches = links.map { LinkMatch(link: $0, outcome: .refused(refusal)) }
        }
    }

    /// Whether there are no errors and every link opens an app. Warnings are allowed. `holdfast links verify` fails if the value is
    /// `false`.
    public var isGood: Bool {
        !findings.contains { $0.severity == .error } && matches.allSatisfy { !$0.apps.isEmpty }
    }
}

extension LinksReport {
    /// The complete report as JSON: `source`, `ok`, `findings` and `links`. The members are stable, so scripts can use them.
    public var json: JSONValue {
        [
            "source": .string(source),
            "ok": .bool(isGood),
            "findings": .array(
                findings.map { finding in
                    [
                        "severity": .string(finding.severity.rawValue),
                        "code": .string(finding.code.rawValue),
                        "place": .string(finding.place),
                        "message": .string(finding.message),
                    ]
                }
            ),
            "links": .array(matches.map(\.json)),
        ]
    }
}

extension LinkMatch {
    /// The result of a link as JSON.
    fileprivate var json: JSONValue {
        var members: [(String, JSONValue)] = [("link", .string(link))]
        switch outcome {
        case .opens(let rule): members += [("outcome", "opens")] + rule.members
        case .excluded(let rule): members += [("outcome", "excluded")] + rule.members
        case .unmatched(let misses): members += [("outcome", "unmatched"), ("misses", .array(misses.map(\.json)))]
        case .refused(let refusal):
            members += [("outcome", "refused"), ("code", .string(refusal.code.rawValue)), ("message", .string(refusal.message))]
        }
        return .object(JSONObject(members))
    }
}

extension LinkMatch.Rule {
    /// The rule as members of the result.
    fileprivate var members: [(String, JSONValue)] {
        [
            ("apps", .array(apps.map { .string($0) })),
            ("details", .integer(Int64(entry))),
            (isOldFormat ? "path" : "component", .integer(Int64(component))),
            ("comment", comment.map { .string($0) } ?? .null),
        ]
    }
}

extension LinkMatch.Miss {
    /// The miss as JSON.
    fileprivate var json: JSONValue {
        ["details": .integer(Int64(entry)), "component": .integer(Int64(component)), "key": .string(key)]
    }
}

extension LinksReport {
    /// The number of findings and misses that the text lists; ``json`` has all of them.
    private static var listed: Int { 50 }

    /// The report as text for a terminal. The text lists at most 50 findings, and at most 50 misses of each link. Control characters of the
    /// file and the links are replaced.
    public var text: String {
        var lines = [source, "  " + summary]
        for finding in findings.prefix(Self.listed) {
            let place = finding.place.isEmpty ? "" : "  \(finding.place)"
            lines += ["", "\(finding.severity.rawValue)  \(finding.code.rawValue)\(place)", "  \(finding.message)"]
        }
        if findings.count > Self.listed { lines += ["", "… and \(findings.count - Self.listed) more findings"] }
        for match in matches { lines += [""] + match.lines(listed: Self.listed) }
        return lines.map(Self.printable).joined(separator: "\n") + "\n"
    }

    /// The numbers of errors and warnings.
    private var summary: String {
        let errors = findings.count { $0.severity == .error }
        let counts = [(errors, "error"), (findings.count - errors, "warning")]
        let parts = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)\($0.0 == 1 ? "" : "s")" }
        return parts.isEmpty ? "no findings" : parts.joined(separator: ", ")
    }

    /// Replaces control characters by U+FFFD, because escape sequences and characters that change the direction of writing could fake a
    /// report.
    private static func printable(_ line: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in line.unicodeScalars {
            let category = scalar.properties.generalCategory
            let isHidden =
                category == .control || category == .format || category == .lineSeparator || category == .paragraphSeparator
            result.append(isHidden ? "\u{FFFD}" : scalar)
        }
        return String(result)
    }
}

extension LinkMatch {
    /// Returns the result of a link as lines of text.
    fileprivate func lines(listed: Int) -> [String] {
        switch outcome {
        case .opens(let rule): return ["opens     \(link)", "  \(rule.apps.joined(separator: ", ")) by \(rule.place)"]
        case .excluded(let rule): return ["excluded  \(link)", "  stays in the browser by \(rule.place)"]
        case .refused(let refusal): return ["refused   \(link)", "  \(refusal.message)"]
        case .unmatched(let misses):
            let reasons = misses.prefix(listed).map { "  details[\($0.entry)], component \($0.component): \($0.reason)" }
            let rest = misses.count > listed ? ["  … and \(misses.count - listed) more"] : []
            return ["unmatched \(link)", "  stays in the browser, no component matches"] + reasons + rest
        }
    }
}

extension LinkMatch.Rule {
    /// The position of the rule in the file, with its comment.
    fileprivate var place: String {
        let remark = comment.map { " (\($0))" } ?? ""
        return "details[\(entry)], \(isOldFormat ? "path" : "component") \(component)\(remark)"
    }
}

extension LinkMatch.Miss {
    /// A sentence that names the part that differs.
    fileprivate var reason: String {
        switch key {
        case "/": "the path differs"
        case "?": "the query differs"
        case "#": "the fragment differs"
        default: "the query item \(key.dropFirst()) differs or is missing"
        }
    }
}
