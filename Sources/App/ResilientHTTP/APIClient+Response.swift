public import ErrorContract
public import Foundation
public import HTTPTypes

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
        try await call(method, path, query: query, body: body, headers: headers, options: options, context: context) { call in
            APIResponse(value: try decoded(call), head: call.response)
        }
    }
}
