public import Foundation
public import Observation

/// Receives the links that open the app. The router passes each link to the app once, at a time when the app can open the link.
///
/// If a link requires a session and no user is signed in, the router stores the link. ``signedIn()`` returns it later. The router stores
/// only one link: the link that the user opened last.
///
/// ```swift
/// switch try router.open(url) {
/// case .follow(let link): show(link)
/// case .held: showSignIn()
/// case nil: break
/// }
/// ```
@Observable
@MainActor
public final class LinkRouter<Link: Sendable> {
    /// The result of opening a link.
    public enum Outcome: Sendable {
        /// The app must follow the link now.
        case follow(Link)
        /// The router stores the link until a user signs in. The app must show its sign-in screen.
        case held
    }

    /// Whether a user is signed in.
    public private(set) var isSignedIn: Bool
    /// The link that the router stores until a user signs in; `nil` if there is none.
    public private(set) var heldLink: Link?
    private let reader: LinkReader<Link>

    /// Creates a router.
    /// - Parameters:
    ///   - reader: The links that the app knows.
    ///   - isSignedIn: Whether a user is signed in when the app starts.
    public init(_ reader: LinkReader<Link>, isSignedIn: Bool) {
        self.reader = reader
        self.isSignedIn = isSignedIn
    }

    /// Opens a link.
    ///
    /// Call this method for each URL that the system passes to the app, including the URL that launched the app.
    /// - Parameter url: The web link, or the link with the app's custom scheme.
    /// - Returns: The result, or `nil` if the link matches no route.
    /// - Throws: ``LinkRefusal``. In this case, ``heldLink`` does not change.
    public func open(_ url: URL) throws(LinkRefusal) -> Outcome? {
        guard let found = try reader.read(url) else { return nil }
        guard found.needsSession, !isSignedIn else { return .follow(found.link) }
        heldLink = found.link
        return .held
    }

    /// Informs the router that a user has signed in, and returns the stored link. The app must follow this link.
    ///
    /// - Returns: The stored link; `nil` if there is none. Each link is returned only once.
    public func signedIn() -> Link? {
        isSignedIn = true
        defer { heldLink = nil }
        return heldLink
    }

    /// Informs the router that the session has ended. Until the next sign-in, the router stores links that require a session.
    public func signedOut() {
        isSignedIn = false
    }

    /// Removes the stored link. Call this method, for example, when the user leaves the sign-in screen.
    public func dropHeldLink() {
        heldLink = nil
    }
}

extension LinkRouter.Outcome: Equatable where Link: Equatable {}
extension LinkRouter.Outcome: Hashable where Link: Hashable {}
