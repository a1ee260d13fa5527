import HTTPTypes
public import Hummingbird

/// Headers that restrict browsers. With these headers, a browser doesn't guess content types, doesn't show the response in a frame, and
/// doesn't cache the response. The browser also doesn't send the address of the response to other sites.
///
/// ``SecurityHeadersMiddleware`` adds the headers to every routed response. For responses to invalid HTTP, pass the headers to
/// `HTTPServerBuilder.contractHTTP1(renderer:configuration:connections:securityHeaders:)`.
///
/// The values suit an API: browsers load no further content for a response, and show no response in a frame. The middleware doesn't replace
/// a `Content-Security-Policy` that a response already has.
public struct SecurityHeaders: Sendable {
    private let fields: [HTTPField]

    /// Creates the headers.
    /// - Parameter isStrictTransport: Whether the headers include HSTS (RFC 6797). With HSTS, browsers use only HTTPS for the host and its
    ///   subdomains for a year. So set this to `true` only if the host and all subdomains support TLS.
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

    /// Adds the headers that a response doesn't have yet.
    func add(to headers: inout HTTPFields) {
        for field in fields where !headers.contains(field.name) { headers.append(field) }
    }
}

/// Adds ``SecurityHeaders`` to every response. The middleware doesn't replace a header that the response already has.
public struct SecurityHeadersMiddleware<Context: RequestContext>: RouterMiddleware {
    private let securityHeaders: SecurityHeaders

    /// Creates the middleware. Add it outside of ``ContractErrorMiddleware``, so that errors also have the headers.
    /// - Parameter securityHeaders: The headers, which are the same for every response.
    public init(_ securityHeaders: SecurityHeaders) {
        self.securityHeaders = securityHeaders
    }

    /// Passes the request on, and adds the headers to its response.
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
