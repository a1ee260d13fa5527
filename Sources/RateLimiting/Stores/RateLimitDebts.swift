/// What some keys owe, to be kept in one transaction with what a request does.
public struct RateLimitDebts: Hashable, Sendable {
    /// A row for each policy and key.
    public var rows: [SavedRateLimit]
    /// When the keys were about to be looked at: what was admitted before is in the rows.
    public var covers: SnapshotTime

    /// Creates debts.
    public init(rows: [SavedRateLimit], covers: SnapshotTime) {
        (self.rows, self.covers) = (rows, covers)
    }
}
