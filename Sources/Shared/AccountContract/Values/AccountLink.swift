public import Foundation

/// A link in an email of the account server.
///
/// It has one of three forms: `https://HOST/PAGE?token=…&email=…`, `https://HOST/PAGE#token=…&email=…` or `SCHEME://PAGE?token=…&email=…`.
/// `PAGE` is the ``Purpose/page`` of the link's purpose. A server creates the link with ``url(base:style:)``. An app parses it with
/// ``init(_:hosts:scheme:)``.
///
/// ```swift
/// let link = try AccountLink(url, hosts: ["app.example.com"], scheme: "example")
/// switch link.purpose {
/// case .resetPassword: showNewPassword(link.token)
/// case .verifyEmail: verify(link.token)
/// …
/// }
/// ```
///
/// The token is a secret, so don't log the link. For links of password resets only, ``ResetLink`` is simpler.
public struct AccountLink: Hashable, Sendable {
    /// The change that a link makes. A token has one purpose, and the server refuses it for any other purpose.
    public enum Purpose: String, Hashable, Sendable, CaseIterable {
        /// Sets a new password.
        case resetPassword = "reset-password"
        /// Verifies the address of an account.
        case verifyEmail = "verify-email"
        /// Creates the account for an earlier registration.
        case activate
        /// Changes the address of an account to the address that received the link.
        case confirmEmail = "confirm-email"
        /// Restores the former address of an account.
        case undoEmail = "undo-email"
        /// Restores a deleted account.
        case keepAccount = "keep-account"

        /// The path of the page, without a slash. In a link with a custom scheme, this text takes the place of the host.
        public var page: String { rawValue }
    }

    /// The position of the token in a web link.
    public enum Style: String, Hashable, Sendable, CaseIterable {
        /// After `?`. Existing apps read the token at this position. Proxies can also read it, and logs may contain it.
        case query
        /// After `#`. Browsers don't send this part of the address to the server.
        case fragment
    }

    /// The change that the link makes.
    public let purpose: Purpose
    /// The token.
    public let token: ResetToken
    /// The address that the token was sent to, if the link contains it.
    public let email: EmailAddress?

    /// Creates a link.
    /// - Parameters:
    ///   - purpose: The change that the link makes.
    ///   - token: The token.
    ///   - email: The address that the token was sent to; `nil` to omit it from the link.
    public init(_ purpose: Purpose, token: ResetToken, email: EmailAddress?) {
        self.purpose = purpose
        self.token = token
        self.email = email
    }

    /// Returns the web link.
    ///
    /// - Parameters:
    ///   - base: The configured address of the server or site. If it ends with the path of the reset page, the method removes this path.
    ///     Never use an address from a request.
    ///   - style: The position of the token.
    /// - Returns: The link. `nil` if `base` is not an absolute http or https address, or if it contains user info.
    public func url(base: URL, style: Style) -> URL? {
        guard var parts = URLComponents(url: base, resolvingAgainstBaseURL: true),
            let scheme = parts.scheme?.lowercased(), scheme == "https" || scheme == "http",
            parts.host?.isEmpty == false, parts.user == nil, parts.password == nil
        else { return nil }
        var path = parts.percentEncodedPath
        while path.hasSuffix("/") { path.removeLast() }
        let resetPage = "/" + Purpose.resetPassword.page
        if path.hasSuffix(resetPage) { path.removeLast(resetPage.count) }
        parts.percentEncodedPath = path + "/" + purpose.page
        parts.percentEncodedQuery = style == .query ? parameters : nil
        parts.percentEncodedFragment = style == .fragment ? parameters : nil
        return parts.url
    }

    /// Returns the link that opens an app by its custom scheme. Any app can register the same scheme, so prefer web links.
    /// - Parameter scheme: The scheme, without `://`.
    /// - Returns: `nil` if the scheme is invalid.
    public func url(scheme: String) -> URL? {
        URL(string: "\(scheme)://\(purpose.page)?\(parameters)")
    }

    /// The token and the address as a query, percent-encoded.
    private var parameters: String {
        var text = "token=" + Self.escaped(token.rawValue)
        if let email { text += "&email=" + Self.escaped(email.text) }
        return text
    }

    /// Returns a text with percent encoding, so that it can be a value in a query or a fragment.
    private static func escaped(_ text: String) -> String {
        let unreserved = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        return text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }
}

extension AccountLink {
    /// The reason why a link was refused.
    public enum Refusal: String, Error, Hashable, Sendable {
        /// The host or the scheme of the link does not belong to the app.
        case foreign
        /// The link leads to another page.
        case otherPage
        /// The token is missing or empty.
        case missingToken
        /// The token or the address occurs twice, for example in the query and in the fragment.
        case doubledParameter
        /// The token or the address is malformed.
        case malformed
    }

    /// Parses a link that opened the app. A web link must use `https`. For development, the initializer also accepts `http` for the local
    /// machine. It ignores unknown parameters.
    ///
    /// - Parameters:
    ///   - url: The link.
    ///   - hosts: The hosts of the app's web links. Uppercase and lowercase letters are equal.
    ///   - scheme: The app's custom scheme, if it has one.
    /// - Throws: ``Refusal``.
    public init(_ url: URL, hosts: Set<String>, scheme: String? = nil) throws(Refusal) {
        guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true), let linkScheme = parts.scheme?.lowercased(),
            let host = parts.host?.lowercased(), parts.user == nil, parts.password == nil
        else { throw .foreign }
        let path = parts.path.split(separator: "/").joined(separator: "/")
        let purpose: Purpose
        if let scheme, linkScheme == scheme.lowercased() {
            guard path.isEmpty, let found = Purpose(rawValue: host) else { throw .otherPage }
            purpose = found
        } else {
            let isLocal = ["localhost", "127.0.0.1", "::1", "[::1]"].contains(host)
            guard linkScheme == "https" || linkScheme == "http" && isLocal,
                hosts.contains(where: { $0.lowercased() == host })
            else { throw .foreign }
            guard let found = path.split(separator: "/").last.flatMap({ Purpose(rawValue: String($0)) }) else { throw .otherPage }
            purpose = found
        }
        let pairs = try Self.pairs(parts.percentEncodedQuery) + Self.pairs(parts.percentEncodedFragment)
        let tokens = pairs.filter { $0.name == "token" }
        let emails = pairs.filter { $0.name == "email" }
        guard tokens.count <= 1, emails.count <= 1 else { throw .doubledParameter }
        guard let token = tokens.first?.value, !token.isEmpty else { throw .missingToken }
        // `URL` accepts a malformed escape and escapes its percent sign. A valid token never contains a percent sign.
        guard token.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "%") }) else { throw .malformed }
        do {
            self.init(purpose, token: try ResetToken(token), email: try emails.first.map { try EmailAddress($0.value) })
        } catch {
            throw .malformed
        }
    }

    /// Splits a query or a fragment into decoded pairs.
    private static func pairs(_ text: String?) throws(Refusal) -> [(name: String, value: String)] {
        var pairs: [(name: String, value: String)] = []
        for item in (text ?? "").split(separator: "&") {
            let halves = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let decoded = halves.map { String($0).removingPercentEncoding }
            guard let name = decoded.first ?? nil, let value = decoded.count > 1 ? decoded[1] : "" else { throw .malformed }
            pairs.append((name, value))
        }
        return pairs
    }
}
