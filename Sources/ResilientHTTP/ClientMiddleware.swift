public import HTTPTypes

/// Stands between the client and the transport, and may look at, change, delay, repeat or answer a request: the other of
/// the client's two seams, with the shape of swift-openapi-runtime's middleware.
public protocol ClientMiddleware: Sendable {
    /// Handles one request.
    /// - Parameters:
    ///   - request: The head.
    ///   - body: The body, if there is one.
    ///   - context: What the call is about.
    ///   - next: The rest of the way to the transport.
    func intercept(
        _ request: HTTPRequest,
        body: RequestBody?,
        context: CallContext,
        next: @Sendable (HTTPRequest, RequestBody?) async throws -> (HTTPResponse, ResponseBody)
    ) async throws -> (HTTPResponse, ResponseBody)
}

/// What one call is about.
public struct CallContext: Hashable, Sendable {
    /// Where in the app the call is made, such as `user_login`; it goes into the error.
    public var name: String?
    /// The time until the call's deadline.
    public var timeout: Duration

    /// Creates a context.
    public init(name: String? = nil, timeout: Duration) {
        self.name = name
        self.timeout = timeout
    }
}
