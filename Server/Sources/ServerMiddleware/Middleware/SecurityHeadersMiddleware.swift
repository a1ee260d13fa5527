import HTTPTypes
public import Hummingbird

/// Adds to every answer the headers that keep browsers from guessing, framing, caching and leaking.
public struct SecurityHeadersMiddleware<Context: RequestContext>: RouterMiddleware {
    private let fields: [HTTPField]

    /// Creates the middleware.
    /// - Parameter isStrictTransport: Whether browsers are told to use HTTPS only (HSTS); right only behind TLS.
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

    public func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        for field in fields where !response.headers.contains(field.name) { response.headers.append(field) }
        return response
    }
}
