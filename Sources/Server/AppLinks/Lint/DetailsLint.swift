import ErrorContract
import StrictJSON

/// Checks the entries of `applinks.details` (Apple, "applinks.Details"). A file must not mix the old format (`paths`) and the new format
/// (`components`; Apple, TN3155).
enum DetailsLint {
    /// Returns the findings about all entries, including a mix of the two formats.
    /// - Parameter entries: The elements of `applinks.details`. An element that isn't an object is a finding.
    static func findings(in entries: [JSONValue]) -> [AssociationFinding] {
        var findings: [AssociationFinding] = []
        var hasComponents = false
        var hasPaths = false
        for (index, entry) in entries.enumerated() {
            let place = "applinks.details[\(index)]"
            guard let object = entry.objectValue else {
                findings.error(.wrongType, place, "The value must be an object; any other value is ignored.")
                continue
            }
            findings += self.entry(object, at: place)
            hasComponents = hasComponents || object["components"] != nil
            hasPaths = hasPaths || object["paths"] != nil
        }
        if hasComponents, hasPaths {
            let message = "The file has components (new) and paths (old); Apple says that links don't work then. Keep components."
            findings.error(.mixedFormats, "applinks.details", message)
        } else if hasPaths {
            let message = "appID with paths is the format before iOS 13; write appIDs with components."
            findings.warning(.oldFormat, "applinks.details", message)
        }
        return findings
    }

    /// Returns the findings about one entry.
    private static func entry(_ entry: JSONObject, at place: String) -> [AssociationFinding] {
        var findings = KeyShape.details.findings(in: entry, at: place) + apps(entry, at: place)
        if let defaults = entry["defaults"]?.objectValue {
            findings += ComponentLint.findings(in: defaults, at: "\(place).defaults")
        }
        for (index, component) in (entry["components"]?.arrayValue ?? []).enumerated() {
            findings += ComponentLint.findings(in: component, at: "\(place).components[\(index)]")
        }
        for (index, path) in (entry["paths"]?.arrayValue ?? []).enumerated() where path.stringValue == nil {
            findings.error(.wrongType, "\(place).paths[\(index)]", "The value must be a string; write the path in quotes.")
        }
        let rules = entry["components"] ?? entry["paths"]
        if rules == nil || rules?.arrayValue?.isEmpty == true {
            findings.error(.missingComponents, place, "The entry has no components, so it opens nothing; add components.")
        }
        return findings
    }

    /// Returns the findings about the apps of an entry: no app, a malformed app, or a mix of the old and the new format.
    private static func apps(_ entry: JSONObject, at place: String) -> [AssociationFinding] {
        switch (entry["appID"], entry["appIDs"]) {
        case (nil, nil): return [.error(.missingApp, place, "The entry has no app; add appIDs.")]
        case (let one?, nil): return AppListLint.finding(in: one, at: "\(place).appID").map { [$0] } ?? []
        case (let one, .array(let many)?):
            if many.isEmpty { return [.error(.missingApp, "\(place).appIDs", "The list is empty; add the app.")] }
            var findings = AppListLint.findings(in: many, at: "\(place).appIDs")
            if one != nil {
                findings.error(.mixedFormats, place, "The entry has appID (old) and appIDs (new); keep appIDs.")
            } else if entry["paths"] != nil, entry["components"] == nil {
                findings.error(.mixedFormats, place, "The entry has appIDs (new) and paths (old); write components.")
            }
            return findings
        default: return []
        }
    }
}

/// Checks lists of apps, in `applinks.details` and in the other services.
enum AppListLint {
    /// Returns the findings about a list.
    static func findings(in apps: [JSONValue], at place: String) -> [AssociationFinding] {
        apps.enumerated().compactMap { finding(in: $1, at: "\(place)[\($0)]") }
    }

    /// Checks whether a value in a list of apps is a valid identifier of an app.
    /// - Parameters:
    ///   - app: The value in the file.
    ///   - place: The path of the value in the file.
    /// - Returns: The problem; `nil` for a valid identifier.
    static func finding(in app: JSONValue, at place: String) -> AssociationFinding? {
        guard let text = app.stringValue else {
            return .error(.wrongType, place, "The value must be a string; write the app in quotes.")
        }
        do throws(AppLinksError) {
            _ = try AppIdentifier(text)
            return nil
        } catch {
            return .error(.malformedApp, place, error.message)
        }
    }
}
