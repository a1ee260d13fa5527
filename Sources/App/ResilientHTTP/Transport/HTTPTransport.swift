import Foundation
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

    /// Sends a request once and returns the response as soon as its head has arrived, for a body of any size that is read slowly or never ends.
    ///
    /// The transport stores a bounded part of the body: a reader that pauses pauses the server. A body that is released before its end closes
    /// the connection. The default implementation calls ``send(_:body:timeout:)``, so that the time until the head bounds the body as well.
    /// - Parameters:
    ///   - request: The head, with scheme, authority and path.
    ///   - body: The body, if there is one. It is sent before the response is returned, unless the server refuses the request earlier.
    ///   - timeout: The time until the head of a success, or until the last byte of any other response.
    ///   - idleTimeout: The longest time without a byte in either direction. Time in which the reader of the response takes no bytes
    ///     does not count.
    /// - Returns: The head of the response, whatever its status, and the body.
    /// - Throws: ``TransportError`` if no head of a response arrived.
    func stream(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration,
        idleTimeout: Duration
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody)
}

extension HTTPTransport {
    public func stream(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration,
        idleTimeout: Duration
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
        try await send(request, body: body, timeout: timeout)
    }
}

/// Where a redirect leads: the rules that all transports keep.
///
/// Only GET and HEAD are sent on, for who sends anything else must decide whether it may happen twice. `Authorization` and `Cookie`
/// stay on the same origin and are dropped on any other (RFC 9110 §15.4).
public enum Redirection {
    /// How many redirects of one request are followed; the next one is the response.
    public static let most = 10

    /// The request that a redirect asks for.
    /// - Returns: `nil` if the response is no redirect, or one that is not followed.
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
        if origin(next) != origin(request) {
            next.headerFields[.authorization] = nil
            next.headerFields[.cookie] = nil
        }
        return next
    }

    /// Scheme, host and port, the latter filled in.
    private static func origin(_ request: HTTPRequest) -> String {
        let (scheme, authority) = (request.scheme?.lowercased() ?? "", request.authority?.lowercased() ?? "")
        let hasPort = authority.split(separator: "]", omittingEmptySubsequences: false).last?.contains(":") == true
        return "\(scheme)://\(authority)" + (hasPort ? "" : scheme == "https" ? ":443" : ":80")
    }
}
