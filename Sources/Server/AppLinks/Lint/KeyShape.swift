import ErrorContract
import StrictJSON

/// Which keys an object of the file can have, and of which type.
struct KeyShape {
    /// A JSON type as messages call it.
    enum Kind: String {
        case text = "a string"
        case flag = "true or false"
        case list = "an array"
        case object = "an object"
        case query = "a string or an object of strings"
        case listOrObject = "an array of objects"

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

    let kinds: [String: Kind]

    /// The file.
    static let file = KeyShape(kinds: [
        "applinks": .object, "webcredentials": .object, "appclips": .object, "activitycontinuation": .object,
    ])
    /// Apple, "applinks"; `apps` was needed before iOS 13.
    static let applinks = KeyShape(kinds: [
        "apps": .list, "defaults": .object, "details": .listOrObject, "substitutionVariables": .object,
    ])
    /// Apple, "applinks.Details"; `paths` is of the old format, `comment` as Apple's engineers write it.
    static let details = KeyShape(kinds: [
        "appID": .text, "appIDs": .list, "components": .list, "paths": .list, "defaults": .object, "comment": .text,
    ])
    /// Apple, "applinks.Details.Components"; "applinks.Defaults" takes the same.
    static let component = KeyShape(kinds: [
        "/": .text, "?": .query, "#": .text, "exclude": .flag, "comment": .text, "caseSensitive": .flag,
        "percentEncoded": .flag,
    ])
    /// The services that only name apps.
    static let service = KeyShape(kinds: ["apps": .list])

    /// The findings about the keys and types of one object.
    func findings(in object: JSONObject, at place: String) -> [AssociationFinding] {
        object.members.compactMap { key, value in
            let here = place.isEmpty ? key : "\(place).\(key)"
            if let kind = kinds[key] {
                if kind.takes(value) { return nil }
                return .error(.wrongType, here, "The value must be \(kind.rawValue); as it is the system overlooks it.")
            }
            if let meant = kinds.keys.first(where: { $0.lowercased() == key.lowercased() }) {
                return .error(.unknownKey, here, "The system overlooks this key; write \(meant), case counts.")
            }
            return .warning(.unknownKey, here, "The system overlooks this key; remove it.")
        }
    }
}
