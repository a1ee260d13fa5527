import Foundation
public import HTTPTypes

/// Where a redirect leads: the rules that all transports keep.
///
/// Only GET and HEAD are sent on, for who sends anything else must decide whether it may happen twice. `Authorization` and `Cookie`
/// stay on the same origin and are dropped on any other (RFC 9110 §15.4).
public enum Redirection {
    /// How many redirects of one request are followed; the next one is the answer.
    public static let most = 10

    /// The request that a redirect asks for.
    /// - Returns: `nil` if the answer is no redirect, or one that is not followed: it is the answer then.
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
