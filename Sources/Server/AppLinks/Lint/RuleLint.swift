import ErrorContract
import StrictJSON

/// What the rules do together: which are never reached, and whether any opens a link.
enum RuleLint {
    /// With how many components, the first of the file, one is compared.
    private static let reach = 500

    static func findings(in document: AssociationDocument) -> [AssociationFinding] {
        document.entries.flatMap { entry in
            flaws(entry) + impossible(entry) + excludeOnly(entry)
        } + unreachable(document.entries)
    }

    private static func place(_ entry: AssociationEntry, _ rule: LinkRule) -> String {
        "applinks.details[\(entry.index)].\(entry.format == .paths ? "paths" : "components")[\(rule.index)]"
    }

    private static func flaws(_ entry: AssociationEntry) -> [AssociationFinding] {
        entry.rules.flatMap { rule in
            rule.flaws.map { key, flaw in
                let here = "\(place(entry, rule)).\(key)"
                return switch flaw {
                case .unknownVariable(let name):
                    .error(
                        .unknownVariable,
                        here,
                        "There is no variable $(\(name)); add it to substitutionVariables, or correct the name (case counts)."
                    )
                case .openVariable: .error(.neverMatches, here, "$( has no ); close the variable's name.")
                case .tooComplex:
                    .error(.neverMatches, here, "The file's variables have too many values to be checked; use fewer of them.")
                }
            }
        }
    }

    /// Characters that no link has in the part that the pattern is for.
    private static func impossible(_ entry: AssociationEntry) -> [AssociationFinding] {
        entry.rules.flatMap { rule in
            var findings: [AssociationFinding] = []
            guard !rule.decodes else { return findings }
            if rule.path.pattern.hasLiteral(where: { $0 == 0x23 }) {
                let message = "A path has no #; put what follows it under the key \"#\"."
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

    private static func excludeOnly(_ entry: AssociationEntry) -> [AssociationFinding] {
        guard !entry.rules.isEmpty, entry.rules.allSatisfy(\.excludes) else { return [] }
        let message = "All components exclude, so the entry opens nothing; add one that does not, as the last."
        return [.warning(.excludeOnly, "applinks.details[\(entry.index)]", message)]
    }

    /// A rule is not reached if an earlier one takes all its links, in its entry or in an entry that all its apps are in too.
    private static func unreachable(_ entries: [AssociationEntry]) -> [AssociationFinding] {
        var findings: [AssociationFinding] = []
        var earlier: [(entry: AssociationEntry, apps: Set<String>, rule: LinkRule)] = []
        for entry in entries where !entry.apps.isEmpty {
            let apps = Set(entry.apps)
            for rule in entry.rules {
                let cover = earlier.first { $0.apps.isSuperset(of: apps) && $0.rule.covers(rule) }
                guard let cover else {
                    if earlier.count < reach { earlier.append((entry, apps, rule)) }
                    continue
                }
                let first = place(cover.entry, cover.rule)
                let message = "\(first) takes all these links first; put this component before it, or remove it."
                findings.warning(.unreachable, place(entry, rule), message)
            }
        }
        return findings
    }
}

/// Custom variables (Apple, "applinks.SubstitutionVariables").
enum VariableLint {
    static func findings(in variables: JSONObject) -> [AssociationFinding] {
        variables.members.flatMap { name, value in
            let place = "applinks.substitutionVariables.\(name)"
            var findings: [AssociationFinding] = []
            if name.utf8.contains(where: "$()".utf8.contains) {
                findings.error(.badVariable, place, "The name must not have $, ( or ); take them out.")
            }
            if PatternCompiler.predefined.contains(name) {
                findings.warning(.badVariable, place, "$(\(name)) is predefined; give yours another name.")
            }
            guard let values = value.arrayValue else {
                return findings + [.error(.wrongType, place, "The value must be an array of strings; put the text into [].")]
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
                    findings.error(.badVariable, "\(place)[\(index)]", "A value can't name another variable; write it out.")
                }
            }
            return findings
        }
    }
}

/// One component, or `defaults`, which take the same keys (Apple, "applinks.Details.Components", "applinks.Defaults").
enum ComponentLint {
    static func findings(in component: JSONValue, at place: String) -> [AssociationFinding] {
        guard let object = component.objectValue else {
            return [.error(.wrongType, place, "The value must be an object; as it is the system overlooks it.")]
        }
        return findings(in: object, at: place)
    }

    static func findings(in component: JSONObject, at place: String) -> [AssociationFinding] {
        KeyShape.component.findings(in: component, at: place) + query(component["?"], at: place)
    }

    private static func query(_ query: JSONValue?, at place: String) -> [AssociationFinding] {
        (query?.objectValue?.members ?? []).compactMap { name, value in
            if value.stringValue != nil { return nil }
            let message = "The value must be a string; as it is the system overlooks all of ?, and the component takes any query."
            return .error(.wrongType, "\(place).?.\(name)", message)
        }
    }
}
