import ErrorContract

/// A success that may be wrapped (`{"success":true,"data":{…}}`) or flat; the same model decodes from both.
struct SuccessEnvelope<Value: Decodable>: Decodable {
    let value: Value

    private enum Key: CodingKey { case success, data, valid, error, ok, errors }

    init(from decoder: any Decoder) throws {
        guard let container = try? decoder.container(keyedBy: Key.self) else {
            value = try Value(from: decoder)
            return
        }
        let success = try? container.decodeIfPresent(Bool.self, forKey: .success)
        let valid = try? container.decodeIfPresent(Bool.self, forKey: .valid)
        if success == false || valid == false && container.contains(.error) { throw RefusedInBody() }
        if Self.isSlackRefusal(container) || Self.isGraphQLRefusal(container) { throw RefusedInBody() }
        guard success == true, container.contains(.data) else {
            value = try Value(from: decoder)
            return
        }
        do {
            value = try container.decode(Value.self, forKey: .data)
        } catch {
            // A flat model may have members named `success` and `data` of its own.
            guard let flat = try? Value(from: decoder) else { throw error }
            value = flat
        }
    }

    /// `{"ok":false,"error":"ratelimited"}`
    private static func isSlackRefusal(_ container: KeyedDecodingContainer<Key>) -> Bool {
        guard container.contains(.ok), (try? container.decode(Bool.self, forKey: .ok)) == false else { return false }
        return (try? container.decode(String.self, forKey: .error)) != nil
    }

    /// `{"data":null,"errors":[{"message":"…"}]}`; with data beside the errors the answer is partial, not refused.
    private static func isGraphQLRefusal(_ container: KeyedDecodingContainer<Key>) -> Bool {
        guard container.contains(.errors), container.contains(.data), (try? container.decodeNil(forKey: .data)) == true else {
            return false
        }
        let problems = try? container.decode([JSONValue].self, forKey: .errors)
        return problems?.first?.objectValue?["message"]?.stringValue != nil
    }
}

/// An answer of which only the envelope counts.
struct Acknowledgement: Decodable {
    init(from decoder: any Decoder) {}
}

/// The status says success, and the body says failure.
struct RefusedInBody: Error {}
