import ErrorContract
import StrictJSON

/// A JSON body, for reading single members in expectations.
struct JSONBody {
    let value: JSONValue

    init(_ bytes: [UInt8]) throws {
        value = try JSONParser().parse(bytes)
    }

    /// The member at a path, such as `error.details.retry_after`.
    subscript(path: String) -> JSONValue? {
        path.split(separator: ".").reduce(Optional(value)) { value, key in
            if let index = Int(key), let elements = value?.arrayValue {
                return elements.indices.contains(index) ? elements[index] : nil
            }
            return value?.objectValue?[String(key)]
        }
    }
}
