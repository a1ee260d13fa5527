/// Where limits are counted: in this process, or in a server that several processes share.
///
/// One call decides about a request under all the policies that it claims, all or nothing, whatever else is decided at the same
/// time. ``JointRateLimiter`` is the one that counts in memory. A store over a network keeps its own time bound: whoever calls it
/// waits for it, and a request waits with him.
public protocol RateLimitStore: Sendable {
    /// Decides about one request.
    /// - Throws: What kept the store from deciding; then no policy counts the request.
    func admit(_ claims: [RateLimitClaim]) async throws -> RateLimitResult
    /// Says what ``admit(_:)`` would say now, and counts nothing.
    func check(_ claims: [RateLimitClaim]) async throws -> RateLimitResult
    /// Refunds what an admission of this store charged to refundable claims. Each policy's part is refunded once.
    /// - Parameters:
    ///   - charge: The charge that the admission reported.
    ///   - policies: The names of the policies to refund; all that can be if `nil`.
    func refund(_ charge: RateLimitCharge, under policies: Set<String>?) async throws
    /// Puts another policy, mode or visibility in place under the policy's name, without a fresh burst.
    func change(to rule: RateLimitRule) async throws
    /// What the keys of claims owe at this moment, to be kept in one transaction with what the request does. Waits for nothing.
    /// `nil`, as by default, if the store isn't kept in that place.
    func consumedQuota(of claims: [RateLimitClaim]) -> ConsumedQuota?
    /// The memory that the keys take. `nil`, as by default, if the store counts elsewhere.
    var usage: RateLimitUsage? { get }
}

extension RateLimitStore {
    public func consumedQuota(of claims: [RateLimitClaim]) -> ConsumedQuota? { nil }
    public var usage: RateLimitUsage? { nil }
}

extension JointRateLimiter: RateLimitStore {}

/// What some keys owe, to be kept in one transaction with what a request does.
public struct ConsumedQuota: Sendable {
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

/// The memory that a limiter's keys take, and what the limiter did because it was short.
public struct RateLimitUsage: Hashable, Sendable {
    /// One policy's table.
    public struct Table: Hashable, Sendable {
        /// The name of the policy; of networks with the suffix `.near` or `.far`.
        public var policy: String
        /// The keys that have a window of their own.
        public var keys: Int
        /// The bytes that they take.
        public var bytes: Int
        /// How many keys were evicted since the start: each had used half of its quota or less.
        public var evictions: Int
        /// How many requests were counted by a network, or in a window that newcomers share, since the start, because the table was full of
        /// keys that had used more than half of their quota.
        public var fallbacks: Int

        /// Creates the usage of a table.
        public init(policy: String, keys: Int, bytes: Int, evictions: Int, fallbacks: Int) {
            (self.policy, self.keys, self.bytes) = (policy, keys, bytes)
            (self.evictions, self.fallbacks) = (evictions, fallbacks)
        }
    }

    /// The bytes that all tables may take.
    public var limit: Int
    /// The tables.
    public var tables: [Table]

    /// Creates the usage of a limiter.
    public init(limit: Int, tables: [Table]) {
        (self.limit, self.tables) = (limit, tables)
    }

    /// The bytes that all keys take.
    public var bytes: Int { tables.reduce(0) { $0 + $1.bytes } }
}
