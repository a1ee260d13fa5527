public import AccountContract
public import Foundation

/// Parses the links that open an app. Each link is converted to the app's own value, such as a case of an enumeration.
///
/// The same rules apply to web links of the app's hosts and to links of the app's custom scheme. A web link must use https. A link with
/// http is accepted only if its host is `localhost`, `127.0.0.1` or `::1`, and the reader's `hosts` contain this host.
///
/// ```swift
/// let reader = LinkReader<AppLink>(
///     hosts: ["notes.example.com"],
///     scheme: "com.example.notes",
///     resetLink: { AppLink.reset($0) }
/// )
/// let found = try reader.read(url)
/// ```
///
/// An app that handles all emails of the account server passes `accountLink` instead of `resetLink`:
///
/// ```swift
/// let reader = LinkReader<AppLink>(hosts: ["notes.example.com"], accountLink: { AppLink.account($0) })
/// ```
public struct LinkReader<Link: Sendable>: Sendable {
    /// A link that was recognized.
    public struct Found: Sendable {
        /// The app's value.
        public let link: Link
        /// Whether the link requires a signed-in user.
        public let needsSession: Bool
    }

    private let hosts: Set<String>
    private let scheme: String?
    private let makeResetLink: (@Sendable (ResetLink) -> Link)?
    private let makeAccountLink: (@Sendable (AccountLink) -> Link)?
    private let routes: [LinkRoute<Link>]

    /// Creates a reader.
    /// - Parameters:
    ///   - hosts: The hosts of the app's web links.
    ///   - scheme: The app's custom scheme, if it has one.
    ///   - resetLink: Creates the app's value for a reset link, which never requires a session; `nil` if the app has no reset
    ///     screen.
    ///   - accountLink: Creates the app's value for a link in an email of the account server; `nil` if the app has no screens for these
    ///     links. Such a link never requires a session. If both closures are present, `resetLink` receives the reset links.
    ///   - routes: The app's other links. The first route whose path and required parameters match is used.
    /// - Precondition: No two routes have the same pattern. The names of captures don't make patterns different.
    public init(
        hosts: Set<String>,
        scheme: String? = nil,
        resetLink: (@Sendable (ResetLink) -> Link)? = nil,
        accountLink: (@Sendable (AccountLink) -> Link)? = nil,
        routes: [LinkRoute<Link>] = []
    ) {
        for (index, route) in routes.enumerated() {
            precondition(!routes[..<index].contains { $0.collides(with: route) }, "\(route.pattern) is registered twice")
        }
        self.hosts = Set(hosts.map { $0.lowercased() })
        self.scheme = scheme?.lowercased()
        self.makeResetLink = resetLink
        self.makeAccountLink = accountLink
        self.routes = routes
    }

    /// Parses a link that opened the app. O(number of routes).
    ///
    /// - Parameter url: The address, as the system passed it to the app.
    /// - Returns: The app's value, or `nil` if the link belongs to the app but matches no route.
    /// - Throws: ``LinkRefusal`` if the link doesn't belong to the app, if a parameter is missing, malformed or doubled, or if the link is
    ///   an invalid link of the account server.
    public func read(_ url: URL) throws(LinkRefusal) -> Found? {
        let (path, query) = try pathAndQuery(of: url)
        if !path.isEmpty, let link = try accountLink(url, path) { return Found(link: link, needsSession: false) }
        for route in routes {
            guard let captured = route.captures(of: path), try route.accepts(query: query) else { continue }
            let parameters = try LinkParameters(query: query, captured: captured)
            return Found(link: try route.make(parameters), needsSession: route.needsSession)
        }
        return nil
    }

    /// Returns the app's value for a link of the account server. Returns `nil` for any other link, and for a link for which the app has no
    /// screen.
    private func accountLink(_ url: URL, _ path: [String]) throws(LinkRefusal) -> Link? {
        guard makeResetLink != nil || makeAccountLink != nil else { return nil }
        let link: AccountLink
        do throws(AccountLink.Refusal) {
            link = try AccountLink(url, hosts: hosts, scheme: scheme)
        } catch {
            guard error != .otherPage, let purpose = path.last.flatMap(AccountLink.Purpose.init(rawValue:)) else { return nil }
            if purpose == .resetPassword { throw .resetLink(error) }
            guard makeAccountLink != nil else { return nil }
            throw .accountLink(purpose, error)
        }
        if link.purpose == .resetPassword, let makeResetLink {
            return makeResetLink(ResetLink(token: link.token, email: link.email))
        }
        return makeAccountLink?(link)
    }

    /// Returns the segments of the path, and the query with its percent-encoding. In a link with a custom scheme, the host is the first
    /// segment.
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

/// The reason why the reader refuses a link.
public enum LinkRefusal: Error, Hashable, Sendable {
    /// The link doesn't belong to the app: it has another host or scheme, is a web link without TLS, or contains a user name.
    case foreign
    /// The named parameter occurs twice.
    case doubledParameter(String)
    /// The named parameter is missing or empty.
    case missingParameter(String)
    /// The named parameter is malformed.
    case malformedParameter(String)
    /// The path or the query can't be parsed.
    case malformed
    /// The link leads to the reset page but is not a valid reset link. To inform the user, create ``ResetPasswordModel`` with `nil` as its
    /// link.
    case resetLink(ResetLink.Refusal)
    /// The link leads to another page of the account server but is not a valid link. To inform the user, create the model for this purpose
    /// with `nil` as its link.
    case accountLink(AccountLink.Purpose, AccountLink.Refusal)
}
