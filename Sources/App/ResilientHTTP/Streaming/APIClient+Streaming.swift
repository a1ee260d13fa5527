public import ErrorContract
public import Foundation
public import HTTPTypes

extension APIClient {
    /// Sends a request and returns the response as soon as its head has arrived, with a body of any size that is read as it arrives.
    ///
    /// Use it for responses that are large, slow or endless; ``send(_:_:query:body:headers:options:context:)`` reads a body whole. The call passes
    /// the session, the gate, the breaker and retries like any other, up to the first byte of the body. The deadline of the call ends with
    /// the head of a success; from then on `idleTimeout` applies. A slow reader slows the server down. Releasing the stream before its
    /// end, or canceling the task that reads it, closes the connection.
    ///
    /// ```swift
    /// let export = try await api.stream(.get, "/exports/7")
    /// for try await chunk in export { write(chunk) }
    /// ```
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path, with a query if there is one, percent-encoded and without a fragment.
    ///   - query: Items that are percent-encoded and appended to the query of the path.
    ///   - body: The body.
    ///   - headers: Further headers. Without an `Accept` the request accepts any content.
    ///   - options: How the call differs from the policy of its endpoint.
    ///   - idleTimeout: The longest time without a byte in either direction. Time in which the reader takes no bytes does not count.
    ///   - context: Where in the app the call is made.
    /// - Throws: `APIError` for every status but a success, and if no response arrived. Errors within the body are thrown by the stream.
    public func stream(
        _ method: HTTPRequest.Method,
        _ path: String,
        query: [URLQueryItem] = [],
        body: RequestBody? = nil,
        headers: HTTPFields = [:],
        options: CallOptions = CallOptions(),
        idleTimeout: Duration = .seconds(60),
        context: String? = nil
    ) async throws(APIError) -> ResponseStream {
        let transfer = Exchange.Transfer(idleTimeout: idleTimeout, returnsStream: true)
        let headers = headers.accepting("*/*")
        return try await call(Outgoing(method, path, query, headers, options, context, body: body, transfer: transfer)) { call in
            ResponseStream(response: call.response, body: call.body, context: call.context, api: self)
        }
    }

    /// Gets a response as lines of text, as they arrive.
    ///
    /// ```swift
    /// for try await line in try await api.lines("/logs/today") { print(line) }
    /// ```
    /// - Parameters:
    ///   - path: The path, with a query if there is one, percent-encoded and without a fragment.
    ///   - query: Items that are percent-encoded and appended to the query of the path.
    ///   - headers: Further headers.
    ///   - options: How the call differs from the policy of its endpoint.
    ///   - idleTimeout: The longest time without a byte.
    ///   - context: Where in the app the call is made.
    public func lines(
        _ path: String,
        query: [URLQueryItem] = [],
        headers: HTTPFields = [:],
        options: CallOptions = CallOptions(),
        idleTimeout: Duration = .seconds(60),
        context: String? = nil
    ) async throws(APIError) -> ResponseStream.Lines {
        try await stream(
            .get,
            path,
            query: query,
            headers: headers,
            options: options,
            idleTimeout: idleTimeout,
            context: context
        ).lines
    }
}

extension APIClient {
    /// Sends a large body, such as a file, a stream or a form, and returns the value of the response.
    ///
    /// Other than a verb such as `post(_:_:query:headers:options:context:)` an upload has no deadline of 30 s: it ends when no byte was sent or
    /// received for `idleTimeout`. A call that may be repeated sends a file or a stream that can be made again from its beginning; the
    /// progress starts at 0 again. A stream that is read once is never repeated.
    ///
    /// ```swift
    /// let photo = RequestBody(file: url, contentType: "image/jpeg")
    /// let value: Photo = try await api.upload(.put, "/photos/7", photo) { print($0.fraction ?? 0) }
    /// ```
    /// - Parameters:
    ///   - method: The method. A POST is repeated only with an idempotency key.
    ///   - path: The path, with a query if there is one, percent-encoded and without a fragment.
    ///   - body: The body.
    ///   - query: Items that are percent-encoded and appended to the query of the path.
    ///   - headers: Further headers.
    ///   - options: How the call differs from the policy of its endpoint.
    ///   - timeout: The time that all attempts may take; it replaces the client's.
    ///   - idleTimeout: The longest time without a byte in either direction.
    ///   - context: Where in the app the call is made.
    ///   - progress: Called as the transport sends the body, on any thread.
    public func upload<Value: Decodable>(
        _ method: HTTPRequest.Method = .post,
        _ path: String,
        _ body: RequestBody,
        query: [URLQueryItem] = [],
        headers: HTTPFields = [:],
        options: CallOptions = CallOptions(),
        timeout: Duration = .seconds(24 * 3_600),
        idleTimeout: Duration = .seconds(60),
        context: String? = nil,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws(APIError) -> Value {
        let body = progress.map { body.reportingProgress($0) } ?? body
        let transfer = Exchange.Transfer(idleTimeout: idleTimeout, returnsStream: false)
        let outgoing = Outgoing(method, path, query, headers, options, context, body: body, transfer: transfer)
        return try await patient(timeout).call(outgoing, read: decoded)
    }

    /// Sends a large body, such as a file, a stream or a form, for a response without a value.
    /// - Parameters:
    ///   - method: The method. A POST is repeated only with an idempotency key.
    ///   - path: The path, with a query if there is one, percent-encoded and without a fragment.
    ///   - body: The body.
    ///   - query: Items that are percent-encoded and appended to the query of the path.
    ///   - headers: Further headers.
    ///   - options: How the call differs from the policy of its endpoint.
    ///   - timeout: The time that all attempts may take; it replaces the client's.
    ///   - idleTimeout: The longest time without a byte in either direction.
    ///   - context: Where in the app the call is made.
    ///   - progress: Called as the transport sends the body, on any thread.
    /// - Returns: The head of the response.
    @discardableResult
    public func upload(
        _ method: HTTPRequest.Method = .post,
        _ path: String,
        _ body: RequestBody,
        query: [URLQueryItem] = [],
        headers: HTTPFields = [:],
        options: CallOptions = CallOptions(),
        timeout: Duration = .seconds(24 * 3_600),
        idleTimeout: Duration = .seconds(60),
        context: String? = nil,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws(APIError) -> HTTPResponse {
        let body = progress.map { body.reportingProgress($0) } ?? body
        let transfer = Exchange.Transfer(idleTimeout: idleTimeout, returnsStream: false)
        let outgoing = Outgoing(method, path, query, headers, options, context, body: body, transfer: transfer)
        return try await patient(timeout).call(outgoing) { $0.response }
    }

    /// The same client with another time for a call.
    func patient(_ timeout: Duration) -> APIClient {
        var client = self
        client.timeout = timeout
        return client
    }
}

extension HTTPFields {
    /// The same fields with an `Accept`, unless they have one.
    func accepting(_ types: String) -> HTTPFields {
        guard !contains(.accept) else { return self }
        var fields = self
        fields[.accept] = types
        return fields
    }
}
