public import Foundation
public import Observation

/// Receives the links that open the app, and passes each to the app once, when the app can follow it.
///
/// A link that requires a session and arrives while no user is signed in is held; ``signedIn()`` returns it. Only the latest
/// link is held, because it is what the user requested last.
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
        /// The link is held until a user signs in. The app must ask for the sign-in.
        case held
    }

    /// Whether a user is signed in.
    public private(set) var isSignedIn: Bool
    /// The link that waits for a sign-in.
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
    /// - Returns: The result, or `nil` if the link matches no route.
    /// - Throws: ``LinkRefusal``. In this case, ``heldLink`` does not change.
    public func open(_ url: URL) throws(LinkRefusal) -> Outcome? {
        guard let found = try reader.read(url) else { return nil }
        guard found.needsSession, !isSignedIn else { return .follow(found.link) }
        heldLink = found.link
        return .held
    }

    /// Reports that a user has signed in.
    ///
    /// - Returns: The link that waited for it. It is returned once.
    public func signedIn() -> Link? {
        isSignedIn = true
        defer { heldLink = nil }
        return heldLink
    }

    /// Reports that the session has ended. Links that require a session are held from now on.
    public func signedOut() {
        isSignedIn = false
    }

    /// Removes the held link, such as when the user leaves the sign-in screen.
    public func dropHeldLink() {
        heldLink = nil
    }
}

extension LinkRouter.Outcome: Equatable where Link: Equatable {}
extension LinkRouter.Outcome: Hashable where Link: Hashable {}
