import ErrorContract
import StrictJSON

/// Custom variables (Apple, "applinks.SubstitutionVariables").
enum VariableLint {
    static func findings(in variables: JSONObject) -> [AssociationFinding] {
        variables.members.flatMap { name, value in
            let place = "applinks.substitutionVariables.\(name)"
            var findings: [AssociationFinding] = []
            if name.utf8.contains(where: "$()".utf8.contains) {
                findings.append(.error(.badVariable, place, "The name must not have $, ( or ); take them out."))
            }
            if PatternCompiler.predefined.contains(name) {
                findings.append(.warning(.badVariable, place, "$(\(name)) is predefined; give yours another name."))
            }
            guard let values = value.arrayValue else {
                return findings + [.error(.wrongType, place, "The value must be an array of strings; put the text into [].")]
            }
            if values.isEmpty {
                findings.append(
                    .error(.badVariable, place, "The variable has no values, so patterns with it match nothing; add one.")
                )
            }
            for (index, value) in values.enumerated() {
                guard let text = value.stringValue else {
                    findings.append(.error(.wrongType, "\(place)[\(index)]", "The value must be a string; write it in quotes."))
                    continue
                }
                if text.contains("$(") {
                    findings.append(
                        .error(.badVariable, "\(place)[\(index)]", "A value can't name another variable; write it out.")
                    )
                }
            }
            return findings
        }
    }
}
