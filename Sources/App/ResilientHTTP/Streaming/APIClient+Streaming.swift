public import ErrorContract
public import Foundation
public import HTTPTypes

extension APIClient {
    /// Sends a request, and returns the response as soon as its head has arrived. The caller then reads the body while it arrives. The body
    /// can have any size.
    ///
    /// Use this method for responses that are large, slow or endless. To read the whole body at once, use
    /// ``send(_:_:query:body:headers:options:context:)``. Until the head of the response arrives, the call uses the session, the gate, the
    /// breaker and retries like any other call. The deadline of the call applies until the head of a success has arrived. For the body,
    /// `idleTimeout` applies. A slow reader slows the server down. If the stream is released before its end, or if the reading task is
    /// canceled, the connection closes.
    ///
    /// ```swift
    /// let export = try await api.stream(.get, "/exports/7")
    /// for try await chunk in export { write(chunk) }
    /// ```
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path, optionally with a query. It is percent-encoded and has no fragment.
    ///   - query: Items that are percent-encoded and appended to the query of the path.
    ///   - body: The body.
    ///   - headers: Further headers. If they contain no `Accept`, the client accepts any content.
    ///   - options: The settings of this call, such as a timeout.
    ///   - idleTimeout: The maximum time in which no byte is sent or received. While the client waits for the reader because its buffer is
    ///     full, this time doesn't run.
    ///   - context: A name for the operation. Errors of the call contain this name.
    /// - Throws: `APIError` for any status that isn't a success, or if no response is received. If an error occurs within the body, the
    ///   stream throws it.
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
        return try await stream(Outgoing(method, path, query, headers, options, context, body: body, transfer: transfer))
    }

    /// Sends a request, and returns the response as soon as its head has arrived. The transfer of the arguments must return a stream.
    func stream(_ outgoing: Outgoing) async throws(APIError) -> ResponseStream {
        try await call(outgoing) { call in
            ResponseStream(response: call.response, body: call.body, context: call.context, api: self)
        }
    }

    /// Requests a response and returns its lines of text as they arrive.
    ///
    /// ```swift
    /// for try await line in try await api.lines("/logs/today") { print(line) }
    /// ```
    ///
    /// This method doesn't reconnect when a connection ends. For `text/event-stream`, use
    /// ``events(_:query:headers:options:lastEventID:reconnection:idleTimeout:context:)``, which reconnects.
    /// - Parameters:
    ///   - path: The path, optionally with a query. It is percent-encoded and has no fragment.
    ///   - query: Items that are percent-encoded and appended to the query of the path.
    ///   - headers: Further headers.
    ///   - options: The settings of this call, such as a timeout.
    ///   - idleTimeout: The maximum time in which no byte is received.
    ///   - context: A name for the operation. Errors of the call contain this name.
    /// - Throws: `APIError` for any status that isn't a success, or if no response is received. If an error occurs within the body, the
    ///   sequence throws it.
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
    /// Unlike `post(_:_:query:headers:options:context:)`, an upload has no deadline of 30 s. An upload fails when no byte was sent or
    /// received for `idleTimeout`. If the client retries the call, it sends a file or a stream again from its beginning, and the progress
    /// starts again at 0. The client never retries a stream that can be read only once.
    ///
    /// ```swift
    /// let photo = RequestBody(file: url, contentType: "image/jpeg")
    /// let value: Photo = try await api.upload(.put, "/photos/7", photo) { print($0.fraction ?? 0) }
    /// ```
    /// - Parameters:
    ///   - method: The method. The client retries a POST only with an idempotency key.
    ///   - path: The path, optionally with a query. It is percent-encoded and has no fragment.
    ///   - body: The body.
    ///   - query: Items that are percent-encoded and appended to the query of the path.
    ///   - headers: Further headers.
    ///   - options: The settings of this call, such as a timeout.
    ///   - timeout: The maximum duration of all attempts together, instead of the timeout of the client.
    ///   - idleTimeout: The maximum time in which no byte is sent or received.
    ///   - context: A name for the operation. Errors of the call contain this name.
    ///   - progress: Receives the progress as the transport sends the body, on any thread.
    /// - Returns: The value of the response. The format of the body is the same as for ``get(_:query:headers:options:context:)``.
    /// - Throws: `APIError` for any status that isn't a success, or if no response is received. The kind is `invalidRequest` if the body
    ///   can't be read, and `decoding` if the body of the response doesn't have the type of the value.
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

    /// Sends a large body, such as a file, a stream or a form, and ignores the content of the response. Otherwise, the method behaves like
    /// the `upload` method that returns a value.
    /// - Parameters:
    ///   - method: The method. The client retries a POST only with an idempotency key.
    ///   - path: The path, optionally with a query. It is percent-encoded and has no fragment.
    ///   - body: The body.
    ///   - query: Items that are percent-encoded and appended to the query of the path.
    ///   - headers: Further headers.
    ///   - options: The settings of this call, such as a timeout.
    ///   - timeout: The maximum duration of all attempts together, instead of the timeout of the client.
    ///   - idleTimeout: The maximum time in which no byte is sent or received.
    ///   - context: A name for the operation. Errors of the call contain this name.
    ///   - progress: Receives the progress as the transport sends the body, on any thread.
    /// - Returns: The head of the response.
    /// - Throws: `APIError` for any status that isn't a success, or if no response is received. The kind is `invalidRequest` if the body
    ///   can't be read.
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

    /// Returns a copy of the client with another maximum duration of a call.
    func patient(_ timeout: Duration) -> APIClient {
        var client = self
        client.timeout = timeout
        return client
    }
}

extension HTTPFields {
    /// Returns these headers. If they contain no `Accept`, adds one with the given types.
    func accepting(_ types: String) -> HTTPFields {
        guard !contains(.accept) else { return self }
        var fields = self
        fields[.accept] = types
        return fields
    }
}
