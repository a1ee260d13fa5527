import Foundation
public import HTTPTypes

/// Sends single HTTP requests to servers through an HTTP engine, such as `URLSession`.
///
/// Implement this protocol to use another HTTP engine, or to return prepared responses in a test. To change or delay requests, or to change
/// responses, use ``ClientMiddleware`` instead.
///
/// ```swift
/// struct EmptyList: HTTPTransport {
///     func send(
///         _ request: HTTPRequest,
///         body: RequestBody?,
///         timeout: Duration
///     ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
///         (HTTPResponse(status: .ok), ResponseBody(Array("[]".utf8)))
///     }
/// }
/// ```
///
/// A transport must be safe to use from several tasks at the same time. When the task of a call is canceled, the transport ends the request
/// with a ``TransportError`` that has the code ``TransportError/Code/cancelled``. `TransportCheck` of `HoldfastTesting` tests whether a
/// transport follows these rules.
public protocol HTTPTransport: Sendable {
    /// Sends a request once. A transport never retries a request itself.
    /// - Parameters:
    ///   - request: The request without its body, with scheme, authority and path.
    ///   - body: The body, if there is one.
    ///   - timeout: The maximum time from the call to the last byte of the response's body. After this time, the transport ends the
    ///     request, and this function or the body throws the code ``TransportError/Code/timeout``.
    /// - Returns: The head of the response with any status, and the body as it arrives.
    /// - Throws: ``TransportError`` if no head of a response is received.
    func send(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody)

    /// Sends a request once and returns the response when its head has arrived. The body can have any size or never end, and its reader can
    /// be slow.
    ///
    /// The transport buffers only a limited part of the body, so a slow reader also slows the server down. If the body is released before
    /// its end, the connection closes. The default implementation calls ``send(_:body:timeout:)``, and `timeout` then also limits the body.
    /// - Parameters:
    ///   - request: The request without its body, with scheme, authority and path.
    ///   - body: The body, if there is one. The method returns the response after it has sent the whole body. If the server refuses the
    ///     request earlier, the method returns the response at once.
    ///   - timeout: The maximum time until the head of a success, or until the last byte of any other response.
    ///   - idleTimeout: The maximum time in which no byte is sent or received. While the transport waits for the reader of the response
    ///     because its buffer is full, this time doesn't run.
    /// - Returns: The head of the response with any status, and the body.
    /// - Throws: ``TransportError`` if no head of a response is received.
    func stream(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration,
        idleTimeout: Duration
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody)
}

extension HTTPTransport {
    /// Calls ``send(_:body:timeout:)``. The `timeout` then also limits the body of the response, and `idleTimeout` is ignored.
    /// - Parameters:
    ///   - request: The request without its body, with scheme, authority and path.
    ///   - body: The body, if there is one.
    ///   - timeout: The maximum duration of the whole exchange.
    ///   - idleTimeout: Ignored.
    /// - Throws: ``TransportError`` if no head of a response is received.
    public func stream(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration,
        idleTimeout: Duration
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
        try await send(request, body: body, timeout: timeout)
    }
}

/// The rules for redirects, which all transports follow.
///
/// A transport follows redirects only for GET and HEAD requests. For any other request, the caller must decide whether the request may be
/// sent twice. After each redirect, the transport removes `If-None-Match` and `If-Modified-Since` (RFC 9110 §15.4). They contain the
/// version of an earlier response, and this response may have come from another address, which the redirect led to at that time. The new
/// address could confirm the version by mistake. If a redirect leads to another origin, the transport also removes `Authorization` and
/// `Cookie`, and sets ``ResponseBody/isFromOtherOrigin`` of the response that it returns.
public enum Redirection {
    /// The maximum number of redirects that a transport follows for one request. If another redirect arrives, the transport returns it as
    /// the response.
    public static let most = 10

    /// Returns the request to send after a redirect. A transport whose engine doesn't follow redirects itself calls this function after
    /// each response.
    ///
    /// - Parameters:
    ///   - response: The head of a response.
    ///   - request: The request that was sent, with scheme, authority and path.
    /// - Returns: The request to the new address, without a condition (`If-None-Match`, `If-Modified-Since`). If this address has another
    ///   origin, the request also has no credentials (`Authorization`, `Cookie`). `nil` if the response is not a redirect, or if the
    ///   redirect must not be followed.
    public static func request(after response: HTTPResponse, to request: HTTPRequest) -> HTTPRequest? {
        guard [301, 302, 303, 307, 308].contains(response.status.code), [.get, .head].contains(request.method),
            let location = response.headerFields[.location], !location.isEmpty,
            let base = URL(string: "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "/")"),
            let url = URL(string: location, relativeTo: base),
            let target = URLComponents(url: url, resolvingAgainstBaseURL: true),
            let scheme = target.scheme?.lowercased(), scheme == "https" || scheme == "http",
            let host = target.percentEncodedHost, !host.isEmpty
        else { return nil }
        let path = target.percentEncodedPath
        var next = request
        next.scheme = scheme
        next.authority = target.port.map { "\(host):\($0)" } ?? host
        next.path = (path.hasPrefix("/") ? path : "/" + path) + (target.percentEncodedQuery.map { "?\($0)" } ?? "")
        (next.headerFields[.ifNoneMatch], next.headerFields[.ifModifiedSince]) = (nil, nil)
        if !isSameOrigin(next, request) { (next.headerFields[.authorization], next.headerFields[.cookie]) = (nil, nil) }
        return next
    }

    /// Returns whether two requests have the same origin: the scheme, the host and the port. A transport compares the requests before and
    /// after a redirect to set ``ResponseBody/isFromOtherOrigin``.
    /// - Parameters:
    ///   - first: A request with scheme and authority.
    ///   - second: Another request with scheme and authority.
    public static func isSameOrigin(_ first: HTTPRequest, _ second: HTTPRequest) -> Bool { origin(first) == origin(second) }

    /// Returns the origin of a request: the scheme, the host and the port. If the request contains no port, the origin contains the default
    /// port of the scheme.
    private static func origin(_ request: HTTPRequest) -> String {
        let (scheme, authority) = (request.scheme?.lowercased() ?? "", request.authority?.lowercased() ?? "")
        let hasPort = authority.split(separator: "]", omittingEmptySubsequences: false).last?.contains(":") == true
        return "\(scheme)://\(authority)" + (hasPort ? "" : scheme == "https" ? ":443" : ":80")
    }
}
