package import HTTPTypes
package import ResilientHTTP

/// A transport that calls a closure for each request.
package struct ClosureTransport: HTTPTransport {
    /// Returns the response to a request. The parameters are those of ``send(_:body:timeout:)``.
    package typealias Respond =
        @Sendable (HTTPRequest, RequestBody?, Duration) async throws -> (HTTPResponse, ResponseBody)

    private let respond: Respond

    /// Creates a transport.
    /// - Parameter respond: Returns the response. The transport throws a `TransportError` of the closure unchanged, and reports any other
    ///   error as a cancellation.
    package init(_ respond: @escaping Respond) {
        self.respond = respond
    }

    package func send(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
        do {
            return try await respond(request, body, timeout)
        } catch let error as TransportError {
            throw error
        } catch {
            throw TransportError(.cancelled, message: "cancelled", wasSent: true, cause: error)
        }
    }
}

/// A middleware that calls a closure for each request.
package struct ClosureMiddleware: ClientMiddleware {
    /// Passes a request to the next layer.
    package typealias Next = @Sendable (HTTPRequest, RequestBody?) async throws -> (HTTPResponse, ResponseBody)

    private let handle: @Sendable (HTTPRequest, RequestBody?, Next) async throws -> (HTTPResponse, ResponseBody)

    /// Creates a middleware.
    /// - Parameter handle: Handles a request, like the method ``intercept(_:body:context:next:)`` without the context.
    package init(
        _ handle: @escaping @Sendable (HTTPRequest, RequestBody?, Next) async throws -> (HTTPResponse, ResponseBody)
    ) {
        self.handle = handle
    }

    package func intercept(
        _ request: HTTPRequest,
        body: RequestBody?,
        context: CallContext,
        next: @Sendable (HTTPRequest, RequestBody?) async throws -> (HTTPResponse, ResponseBody)
    ) async throws -> (HTTPResponse, ResponseBody) {
        try await handle(request, body, next)
    }
}
