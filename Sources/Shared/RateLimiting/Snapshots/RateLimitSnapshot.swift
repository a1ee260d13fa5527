/// What one key owes, in a form that can be saved. It holds no key: the caller knows what he saves it under.
public struct RateLimitSnapshot: Hashable, Sendable, Codable {
    /// The name of the policy.
    public var policy: String
    /// When it was made.
    public var time: SnapshotTime
    /// The age of each admitted unit that still counts, in nanoseconds, oldest first; empty for a GCRA.
    public var ages: [Int64]
    /// The nanoseconds until a GCRA owes nothing; `nil` for the sliding window.
    public var owed: Int64?

    /// Creates a snapshot from its parts.
    public init(policy: String, time: SnapshotTime, ages: [Int64], owed: Int64?) {
        (self.policy, self.time, self.ages, self.owed) = (policy, time, ages, owed)
    }

    init(policy: String, time: SnapshotTime, debt: SavedDebt) {
        switch debt {
        case .ages(let ages): self.init(policy: policy, time: time, ages: ages, owed: nil)
        case .nanoseconds(let owed): self.init(policy: policy, time: time, ages: [], owed: owed)
        }
    }
}
