import Foundation

extension APIError {
    /// Decodes the app's own facts from the body of the error response.
    ///
    /// The value may be the whole body or be wrapped: the first of `error.details`, `error`, `detail`, `details`, `data` and the whole body
    /// that it can be decoded from is used. So that the right one is found, give it at least one property that is not optional. A client
    /// decodes it with its own coding, such as snake case.
    ///
    /// ```swift
    /// struct Shortage: Decodable { var missingAmount: Int }
    ///
    /// do {
    ///     try await api.post("/orders", order)
    /// } catch {
    ///     if error.code.rawValue == "INSUFFICIENT_FUNDS", let shortage = try? error.details(as: Shortage.self) {
    ///         show("You need \(shortage.missingAmount) more.")
    ///     }
    /// }
    /// ```
    /// - Parameter type: The type of the value.
    /// - Throws: `DecodingError` if the body contains no such value, or if there is no body.
    public func details<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
        try (makeBodyDecoder?() ?? JSONDecoder()).decode(WrappedDetails<Value>.self, from: Data(body)).value
    }
}

private struct WrappedDetails<Value: Decodable>: Decodable {
    let value: Value

    private enum Key: CodingKey { case error, detail, details, data }

    init(from decoder: any Decoder) throws {
        if let body = try? decoder.container(keyedBy: Key.self) {
            let error = try? body.nestedContainer(keyedBy: Key.self, forKey: .error)
            let wrapped =
                (try? error?.decode(Value.self, forKey: .details))
                ?? [Key.error, .detail, .details, .data].lazy.compactMap { try? body.decode(Value.self, forKey: $0) }.first
            if let wrapped {
                value = wrapped
                return
            }
        }
        value = try Value(from: decoder)
    }
}
