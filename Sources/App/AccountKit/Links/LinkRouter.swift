public import Foundation
public import Observation

/// Takes the links that the app is opened with and gives each to the app once, at the moment when it can follow it.
///
/// A link that needs a session and arrives while nobody is signed in is held; ``signedIn()`` gives it out. Of several the
/// latest is held: it is what the person asked for last.
@Observable
@MainActor
public final class LinkRouter<Link: Sendable> {
    /// What becomes of a link.
    public enum Outcome: Sendable {
        /// The app is to follow it now.
        case follow(Link)
        /// It is held until somebody signs in; the app is to ask for that.
        case held
    }

    /// Whether somebody is signed in.
    public private(set) var isSignedIn: Bool
    /// The link that waits for a sign-in.
    public private(set) var heldLink: Link?
    private let reader: LinkReader<Link>

    /// Creates a router.
    /// - Parameters:
    ///   - reader: The links that the app knows.
    ///   - isSignedIn: Whether somebody is signed in as the app starts.
    public init(_ reader: LinkReader<Link>, isSignedIn: Bool) {
        self.reader = reader
        self.isSignedIn = isSignedIn
    }

    /// Takes a link that the app was opened with.
    /// - Returns: What becomes of it, or `nil` if it leads to nothing that the app knows.
    /// - Throws: ``LinkRefusal``; a link that was held stays held.
    public func open(_ url: URL) throws(LinkRefusal) -> Outcome? {
        guard let found = try reader.read(url) else { return nil }
        guard found.needsSession, !isSignedIn else { return .follow(found.link) }
        heldLink = found.link
        return .held
    }

    /// Somebody has signed in.
    /// - Returns: The link that waited for it. It is given out once.
    public func signedIn() -> Link? {
        isSignedIn = true
        defer { heldLink = nil }
        return heldLink
    }

    /// The session has ended. What arrives from now on is held again.
    public func signedOut() {
        isSignedIn = false
    }

    /// Forgets the link that is held, such as when the person leaves the sign-in screen.
    public func dropHeldLink() {
        heldLink = nil
    }
}

extension LinkRouter.Outcome: Equatable where Link: Equatable {}
extension LinkRouter.Outcome: Hashable where Link: Hashable {}
