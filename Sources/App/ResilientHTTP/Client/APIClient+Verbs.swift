public import ErrorContract
public import Foundation
public import HTTPTypes

/// Methods that send GET, HEAD, POST, PUT, PATCH and DELETE requests.
///
/// All methods take the same arguments. The path is relative to the base URL. It begins with a slash, is percent-encoded and has no
/// fragment. The client percent-encodes the items of `query`. `headers` are further headers, and `options` are the options of the call.
/// `context` is a name for the operation; errors contain this name. A body is a value that ``APIClient/coding`` encodes as JSON. All
/// methods throw `APIError`.
///
/// The type of the result determines the type that a method decodes from the body of the response. The body can be the value itself (flat),
/// or an object that contains the value (wrapped: `{"success":true,"data":{…}}`). Without a result type, a method returns nothing and only
/// checks that the body is not an error.
///
/// ```swift
/// let orders: [Order] = try await api.get("/orders", query: [URLQueryItem(name: "state", value: "open")])
/// let order: Order = try await api.post("/orders", draft, options: .idempotent)
/// try await api.delete("/orders/\(order.id)")
/// ```
extension APIClient {
    /// Sends a GET request, and returns the value of the response. If an attempt fails, the client can retry the call.
    /// - Parameters:
    ///   - path: The path relative to the base URL, such as `/orders`. It must be percent-encoded.
    ///   - query: The items of the query. The client percent-encodes them.
    ///   - headers: Further header fields.
    ///   - options: The settings of this call, such as a timeout.
    ///   - context: A name for the operation. Errors of the call contain this name.
    /// - Throws: `APIError`. Its kind is `decoding` if the body of a successful response doesn't have the type of the result.
    public func get<Value: Decodable>(
        _ path: String,
        query: [URLQueryItem] = [],
        headers: HTTPFields = [:],
        options: CallOptions = CallOptions(),
        context: String? = nil
    ) async throws(APIError) -> Value {
        try await call(Outgoing(.get, path, query, headers, options, context), read: decoded)
    }

    /// Sends a HEAD request, and returns the status and the headers of the response, such as the length or the date of the content.
    /// - Parameters:
    ///   - path: The path relative to the base URL, such as `/orders`. It must be percent-encoded.
    ///   - query: The items of the query. The client percent-encodes them.
    ///   - headers: Further header fields.
    ///   - options: The settings of this call, such as a timeout.
    ///   - context: A name for the operation. Errors of the call contain this name.
    /// - Throws: `APIError`.
    public func head(
        _ path: String,
        query: [URLQueryItem] = [],
        headers: HTTPFields = [:],
        options: CallOptions = CallOptions(),
        context: String? = nil
    ) async throws(APIError) -> HTTPResponse {
        try await send(.head, path, query: query, headers: headers, options: options, context: context).response
    }

    /// Sends a POST request with a value or without a body, and returns the value of the response.
    ///
    /// The client retries a POST only if the request was not sent or has an idempotency key. See ``CallOptions/idempotent``.
    /// - Parameters:
    ///   - path: The path relative to the base URL, such as `/orders`. It must be percent-encoded.
    ///   - body: The value to send as JSON; `nil` sends no body.
    ///   - query: The items of the query. The client percent-encodes them.
    ///   - headers: Further header fields.
    ///   - options: The settings of this call, such as a timeout.
    ///   - context: A name for the operation. Errors of the call contain this name.
    /// - Throws: `APIError`. Its kind is `decoding` if the body of a successful response doesn't have the type of the result.
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

    /// Sends a POST request with a value or without a body, and ignores the content of the response. The client retries a POST only if the
    /// request was not sent or has an idempotency key.
    /// - Parameters:
    ///   - path: The path relative to the base URL, such as `/orders`. It must be percent-encoded.
    ///   - body: The value to send as JSON; `nil` sends no body.
    ///   - query: The items of the query. The client percent-encodes them.
    ///   - headers: Further header fields.
    ///   - options: The settings of this call, such as a timeout.
    ///   - context: A name for the operation. Errors of the call contain this name.
    /// - Throws: `APIError`.
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

    /// Sends a PUT request with a value or without a body, and returns the value of the response. If an attempt fails, the client can retry
    /// the call.
    /// - Parameters:
    ///   - path: The path relative to the base URL, such as `/orders`. It must be percent-encoded.
    ///   - body: The value to send as JSON; `nil` sends no body.
    ///   - query: The items of the query. The client percent-encodes them.
    ///   - headers: Further header fields.
    ///   - options: The settings of this call, such as a timeout.
    ///   - context: A name for the operation. Errors of the call contain this name.
    /// - Throws: `APIError`. Its kind is `decoding` if the body of a successful response doesn't have the type of the result.
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

    /// Sends a PUT request with a value or without a body, and ignores the content of the response. If an attempt fails, the client can
    /// retry the call.
    /// - Parameters:
    ///   - path: The path relative to the base URL, such as `/orders`. It must be percent-encoded.
    ///   - body: The value to send as JSON; `nil` sends no body.
    ///   - query: The items of the query. The client percent-encodes them.
    ///   - headers: Further header fields.
    ///   - options: The settings of this call, such as a timeout.
    ///   - context: A name for the operation. Errors of the call contain this name.
    /// - Throws: `APIError`.
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

