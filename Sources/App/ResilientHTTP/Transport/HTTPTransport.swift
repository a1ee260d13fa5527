public import HTTPTypes

/// Carries one request to a server and brings its answer back: one of the client's two seams.
///
/// Write a transport to use another HTTP engine or to script answers in a test. To change requests, answers or when they
/// are sent, write a ``ClientMiddleware`` instead.
public protocol HTTPTransport: Sendable {
    /// Sends a request once. A transport never repeats a request by itself.
    /// - Parameters:
    ///   - request: The head, with scheme, authority and path.
    ///   - body: The body, if there is one.
    ///   - timeout: The time that the exchange may take, from now to the last byte of the answer's body. When it is up, the transport ends
    ///     the exchange with the code ``TransportError/Code/timeout``, thrown here or by the body.
    /// - Returns: The head of the answer, whatever its status, and the body as it arrives.
    /// - Throws: ``TransportError`` if no head of an answer came.
    func send(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody)

    /// Sends a request once and returns the response as soon as its head has arrived, for a body of any size that is read slowly or never ends.
    ///
    /// The transport stores a bounded part of the body: a reader that pauses pauses the server. A body that is released before its end closes
    /// the connection. The default implementation calls ``send(_:body:timeout:)``, so that the time until the head bounds the body as well.
    /// - Parameters:
    ///   - request: The head, with scheme, authority and path.
    ///   - body: The body, if there is one. It is sent before the response is returned, unless the server refuses the request earlier.
    ///   - timeout: The time until the head of a success, or until the last byte of any other response.
    ///   - idleTimeout: The longest time without a byte in either direction. Time in which the reader of the response takes no bytes
    ///     does not count.
    /// - Returns: The head of the response, whatever its status, and the body.
    /// - Throws: ``TransportError`` if no head of a response arrived.
    func stream(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration,
        idleTimeout: Duration
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody)
}

extension HTTPTransport {
    public func stream(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration,
        idleTimeout: Duration
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
        try await send(request, body: body, timeout: timeout)
    }
}
