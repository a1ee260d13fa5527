/// What some keys owe, to be kept in one transaction with what a request does.
public struct RateLimitDebts: Sendable {
    /// A row for each policy and key.
    public var rows: [SavedRateLimit]
    /// When the keys were about to be looked at: what was admitted before is in the rows.
    public var covers: SnapshotTime

    /// To be called if they could not be kept: they are then kept with others, later.
    public var giveBack: @Sendable () -> Void

    /// Creates debts.
    public init(rows: [SavedRateLimit], covers: SnapshotTime, giveBack: @escaping @Sendable () -> Void = {}) {
        (self.rows, self.covers, self.giveBack) = (rows, covers, giveBack)
    }
}
