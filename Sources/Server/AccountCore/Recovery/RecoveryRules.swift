/// How long reset links last and how many there may be.
public struct RecoveryRules: Hashable, Sendable {
    /// The life of a link.
    public let linkLifetime: Duration
    /// How many links of one account may be live at once; 1 means the newest only.
    public let liveLinks: Int

    /// The life of the link with which an owner says that a change was not theirs.
    public let freezeLifetime: Duration = .seconds(7 * 86_400)

    /// Creates rules.
    /// - Precondition: both are positive.
    public init(linkLifetime: Duration = .seconds(3_600), liveLinks: Int = 3) {
        precondition(linkLifetime > .zero, "linkLifetime must be positive (is \(linkLifetime))")
        precondition(liveLinks > 0, "liveLinks must be positive (is \(liveLinks))")
        self.linkLifetime = linkLifetime
        self.liveLinks = liveLinks
    }
}
