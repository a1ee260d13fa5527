import HTTPTypes
public import Hummingbird

/// The headers that keep browsers from guessing, framing, caching and leaking.
///
/// ``SecurityHeadersMiddleware`` adds them to every routed response; the server's responses to bytes that are no HTTP have them
/// when they are given to `HTTPServerBuilder.contractHTTP1(renderer:configuration:connections:securityHeaders:)`.
public struct SecurityHeaders: Sendable {
    private let fields: [HTTPField]

    /// Creates the headers.
    /// - Parameter isStrictTransport: Whether browsers are told to use HTTPS only (HSTS) for a year; right only behind TLS.
    public init(isStrictTransport: Bool) {
        let texts = [
            ("X-Content-Type-Options", "nosniff"),
            ("X-Frame-Options", "DENY"),
            ("Referrer-Policy", "no-referrer"),
            ("Cache-Control", "no-store"),
            ("Content-Security-Policy", "default-src 'none'; base-uri 'none'; frame-ancestors 'none'"),
            ("Strict-Transport-Security", isStrictTransport ? "max-age=31536000; includeSubDomains" : ""),
        ]
        fields = texts.compactMap { name, value in
            value.isEmpty ? nil : HTTPField.Name(name).map { HTTPField(name: $0, value: value) }
        }
    }

    /// Adds those that a response doesn't have.
    func add(to headers: inout HTTPFields) {
        for field in fields where !headers.contains(field.name) { headers.append(field) }
    }
}

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
