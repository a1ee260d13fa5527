public import Foundation

/// The link in a password reset email: an ``AccountLink`` with the purpose ``AccountLink/Purpose/resetPassword``.
///
/// A server creates the link with ``url(base:style:)``. An app parses it with ``init(_:hosts:scheme:)``. An app that handles all emails of
/// the account server uses ``AccountLink`` instead.
///
/// ```swift
/// let link = try ResetLink(url, hosts: ["app.example.com"], scheme: "example")
/// ```
///
/// The token is a secret, so don't log the link.
public struct ResetLink: Hashable, Sendable {
    /// The position of the token in a web link.
    public typealias Style = AccountLink.Style
    /// The reason why a link was refused.
    public typealias Refusal = AccountLink.Refusal

    /// The path of the page, without a slash. In a link with a custom scheme, this text takes the place of the host.
    public static let page = AccountLink.Purpose.resetPassword.page

    /// The token.
    public let token: ResetToken
    /// The address that the token was sent to, if the link contains it.
    public let email: EmailAddress?

    /// Creates a link.
    /// - Parameters:
    ///   - token: The token.
    ///   - email: The address that the token was sent to; `nil` to omit it from the link.
    public init(token: ResetToken, email: EmailAddress?) {
        self.token = token
        self.email = email
    }

    /// Parses a link that opened the app, like ``AccountLink/init(_:hosts:scheme:)``.
    /// - Parameters:
    ///   - url: The link, as the system passed it to the app.
    ///   - hosts: The hosts of the app's web links. Uppercase and lowercase letters are equal.
    ///   - scheme: The custom scheme of the app; `nil` if it has none.
    /// - Throws: ``Refusal``; ``AccountLink/Refusal/otherPage`` for a link with another purpose.
    public init(_ url: URL, hosts: Set<String>, scheme: String? = nil) throws(Refusal) {
        let link = try AccountLink(url, hosts: hosts, scheme: scheme)
        guard link.purpose == .resetPassword else { throw .otherPage }
        self.init(token: link.token, email: link.email)
    }

    /// Returns the web link, like ``AccountLink/url(base:style:)``.
    /// - Parameters:
    ///   - base: The configured address of the server or site. Never use an address from a request.
    ///   - style: The position of the token.
    /// - Returns: The link; `nil` if `base` is not an absolute http or https address.
    public func url(base: URL, style: Style) -> URL? { link.url(base: base, style: style) }

    /// Returns the link that opens an app by its custom scheme, like ``AccountLink/url(scheme:)``.
    public func url(scheme: String) -> URL? { link.url(scheme: scheme) }

    private var link: AccountLink { AccountLink(.resetPassword, token: token, email: email) }
}
