import ErrorContract
import StrictJSON

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
