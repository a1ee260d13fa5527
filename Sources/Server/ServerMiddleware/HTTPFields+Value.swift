package import HTTPTypes

extension HTTPFields {
    /// Returns the value of a field, as the subscript does. The subscript joins values also where there is one, which takes several
    /// times as long as all that most middleware does.
    package func value(of name: HTTPField.Name) -> String? {
        guard contains(name) else { return nil }
        var value: String?
        for field in self where field.name == name {
            guard value == nil else { return self[name] }
            value = field.value
        }
        return value
    }
}
