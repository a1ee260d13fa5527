import HTTPTypes
public import Hummingbird

/// Headers by which browsers don't guess content types, don't show the response in a frame, don't cache it, and don't send its address to
/// other sites.
///
/// ``SecurityHeadersMiddleware`` adds them to every routed response. Responses to invalid HTTP have them if they are passed to
/// `HTTPServerBuilder.contractHTTP1(renderer:configuration:connections:securityHeaders:)`.
///
/// The values suit an API: no content may load anything or be framed. A page sets its own `Content-Security-Policy`, which is not replaced.
public struct SecurityHeaders: Sendable {
    private let fields: [HTTPField]

    /// Creates the headers.
    /// - Parameter isStrictTransport: Whether browsers must only use HTTPS for a year, also for subdomains (HSTS, RFC 6797). Set it only if
    ///   all of them support TLS: browsers don't connect without it, and the setting can't be undone for a year.
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

    /// Adds the headers that a response doesn't have.
    func add(to headers: inout HTTPFields) {
        for field in fields where !headers.contains(field.name) { headers.append(field) }
    }
}

/// Adds ``SecurityHeaders`` to every response, except for those that it already has.
public struct SecurityHeadersMiddleware<Context: RequestContext>: RouterMiddleware {
    private let securityHeaders: SecurityHeaders

    /// Creates the middleware. Add it outside of ``ContractErrorMiddleware``, so that errors have the headers, too.
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
