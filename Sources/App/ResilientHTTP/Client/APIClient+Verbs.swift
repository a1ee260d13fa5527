public import ErrorContract
public import Foundation
public import HTTPTypes

/// One method per HTTP verb.
///
/// All of them take the same arguments: a path relative to the base URL (with a slash at its start, percent-encoded, without a fragment),
/// `query` items that are percent-encoded for it, further `headers`, the `options` of the call, and the `context`, a name for the place in
/// the app that the error reports. A body is a value that ``APIClient/coding`` writes as JSON. All of them throw ``APIError``.
///
/// A verb returns the value that its result is assigned to, read from the body of the response, wrapped or flat. Without one it returns
/// nothing, and reads the body only as far as it takes to see that it is no error.
///
/// ```swift
/// let orders: [Order] = try await api.get("/orders", query: [URLQueryItem(name: "state", value: "open")])
/// let order: Order = try await api.post("/orders", draft, options: .idempotent)
/// try await api.delete("/orders/\(order.id)")
/// ```
extension APIClient {
    /// Gets a value.
    public func get<Value: Decodable>(
        _ path: String,
        query: [URLQueryItem] = [],
        headers: HTTPFields = [:],
        options: CallOptions = CallOptions(),
        context: String? = nil
    ) async throws(APIError) -> Value {
        try await call(Outgoing(.get, path, query, headers, options, context), read: decoded)
    }

    /// Gets the head of the response that ``get(_:query:headers:options:context:)`` would read, such as a length or a date.
    public func head(
        _ path: String,
        query: [URLQueryItem] = [],
        headers: HTTPFields = [:],
        options: CallOptions = CallOptions(),
        context: String? = nil
    ) async throws(APIError) -> HTTPResponse {
        try await send(.head, path, query: query, headers: headers, options: options, context: context).response
    }

    /// Posts a value, or nothing, and returns the value of the response.
    ///
    /// A POST is repeated only if it never left the device or carries an idempotency key: see ``CallOptions/idempotent``.
    public func post<Value: Decodable, Body: Encodable>(
        _ path: String,
        _ body: Body? = nil as Never?,
        query: [URLQueryItem] = [],
        headers: HTTPFields = [:],
        options: CallOptions = CallOptions(),
        context: String? = nil
    ) async throws(APIError) -> Value {
        try await call(Outgoing(.post, path, query, headers, options, context, body: json(body, context: context)), read: decoded)
    }

    /// Posts a value, or nothing, for a response whose content does not matter.
    public func post<Body: Encodable>(
        _ path: String,
        _ body: Body? = nil as Never?,
        query: [URLQueryItem] = [],
        headers: HTTPFields = [:],
        options: CallOptions = CallOptions(),
        context: String? = nil
    ) async throws(APIError) {
        try await call(Outgoing(.post, path, query, headers, options, context, body: json(body, context: context))) { _ in }
    }

    /// Puts a value, or nothing, in the place of the resource and returns the value of the response. It may be repeated.
    public func put<Value: Decodable, Body: Encodable>(
        _ path: String,
        _ body: Body? = nil as Never?,
        query: [URLQueryItem] = [],
        headers: HTTPFields = [:],
        options: CallOptions = CallOptions(),
        context: String? = nil
    ) async throws(APIError) -> Value {
        try await call(Outgoing(.put, path, query, headers, options, context, body: json(body, context: context)), read: decoded)
    }

    /// Puts a value, or nothing, in the place of the resource, for a response whose content does not matter. It may be repeated.
    public func put<Body: Encodable>(
        _ path: String,
        _ body: Body? = nil as Never?,
        query: [URLQueryItem] = [],
        headers: HTTPFields = [:],
        options: CallOptions = CallOptions(),
        context: String? = nil
    ) async throws(APIError) {
        try await call(Outgoing(.put, path, query, headers, options, context, body: json(body, context: context))) { _ in }
    }

    /// Changes parts of a resource and returns the value of the response.
    ///
    /// A PATCH is repeated only if it never left the device or carries an idempotency key: see ``CallOptions/idempotent``.
    public func patch<Value: Decodable>(
        _ path: String,
        _ body: some Encodable,
        query: [URLQueryItem] = [],
        headers: HTTPFields = [:],
        options: CallOptions = CallOptions(),
        context: String? = nil
    ) async throws(APIError) -> Value {
        try await call(
            Outgoing(.patch, path, query, headers, options, context, body: json(body, context: context)),
            read: decoded
        )
    }

    /// Changes parts of a resource, for a response whose content does not matter.
    public func patch(
        _ path: String,
        _ body: some Encodable,
        query: [URLQueryItem] = [],
        headers: HTTPFields = [:],
        options: CallOptions = CallOptions(),
        context: String? = nil
    ) async throws(APIError) {
        try await call(Outgoing(.patch, path, query, headers, options, context, body: json(body, context: context))) { _ in }
    }

    /// Deletes a resource. It may be repeated: a server that has deleted it already may respond with 404.
    public func delete(
        _ path: String,
        query: [URLQueryItem] = [],
        headers: HTTPFields = [:],
        options: CallOptions = CallOptions(),
        context: String? = nil
    ) async throws(APIError) {
        try await call(Outgoing(.delete, path, query, headers, options, context)) { _ in }
    }

    /// Deletes a resource and returns the value of the response.
    public func delete<Value: Decodable>(
        _ path: String,
        query: [URLQueryItem] = [],
        headers: HTTPFields = [:],
        options: CallOptions = CallOptions(),
        context: String? = nil
    ) async throws(APIError) -> Value {
        try await call(Outgoing(.delete, path, query, headers, options, context), read: decoded)
    }
}

/// A value together with the head of the response that it was read from.
public struct APIResponse<Value> {
    /// The value.
    public var value: Value
    /// Status and headers.
    public var head: HTTPResponse

    /// Creates a response.
    public init(value: Value, head: HTTPResponse) {
        (self.value, self.head) = (value, head)
    }

    /// Whether the server confirmed the version that the client's ``ResponseCache`` holds: the value has not changed since.
    public var isNotModified: Bool { head.isNotModified }
}

extension APIResponse: Sendable where Value: Sendable {}

extension APIClient {
    /// Sends a request and returns the value of the response with its head.
    ///
    /// Use it instead of a verb such as ``get(_:query:headers:options:context:)`` if a header of the response matters.
    ///
    /// ```swift
    /// let response: APIResponse<[Order]> = try await api.response(.get, "/orders")
    /// let changed = response.head.headerFields[.lastModified]
    /// ```
    /// - Throws: `APIError`
    public func response<Value: Decodable>(
        _ method: HTTPRequest.Method,
        _ path: String,
        query: [URLQueryItem] = [],
        body: RequestBody? = nil,
        headers: HTTPFields = [:],
        options: CallOptions = CallOptions(),
        context: String? = nil
    ) async throws(APIError) -> APIResponse<Value> {
        try await call(Outgoing(method, path, query, headers, options, context, body: body)) { call in
            APIResponse(value: try decoded(call), head: call.response)
        }
    }
}
