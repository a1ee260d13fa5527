package import ErrorContract
package import Foundation
package import HTTPTypes

/// Functions of a client that an `OfflineQueue` needs.
extension APIClient {
    /// The base URL with a lowercase host and without a default port, such as `https://api.example.org/v1`. `nil` if the base URL is not an
    /// http or https URL.
    package var serverAddress: String? { base.map { "\($0.scheme)://\($0.host)\($0.prefix)" } }

    /// The session whose token the client adds to calls; `nil` if calls have no token.
    package var session: Session? {
        for layer in middleware { if let layer = layer as? AuthorizeMiddleware { return layer.session } }
        return nil
    }

    /// Returns the policy that applies to a call: the policy of its endpoint, changed by the options of the call.
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path relative to the base URL, with its query.
    ///   - options: The options of the call, which are applied to the policy.
    ///   - context: A name for the operation. Errors of the call contain this name.
    /// - Throws: `APIError` with the kind `invalidRequest` if the client can't make the request.
    package func policy(
        _ method: HTTPRequest.Method,
        _ path: String,
        options: CallOptions,
        context: String?
    ) throws(APIError) -> EndpointPolicy {
        let request = try makeRequest(Outgoing(method, path, [], [:], options, context))
        var policy = policies[routes.endpoint(of: request)]
        options.apply(to: &policy)
        return policy
    }

    /// Returns a path with further items at the end of its query.
    /// - Parameters:
    ///   - path: A percent-encoded path, optionally with a query.
    ///   - query: The items of the query. The client percent-encodes them.
    package static func path(_ path: String, with query: [URLQueryItem]) -> String {
        query.isEmpty ? path : path.appending(query)
    }

    /// Sends a request like ``send(_:_:query:body:headers:options:context:)``, with one more middleware. This middleware is the last layer
    /// before the transport, so the client calls it for each attempt. The client doesn't store the response in its cache.
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path relative to the base URL, with its query.
    ///   - body: The body; `nil` for none.
    ///   - headers: Further headers.
    ///   - options: The settings of this call, such as a timeout.
    ///   - context: A name for the operation. Errors of the call contain this name.
    ///   - layer: The additional middleware.
    /// - Throws: `APIError`, as ``send(_:_:query:body:headers:options:context:)`` does.
    package func send(
        _ method: HTTPRequest.Method,
        _ path: String,
        body: RequestBody?,
        headers: HTTPFields,
        options: CallOptions,
        context: String?,
        innermost layer: any ClientMiddleware
    ) async throws(APIError) -> (response: HTTPResponse, body: [UInt8]) {
        var client = self
        client.middleware.append(layer)
        // The client doesn't store the response to a request that changes data.
        client.storage = nil
        return try await client.send(method, path, body: body, headers: headers, options: options, context: context)
    }

    /// Returns whether a response is a redirect to an address of the server itself, with the scheme, the host and the port of the base URL.
    /// A captive portal usually redirects to its own address.
    /// - Parameter error: The error of a call whose redirects the transport doesn't follow, such as a POST.
    package func isOwnRedirect(_ error: APIError) -> Bool {
        guard let base, let status = error.status, (300..<400).contains(status), !error.isFromOtherOrigin else { return false }
        let response = HTTPResponse(status: .init(code: status), headerFields: error.headers)
        let request = HTTPRequest(method: .get, scheme: base.scheme, authority: base.authority, path: base.prefix + "/")
        return Redirection.request(after: response, to: request).map { Redirection.isSameOrigin($0, request) } ?? false
    }

    /// Decodes the value of a response that ``send(_:_:query:body:headers:options:context:)`` returned.
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - response: The head of the response. If decoding fails, the error contains its status.
    ///   - body: The body: the value itself, or an object that contains the value (`{"success":true,"data":{…}}`).
    ///   - context: A name for the operation. Errors of the call contain this name.
    /// - Throws: `APIError` with the kind `decoding` if the body doesn't have the type of the value.
    package func value<Value: Decodable>(
        of type: Value.Type = Value.self,
        in response: HTTPResponse,
        body: [UInt8],
        context: String?
    ) throws(APIError) -> Value {
        do {
            return try coding.makeDecoder().decode(SuccessEnvelope<Value>.self, from: Data(body)).value
        } catch {
            var unreadable = APIError(error, context: context)
            (unreadable.kind, unreadable.code, unreadable.status) = (.decoding, .decodingError, response.status.code)
            throw unreadable
        }
    }
}
