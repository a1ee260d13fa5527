/// What one key owes under one policy, in a form that a store can keep and another process can restore.
///
/// A store keeps one row for each policy and key; a later one replaces it. The digest means the same key in every process that
/// has the limiter's secret.
public struct SavedRateLimit: Hashable, Sendable, Codable {
    /// The key; 0 for all keys without a row. Other digests below 2²⁰ are no keys; earlier versions saved them, and they are ignored.
    public var key: KeyDigest
    /// What it owes, under which policy, and when that was so.
    public var state: RateLimitSnapshot
    /// The nanoseconds from the state's time until the key owes nothing, so that the row may be deleted; 0 if it was reset.
    public var lifetime: Int64

    /// Creates a row as it was kept.
    public init(key: KeyDigest, state: RateLimitSnapshot, lifetime: Int64) {
        (self.key, self.state, self.lifetime) = (key, state, lifetime)
    }

    /// Whether the row may be deleted at a time: never too early, whatever step a wall clock makes within a boot.
    public func isExpired(at time: SnapshotTime) -> Bool { state.time.nanoseconds(to: time) >= lifetime }
}
