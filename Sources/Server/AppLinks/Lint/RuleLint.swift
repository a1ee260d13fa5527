import ErrorContract
import StrictJSON

/// Checks the rules as a whole: patterns that can't match, entries that open no links, and rules that are never reached.
enum RuleLint {
    /// The maximum number of earlier components with which the lint compares a component. It uses the first components of the file, and
    /// skips unreachable ones. The number limits the time for a large file.
    private static let reach = 500

    /// Returns the findings about all rules.
    static func findings(in document: AssociationDocument) -> [AssociationFinding] {
        document.entries.flatMap { entry in
            flaws(entry) + impossible(entry) + excludeOnly(entry)
        } + unreachable(document.entries)
    }

    /// Returns the path of a rule in the file.
    private static func place(_ entry: AssociationEntry, _ rule: LinkRule) -> String {
        "applinks.details[\(entry.index)].\(entry.format == .paths ? "paths" : "components")[\(rule.index)]"
    }

    /// Reports patterns that match nothing because of a problem with a variable.
    private static func flaws(_ entry: AssociationEntry) -> [AssociationFinding] {
        entry.rules.flatMap { rule in
            rule.flaws.map { key, flaw in
                let here = "\(place(entry, rule)).\(key)"
                return switch flaw {
                case .unknownVariable(let name):
                    .error(
                        .unknownVariable,
                        here,
                        "The variable $(\(name)) is undefined; add it to substitutionVariables, or correct the name (case matters)."
                    )
                case .openVariable: .error(.neverMatches, here, "$( has no ); add it after the variable's name.")
                case .tooComplex:
                    .error(.neverMatches, here, "The file's variables have too many values to be checked; use fewer of them.")
                }
            }
        }
    }

    /// Reports patterns with characters that can't occur in the part of a link that the pattern describes. For example, a percent-encoded
    /// link contains no space. With `percentEncoded: false`, patterns are compared with the decoded link instead.
    private static func impossible(_ entry: AssociationEntry) -> [AssociationFinding] {
        entry.rules.flatMap { rule in
            var findings: [AssociationFinding] = []
            guard !rule.decodes else { return findings }
            if rule.path.pattern.hasLiteral(where: { $0 == 0x23 }) {
                let message = "A path has no #; move the rest of the pattern to the key \"#\"."
                findings.error(.neverMatches, "\(place(entry, rule))./", message)
            }
            let patterns = [("/", [rule.path.pattern]), ("?", rule.query.patterns), ("#", [rule.fragment])]
            for (key, patterns) in patterns where patterns.contains(where: { $0.hasLiteral { $0 <= 0x20 || $0 >= 0x7F } }) {
                let message = "Links are percent-encoded, the pattern is not; encode it, or set percentEncoded to false."
                findings.error(.neverMatches, "\(place(entry, rule)).\(key)", message)
            }
            return findings
        }
    }

    /// Reports an entry in which every component is an exclusion.
    private static func excludeOnly(_ entry: AssociationEntry) -> [AssociationFinding] {
        guard !entry.rules.isEmpty, entry.rules.allSatisfy(\.excludes) else { return [] }
        let message = "All components are exclusions, so the entry opens nothing; add a last one that is not."
        return [.warning(.excludeOnly, "applinks.details[\(entry.index)]", message)]
    }

    /// Reports rules that are never reached. A rule is unreachable if an earlier rule matches all its links. The earlier rule must be in
    /// the same entry, or in an entry that lists all apps of the later entry.
    /// - Complexity: O((number of rules + number of apps) · 500).
    private static func unreachable(_ entries: [AssociationEntry]) -> [AssociationFinding] {
        var findings: [AssociationFinding] = []
        var earlier: [(entry: AssociationEntry, apps: Set<String>, rule: LinkRule)] = []
        for entry in entries where !entry.apps.isEmpty {
            let apps = Set(entry.apps)
            // With a comparison of the apps for each pair of rules, an entry with thousands of both would take minutes.
            var candidates = earlier.filter { $0.apps.isSuperset(of: apps) }
            for rule in entry.rules {
                let cover = candidates.first { $0.rule.covers(rule) }
                guard let cover else {
                    guard earlier.count < reach else { continue }
                    earlier.append((entry, apps, rule))
                    candidates.append((entry, apps, rule))
                    continue
                }
                let first = place(cover.entry, cover.rule)
                let message = "\(first) matches all these links first; move this component before it, or remove it."
                findings.warning(.unreachable, place(entry, rule), message)
            }
        }
        return findings
    }
}

/// Checks custom variables (Apple, "applinks.SubstitutionVariables").
enum VariableLint {
    /// Returns the findings about all custom variables.
    static func findings(in variables: JSONObject) -> [AssociationFinding] {
        variables.members.flatMap { name, value in
            let place = "applinks.substitutionVariables.\(name)"
            var findings: [AssociationFinding] = []
            if name.utf8.contains(where: "$()".utf8.contains) {
                findings.error(.badVariable, place, "The name must not have $, ( or ); remove them.")
            }
            if PatternCompiler.predefined.contains(name) {
                findings.warning(.badVariable, place, "$(\(name)) is predefined; use another name.")
            }
            guard let values = value.arrayValue else {
                return findings + [.error(.wrongType, place, "The value must be an array of strings; write the text in [].")]
            }
            if values.isEmpty {
                findings.error(.badVariable, place, "The variable has no values, so patterns with it match nothing; add one.")
            }
            for (index, value) in values.enumerated() {
                guard let text = value.stringValue else {
                    findings.error(.wrongType, "\(place)[\(index)]", "The value must be a string; write it in quotes.")
                    continue
                }
                if text.contains("$(") {
                    findings.error(.badVariable, "\(place)[\(index)]", "A value can't contain another variable; write the text.")
                }
            }
            return findings
        }
    }
}

/// Checks a component or a `defaults` object. Both accept the same keys (Apple, "applinks.Details.Components", "applinks.Defaults").
enum ComponentLint {
    /// Returns the findings about a component.
    static func findings(in component: JSONValue, at place: String) -> [AssociationFinding] {
        guard let object = component.objectValue else {
            return [.error(.wrongType, place, "The value must be an object; any other value is ignored.")]
        }
        return findings(in: object, at: place)
    }

    /// Returns the findings about the keys of a component.
    static func findings(in component: JSONObject, at place: String) -> [AssociationFinding] {
        KeyShape.component.findings(in: component, at: place) + query(component["?"], at: place)
    }

    /// Reports values of a query that aren't strings. The system then ignores the whole query, so the component matches more links than
    /// intended.
    private static func query(_ query: JSONValue?, at place: String) -> [AssociationFinding] {
        (query?.objectValue?.members ?? []).compactMap { name, value in
            if value.stringValue != nil { return nil }
            let message = "The value must be a string; otherwise all of ? is ignored, and the component matches any query."
            return .error(.wrongType, "\(place).?.\(name)", message)
        }
    }
}
