extension LinksReport {
    /// How many findings and misses the text lists; ``json`` has them all.
    private static var listed: Int { 50 }

    /// The report for a terminal, without control characters, whatever the file and the links hold.
    public var text: String {
        var lines = [source, "  " + summary]
        for finding in findings.prefix(Self.listed) {
            let place = finding.place.isEmpty ? "" : "  \(finding.place)"
            lines += ["", "\(finding.severity.rawValue)  \(finding.code.rawValue)\(place)", "  \(finding.message)"]
        }
        if findings.count > Self.listed { lines += ["", "… and \(findings.count - Self.listed) more findings"] }
        for answer in answers { lines += [""] + answer.lines(listed: Self.listed) }
        return lines.map(Self.printable).joined(separator: "\n") + "\n"
    }

    private var summary: String {
        let errors = findings.count { $0.severity == .error }
        let counts = [(errors, "error"), (findings.count - errors, "warning")]
        let parts = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)\($0.0 == 1 ? "" : "s")" }
        return parts.isEmpty ? "no findings" : parts.joined(separator: ", ")
    }

    /// Escape sequences and characters that turn the direction of writing would let a file fake a report.
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

extension LinkAnswer {
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

extension LinkAnswer.Rule {
    fileprivate var place: String {
        let remark = comment.map { " (\($0))" } ?? ""
        return "details[\(entry)], \(isOldFormat ? "path" : "component") \(component)\(remark)"
    }
}

extension LinkAnswer.Miss {
    fileprivate var reason: String {
        switch key {
        case "/": "the path differs"
        case "?": "the query differs"
        case "#": "the fragment differs"
        default: "the query item \(key.dropFirst()) differs or is missing"
        }
    }
}
