import ErrorContract
import StrictJSON

/// Checks the required structure of the file, from the top level down.
enum StructureLint {
    /// Returns the findings about all services of the file.
    /// - Parameters:
    ///   - file: The parsed file.
    ///   - apps: The apps that open links. If `webcredentials` doesn't list one of them, the result contains a warning.
    static func findings(in file: JSONValue, apps: [String]) -> [AssociationFinding] {
        guard let root = file.objectValue else {
            return [.error(.wrongType, "", "The file must be an object with applinks; write the services in {}.")]
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

    /// Returns the findings about the `applinks` service.
    private static func applinks(_ applinks: JSONObject) -> [AssociationFinding] {
        var findings = KeyShape.applinks.findings(in: applinks, at: "applinks")
        if applinks["apps"] != nil {
            findings.warning(.leftoverApps, "applinks.apps", "iOS 13 and later don't need apps; remove it.")
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
            let message = "details as an object is the format of iOS 9.0; make it an array of objects with appIDs and components."
            return findings + [.warning(.oldFormat, "applinks.details", message)]
        case .array, .object, nil:
            return findings + [
                .error(.missingDetails, "applinks.details", "There are no details; add one with appIDs and components.")
            ]
        default: return findings
        }
    }

    /// Reports a missing `webcredentials` service, and apps that the service doesn't list. Without the service, iOS saves no password for
    /// the domain (Apple, "Supporting associated domains").
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

/// The allowed keys of an object in the file, with their types. The checks and their messages use this list.
struct KeyShape {
    /// A JSON type, with its name in messages.
    enum Kind: String {
        case text = "a string"
        case flag = "true or false"
        case list = "an array"
        case object = "an object"
        case query = "a string or an object of strings"
        case listOrObject = "an array of objects"

        /// Returns whether a value has the type. The system ignores a value of another type.
        func takes(_ value: JSONValue) -> Bool {
            switch self {
            case .text: value.stringValue != nil
            case .flag: value.boolValue != nil
            case .list: value.arrayValue != nil
            case .object: value.objectValue != nil
            case .query: value.stringValue != nil || value.objectValue != nil
            case .listOrObject: value.arrayValue != nil || value.objectValue != nil
            }
        }
    }

    /// The types of the values, by key. Keys are case-sensitive.
    let kinds: [String: Kind]

    /// The keys at the top level of the file.
    static let file = KeyShape(kinds: [
        "applinks": .object, "webcredentials": .object, "appclips": .object, "activitycontinuation": .object,
    ])
    /// The keys of `applinks` (Apple, "applinks"). Before iOS 13, `apps` was required.
    static let applinks = KeyShape(kinds: [
        "apps": .list, "defaults": .object, "details": .listOrObject, "substitutionVariables": .object,
    ])
    /// The keys of an entry of `details` (Apple, "applinks.Details"). `paths` belongs to the old format. Apple's engineers also use
    /// `comment`.
    static let details = KeyShape(kinds: [
        "appID": .text, "appIDs": .list, "components": .list, "paths": .list, "defaults": .object, "comment": .text,
    ])
    /// The keys of a component (Apple, "applinks.Details.Components"). "applinks.Defaults" has the same keys.
    static let component = KeyShape(kinds: [
        "/": .text, "?": .query, "#": .text, "exclude": .flag, "comment": .text, "caseSensitive": .flag,
        "percentEncoded": .flag,
    ])
    /// The keys of a service that only lists apps.
    static let service = KeyShape(kinds: ["apps": .list])

    /// Returns the findings about the keys and types of one object. If a key differs from a known key only in upper and lower case, the
    /// finding is an error, because the system ignores the key. Any other unknown key is a warning.
    /// - Parameters:
    ///   - object: The object.
    ///   - place: The path of the object in the file; empty for the file itself.
    func findings(in object: JSONObject, at place: String) -> [AssociationFinding] {
        object.members.compactMap { key, value in
            let here = place.isEmpty ? key : "\(place).\(key)"
            if let kind = kinds[key] {
                if kind.takes(value) { return nil }
                return .error(.wrongType, here, "The value must be \(kind.rawValue); any other value is ignored.")
            }
            if let meant = kinds.keys.first(where: { $0.lowercased() == key.lowercased() }) {
                return .error(.unknownKey, here, "The system ignores this key; write \(meant), case matters.")
            }
            return .warning(.unknownKey, here, "The system ignores this key; remove it.")
        }
    }
}
