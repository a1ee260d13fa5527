import ErrorContract
import StrictJSON

/// What the file must have, from the top down.
enum StructureLint {
    /// - Parameter apps: The apps that open links.
    static func findings(in file: JSONValue, apps: [String]) -> [AssociationFinding] {
        guard let root = file.objectValue else {
            return [.error(.wrongType, "", "The file must be an object with applinks; put the services into {}.")]
        }
        var findings = KeyShape.file.findings(in: root, at: "")
        for service in ["webcredentials", "appclips", "activitycontinuation"] {
            guard let object = root[service]?.objectValue else { continue }
            findings += KeyShape.service.findings(in: object, at: service)
            findings += AppListLint.findings(in: object["apps"]?.arrayValue ?? [], at: "\(service).apps")
        }
        guard let applinks = root["applinks"] else {
            return findings + [.error(.missingAppLinks, "", "There is no applinks service; add it, or no link opens an app.")]
        }
        if let object = applinks.objectValue { findings += self.applinks(object) }
        return findings + webCredentials(root, apps: apps)
    }

    private static func applinks(_ applinks: JSONObject) -> [AssociationFinding] {
        var findings = KeyShape.applinks.findings(in: applinks, at: "applinks")
        if applinks["apps"] != nil {
            findings.append(.warning(.leftoverApps, "applinks.apps", "iOS 13 and later don't need apps; remove it."))
        }
        if let defaults = applinks["defaults"]?.objectValue {
            findings += ComponentLint.findings(in: defaults, at: "applinks.defaults")
        }
        if let variables = applinks["substitutionVariables"]?.objectValue {
            findings += VariableLint.findings(in: variables)
        }
        switch applinks["details"] {
        case .array(let entries) where !entries.isEmpty: return findings + DetailsLint.findings(in: entries)
        case .object(let entries) where !entries.isEmpty:
            let message = "details as an object is the form of iOS 9.0; make it an array of objects with appIDs and components."
            return findings + [.warning(.oldFormat, "applinks.details", message)]
        case .array, .object, nil:
            return findings + [
                .error(.missingDetails, "applinks.details", "There are no details; add one with appIDs and components.")
            ]
        default: return findings
        }
    }

    /// Without the service iOS saves no password for the domain ("Supporting associated domains").
    private static func webCredentials(_ root: JSONObject, apps: [String]) -> [AssociationFinding] {
        guard let service = root["webcredentials"] else {
            let message =
                "There is no webcredentials service; add it with the apps, so that iOS saves new passwords for the domain."
            return [.warning(.missingWebCredentials, "webcredentials", message)]
        }
        let listed = Set(service.objectValue?["apps"]?.arrayValue?.compactMap(\.stringValue) ?? [])
        return Set(apps).subtracting(listed).sorted().map {
            .warning(.missingWebCredentials, "webcredentials.apps", "\($0) opens links but is not in this list; add it.")
        }
    }
}
