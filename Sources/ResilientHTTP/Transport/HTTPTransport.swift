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
}