    /// Sends a PATCH request with a value, and returns the value of the response.
    ///
    /// The client retries a PATCH only if the request was not sent or has an idempotency key. See ``CallOptions/idempotent``.
    /// - Parameters:
    ///   - path: The path relative to the base URL, such as `/orders`. It must be percent-encoded.
    ///   - body: The value to send as JSON.
    ///   - query: The items of the query. The client percent-encodes them.
    ///   - headers: Further header fields.
    ///   - options: The settings of this call, such as a timeout.
    ///   - context: A name for the operation. Errors of the call contain this name.
    /// - Throws: `APIError`. Its kind is `decoding` if the body of a successful response doesn't have the type of the result.
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

    /// Sends a PATCH request with a value, and ignores the content of the response. The client retries a PATCH only if the request was not
    /// sent or has an idempotency key.
    /// - Parameters:
    ///   - path: The path relative to the base URL, such as `/orders`. It must be percent-encoded.
    ///   - body: The value to send as JSON.
    ///   - query: The items of the query. The client percent-encodes them.
    ///   - headers: Further header fields.
    ///   - options: The settings of this call, such as a timeout.
    ///   - context: A name for the operation. Errors of the call contain this name.
    /// - Throws: `APIError`.
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

    /// Sends a DELETE request, and ignores the content of the response. If an attempt fails, the client can retry the call. If the server
    /// deleted the resource but the response was lost, the server may respond to the retry with 404.
    /// - Parameters:
    ///   - path: The path relative to the base URL, such as `/orders`. It must be percent-encoded.
    ///   - query: The items of the query. The client percent-encodes them.
    ///   - headers: Further header fields.
    ///   - options: The settings of this call, such as a timeout.
    ///   - context: A name for the operation. Errors of the call contain this name.
    /// - Throws: `APIError`.
    public func delete(
        _ path: String,
        query: [URLQueryItem] = [],
        headers: HTTPFields = [:],
        options: CallOptions = CallOptions(),
        context: String? = nil
    ) async throws(APIError) {
        try await call(Outgoing(.delete, path, query, headers, options, context)) { _ in }
    }

    /// Sends a DELETE request, and returns the value of the response.
    /// - Parameters:
    ///   - path: The path relative to the base URL, such as `/orders`. It must be percent-encoded.
    ///   - query: The items of the query. The client percent-encodes them.
    ///   - headers: Further header fields.
    ///   - options: The settings of this call, such as a timeout.
    ///   - context: A name for the operation. Errors of the call contain this name.
    /// - Throws: `APIError`. Its kind is `decoding` if the body of a successful response doesn't have the type of the result.
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

/// A value together with the head of the response from which it was decoded.
public struct APIResponse<Value> {
    /// The value.
    public var value: Value
    /// The status and the headers.
    public var head: HTTPResponse

    /// Creates a response.
    /// - Parameters:
    ///   - value: The value that was decoded from the body.
    ///   - head: The status and the headers.
    public init(value: Value, head: HTTPResponse) {
        (self.value, self.head) = (value, head)
    }

    /// Whether the server confirmed with a 304 that a stored version of the response is current. If so, the value has not changed since the
    /// client stored this version.
    public var isNotModified: Bool { head.isNotModified }
}

extension APIResponse: Sendable where Value: Sendable {}

extension APIClient {
    /// Sends a request and returns the value of the response with its head.
    ///
    /// If you need a header of the response, use this method instead of a verb such as ``get(_:query:headers:options:context:)``.
    ///
    /// ```swift
    /// let response: APIResponse<[Order]> = try await api.response(.get, "/orders")
    /// let changed = response.head.headerFields[.lastModified]
    /// ```
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path relative to the base URL, such as `/orders`. It must be percent-encoded.
    ///   - query: The items of the query. The client percent-encodes them.
    ///   - body: The body; `nil` for none.
    ///   - headers: Further header fields.
    ///   - options: The settings of this call, such as a timeout.
    ///   - context: A name for the operation. Errors of the call contain this name.
    /// - Returns: The value with the status and the headers. ``APIResponse/isNotModified`` is `true` if the server confirmed a cached
    ///   response.
    /// - Throws: `APIError`.
    public func response<Value: Decodable>(
        _ method: HTTPRequest.Method,
        _ path: String,
        query: [URLQueryItem] = [],
        body: RequestBody? = nil,
        headers: HTTPFields = [:],
        options: CallOptions = CallOptions(),
        context: String? = nil
    ) async throws(APIError) -> APIResponse<Value> {
        try await response(Outgoing(method, path, query, headers, options, context, body: body))
    }

    /// Sends a request and returns the value of the response with its head.
    func response<Value: Decodable>(_ outgoing: Outgoing) async throws(APIError) -> APIResponse<Value> {
        try await call(outgoing) { call in APIResponse(value: try decoded(call), head: call.response) }
    }
}
