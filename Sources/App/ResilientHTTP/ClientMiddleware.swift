public import HTTPTypes

/// Stands between the client and the transport, and may look at, change, delay, repeat or answer a request: the other of
/// the client's two seams, with the shape of swift-openapi-runtime's middleware.
public protocol ClientMiddleware: Sendable {
    /// Handles one request.
    /// - Parameters:
    ///   - request: The head.
    ///   - body: The body, if there is one.
    ///   - context: What the call is about.
    ///   - next: The rest of the way to the transport. It returns successes, their bodies whole; a refusal of the server
    ///     and a lost answer are thrown as ``ErrorContract/APIError``.
    func intercept(
        _ request: HTTPRequest,
        body: RequestBody?,
        context: CallContext,
        next: @Sendable (HTTPRequest, RequestBody?) async throws -> (HTTPResponse, ResponseBody)
    ) async throws -> (HTTPResponse, ResponseBody)
}
