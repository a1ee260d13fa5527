public import AccountContract
public import Foundation

/// The links that an app knows, as a table: reads an address and returns the app's value.
///
/// Web links of the app's hosts and links of its custom scheme are read alike. Web links must be https; http is read from
/// this machine alone.
public struct LinkReader<Link: Sendable>: Sendable {
    /// A link that was read.
    public struct Found: Sendable {
        /// The app's value.
        public let link: Link
        /// Whether it makes sense only for somebody who is signed in.
        public let needsSession: Bool
    }

    private let hosts: Set<String>
    private let scheme: String?
    private let makeResetLink: (@Sendable (ResetLink) -> Link)?
    private let routes: [LinkRoute<Link>]

    /// Creates a table.
    /// - Parameters:
    ///   - hosts: The hosts whose web links are the app's own.
    ///   - scheme: The app's custom scheme, if it has one.
    ///   - resetLink: Makes the app's value of a reset link, which never needs a session; `nil` if the app has no reset screen.
    ///   - routes: The app's own links. A link is read by the first route whose path and required parameters fit.
    /// - Precondition: No two routes have the same pattern.
    public init(
        hosts: Set<String>,
        scheme: String? = nil,
        resetLink: (@Sendable (ResetLink) -> Link)? = nil,
        routes: [LinkRoute<Link>] = []
    ) {
        for (index, route) in routes.enumerated() {
            precondition(!routes[..<index].contains { $0.collides(with: route) }, "\(route.pattern) is registered twice")
        }
        self.hosts = Set(hosts.map { $0.lowercased() })
        self.scheme = scheme?.lowercased()
        self.makeResetLink = resetLink
        self.routes = routes
    }

    /// Reads a link. O(routes).
    /// - Returns: The app's value, or `nil` if the link is the app's but leads to nothing that is registered.
    public func read(_ url: URL) throws(LinkRefusal) -> Found? {
        let (path, query) = try pathAndQuery(of: url)
        if let makeResetLink, !path.isEmpty, let link = try resetLink(url) {
            return Found(link: makeResetLink(link), needsSession: false)
        }
        for route in routes {
            guard let captured = route.captures(of: path), try route.accepts(query: query) else { continue }
            let parameters = try LinkParameters(query: query, captured: captured)
            return Found(link: try route.make(parameters), needsSession: route.needsSession)
        }
        return nil
    }

    private func resetLink(_ url: URL) throws(LinkRefusal) -> ResetLink? {
        do throws(ResetLink.Refusal) {
            return try ResetLink(url, hosts: hosts, scheme: scheme)
        } catch {
            guard error == .otherPage else { throw .resetLink(error) }
            return nil
        }
    }

    /// The segments of the path, of which the host of a custom scheme is the first, and the query as it stands.
    private func pathAndQuery(of url: URL) throws(LinkRefusal) -> (path: [String], query: String?) {
        guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true), parts.user == nil, parts.password == nil,
            let linkScheme = parts.scheme?.lowercased(), let host = parts.host?.lowercased() ?? (parts.path.isEmpty ? "" : nil)
        else { throw .foreign }
        var path: [String] = []
        if linkScheme == scheme {
            if !host.isEmpty { path.append(host) }
        } else {
            let isLocal = ["localhost", "127.0.0.1", "::1", "[::1]"].contains(host)
            guard linkScheme == "https" || linkScheme == "http" && isLocal, hosts.contains(host) else { throw .foreign }
        }
        for segment in parts.percentEncodedPath.split(separator: "/") {
            guard let decoded = segment.removingPercentEncoding else { throw .malformed }
            path.append(decoded)
        }
        return (path, parts.percentEncodedQuery)
    }
}

/// Why a link that the app was opened with is not followed.
public enum LinkRefusal: Error, Hashable, Sendable {
    /// The link is not the app's: another host or scheme, web without TLS, or an address with a user in it.
    case foreign
    /// The named parameter occurs twice.
    case doubledParameter(String)
    /// The named parameter is not there, or is empty.
    case missingParameter(String)
    /// The named parameter has not the right form.
    case malformedParameter(String)
    /// The path or the query can't be read.
    case malformed
    /// The link leads to the reset page and is no reset link: open ``ResetPasswordModel`` with `nil` to say so.
    case resetLink(ResetLink.Refusal)
}
