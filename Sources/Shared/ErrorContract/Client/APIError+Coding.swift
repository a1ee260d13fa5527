import StrictJSON

/// Values that could not be read or written.
extension APIError {
    /// The error for a value that an answer did not have in the expected shape: `details` name the place as `path`, such as
    /// `items[1].name`, and as `problem` one of `missing`, `null`, `type` and `corrupted`.
    init(decoding error: DecodingError, context: String?) {
        self.init(.decoding, context: context, underlying: error)
        let (problem, path): (String, [any CodingKey]) =
            switch error {
            case .keyNotFound(let key, let place): ("missing", place.codingPath + [key])
            case .valueNotFound(_, let place): ("null", place.codingPath)
            case .typeMismatch(_, let place): ("type", place.codingPath)
            case .dataCorrupted(let place): ("corrupted", place.codingPath)
            @unknown default: ("unknown", [])
            }
        details = Self.place(path)
        details["problem"] = .string(problem)
    }

    /// The error for a value that cannot be sent: `details` name the place as `path`.
    init(encoding error: EncodingError, context: String?) {
        self.init(.invalidRequest, context: context, underlying: error)
        if case .invalidValue(_, let place) = error { details = Self.place(place.codingPath) }
    }

    private static func place(_ path: [any CodingKey]) -> JSONObject {
        var name = FieldName()
        for key in path { name.append(key.intValue.map { String($0) } ?? key.stringValue) }
        return path.isEmpty ? [:] : ["path": .string(name.text)]
    }
}
