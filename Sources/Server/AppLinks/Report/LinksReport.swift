import ErrorContract
public import StrictJSON

/// What `holdfast links verify` says: the findings about a file and the answers for links.
public struct LinksReport: Hashable, Sendable {
    /// The file's name or address.
    public let source: String
    /// What the lint found, errors first.
    public let findings: [AssociationFinding]
    /// One answer for each link, in their order.
    public let answers: [LinkAnswer]

    /// Verifies a file that was fetched; links must be of its domain.
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

    /// Verifies a file on disk.
    /// - Parameter domain: The domain that will serve the file; `nil` takes links of any host.
    public init(file: String, bytes: [UInt8], domain: String? = nil, links: [String] = []) {
        self.init(source: file, findings: AssociationLint.findings(in: bytes), bytes: bytes, domain: domain, links: links)
    }

    private init(source: String, findings: [AssociationFinding], bytes: [UInt8], domain: String?, links: [String]) {
        self.source = source
        self.findings = findings.filter { $0.severity == .error } + findings.filter { $0.severity == .warning }
        do throws(AssociationMatcher.Unreadable) {
            let matcher = try AssociationMatcher(bytes, domain: domain)
            answers = links.map { matcher.answer($0) }
        } catch {
            let refusal = LinkRefusal(code: .unreadableFile, message: "The file can't be read; correct it first.")
            answers = links.map { LinkAnswer(link: $0, outcome: .refused(refusal)) }
        }
    }

    /// Whether there is no error and every link opens an app.
    public var isGood: Bool {
        !findings.contains { $0.severity == .error } && answers.allSatisfy { !$0.apps.isEmpty }
    }
}

extension LinksReport {
    /// The report for programs: `source`, `ok`, `findings` and `links`.
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
            "links": .array(answers.map(\.json)),
        ]
    }
}

extension LinkAnswer {
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

extension LinkAnswer.Rule {
    fileprivate var members: [(String, JSONValue)] {
        [
            ("apps", .array(apps.map { .string($0) })),
            ("details", .integer(Int64(entry))),
            (isOldFormat ? "path" : "component", .integer(Int64(component))),
            ("comment", comment.map { .string($0) } ?? .null),
        ]
    }
}

extension LinkAnswer.Miss {
    fileprivate var json: JSONValue {
        ["details": .integer(Int64(entry)), "component": .integer(Int64(component)), "key": .string(key)]
    }
}
