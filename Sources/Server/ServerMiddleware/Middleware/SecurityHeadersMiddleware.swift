public import Hummingbird

/// Adds ``SecurityHeaders`` to every response that does not set them itself.
public struct SecurityHeadersMiddleware<Context: RequestContext>: RouterMiddleware {
    private let securityHeaders: SecurityHeaders

    /// Creates the middleware.
    public init(_ securityHeaders: SecurityHeaders) {
        self.securityHeaders = securityHeaders
    }

    public func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        securityHeaders.add(to: &response.headers)
        return response
    }
}
