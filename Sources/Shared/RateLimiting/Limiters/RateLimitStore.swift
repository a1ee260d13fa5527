/// A store that counts usage: in this process, or in a server that several processes share.
///
/// One call decides about a request under all claimed policies: either all policies count the request, or no policy counts it. A store must
/// give this guarantee also for concurrent decisions. ``JointRateLimiter`` counts in memory. A store that uses a network must have a
/// timeout, because the request waits for the store.
public protocol RateLimitStore: Sendable {
    /// Admits or refuses one request, and counts an admitted request.
    ///
    /// - Parameter claims: The claims of the request. No two claims name the same policy. A request without claims is admitted.
    /// - Returns: Whether the request is admitted, with the state of all claimed limits. The result of an admission also contains the
    ///   charge, with which the caller can refund the units.
    /// - Throws: An error if the store can't decide. The store then counts the request under no policy. Exception: a remote store may have
    ///   counted the request if its response was lost.
    func admit(_ claims: [RateLimitClaim]) async throws -> RateLimitResult
    /// Returns the result that ``admit(_:)`` would return now. Counts nothing.
    ///
    /// Use this method to report the state of the limits, for example in the response of a route that failed before it claimed any units.
    /// To decide about a request, use ``admit(_:)``, because other requests can use up the quota between a check and an admission.
    /// - Parameter claims: The claims, as for ``admit(_:)``.
    /// - Throws: An error if the store can't be reached.
    func check(_ claims: [RateLimitClaim]) async throws -> RateLimitResult
    /// Refunds the units that an admission of this store charged to refundable claims. If a caller refunds the same charge under the same
    /// policy again, the second call has no effect.
    /// - Parameters:
    ///   - charge: The charge that the admission reported.
    ///   - policies: The names of the policies to refund; `nil` for all refundable policies.
    /// - Throws: An error if the store can't be reached. The units may then stay counted until their window ends.
    func refund(_ charge: RateLimitCharge, under policies: Set<String>?) async throws
    /// Replaces the policy, mode or visibility of the rule with the same policy name. Earlier admissions stay counted.
    ///
    /// Use this method to change a limit during an attack. Clients don't get a new burst, because their earlier admissions count under the
    /// new rule.
    /// - Parameter rule: The new rule. The store must have a rule whose policy has the same name.
    /// - Throws: An error if the store can't be reached. Decisions may then still use the earlier rule.
    func change(to rule: RateLimitRule) async throws
    /// Returns the current usage of the claimed keys. The caller saves the usage in the same transaction as the writes of the request. The
    /// method isn't `async`, because the caller calls it within a transaction.
    ///
    /// - Returns: The usage; `nil` if this store doesn't count in the database to which the request writes. The default implementation
    ///   returns `nil`.
    func consumedQuota(of claims: [RateLimitClaim]) -> ConsumedQuota?
    /// The memory that the keys use; `nil` if the store counts outside this process. The default is `nil`.
    var usage: RateLimitUsage? { get }
}

extension RateLimitStore {
    /// Returns `nil`, as for a store that doesn't count in the database to which the request writes.
    public func consumedQuota(of claims: [RateLimitClaim]) -> ConsumedQuota? { nil }
    /// `nil`, as for a store that counts outside this process.
    public var usage: RateLimitUsage? { nil }
}

/// A store that counts in this process, and therefore decides without a suspension.
///
/// A server decides about a request faster with such a store, because it needs no asynchronous calls. A store that waits for another
/// process, or for a lock for a long time, must not conform to this protocol.
public protocol LocalRateLimitStore: RateLimitStore {
    /// Admits or refuses one request, and counts an admitted request.
    ///
    /// - Parameter claims: The claims of the request, as for ``RateLimitStore/admit(_:)``.
    /// - Returns: The same result as ``RateLimitStore/admit(_:)``.
    func admit(_ claims: [RateLimitClaim]) -> RateLimitResult
}

extension JointRateLimiter: LocalRateLimitStore {}

/// The usage of some keys. The application's own store saves this usage in the same transaction as the writes of a request.
///
/// The application's store saves ``rows`` in its transaction. If the transaction fails, the store calls ``giveBack``.
public struct ConsumedQuota: Sendable {
    /// A row for each policy and key.
    public var rows: [SavedRateLimit]
    /// A time directly before the limiter read the usage of the keys. The rows include all admissions before this time.
    public var covers: SnapshotTime

    /// A closure to call if the rows could not be saved. The limiter then returns these keys again as changed keys, so that they are saved
    /// later.
    public var giveBack: @Sendable () -> Void

    /// Creates the usage of some keys.
    /// - Parameters:
    ///   - rows: A row for each policy and key.
    ///   - covers: A time directly before the limiter read the usage. Read the clock first, and then the usage.
    ///   - giveBack: A closure that the store calls if the rows could not be saved.
    public init(rows: [SavedRateLimit], covers: SnapshotTime, giveBack: @escaping @Sendable () -> Void = {}) {
        (self.rows, self.covers, self.giveBack) = (rows, covers, giveBack)
    }
}

/// The memory that a limiter's keys use, and the number of actions that the limiter took because memory was short.
///
/// Export the numbers as metrics. If ``Table/fallbacks`` grows, several clients share one quota. In this case, increase the memory of the
/// limiter, or find the clients that use many keys.
public struct RateLimitUsage: Hashable, Sendable {
    /// One policy's table.
    public struct Table: Hashable, Sendable {
        /// The name of the policy. The policies of networks have the suffix `.near` or `.far`.
        public var policy: String
        /// The number of keys with their own window.
        public var keys: Int
        /// The number of bytes that these keys use.
        public var bytes: Int
        /// The number of keys that the table has evicted since the start. Each evicted key had used half of its quota or less.
        public var evictions: Int
        /// The number of requests since the start that were not counted under their own key, because the table was full of keys that had
        /// used more than half of their quota. The limiter counted such a request for the client's network, or in a window that several new
        /// keys share.
        public var fallbacks: Int

        /// Creates the usage of a table.
        /// - Parameters:
        ///   - policy: The name of the policy.
        ///   - keys: The number of keys with their own window.
        ///   - bytes: The number of bytes that these keys use.
        ///   - evictions: The number of keys evicted since the start.
        ///   - fallbacks: The number of requests since the start that were not counted under their own key.
        public init(policy: String, keys: Int, bytes: Int, evictions: Int, fallbacks: Int) {
            (self.policy, self.keys, self.bytes) = (policy, keys, bytes)
            (self.evictions, self.fallbacks) = (evictions, fallbacks)
        }
    }

    /// The maximum number of bytes of all tables.
    public var limit: Int
    /// The tables of the rules and of their networks, with the usage of each table.
    public var tables: [Table]

    /// Creates the usage of a limiter.
    /// - Parameters:
    ///   - limit: The maximum number of bytes of all tables.
    ///   - tables: The tables, including the tables of networks.
    public init(limit: Int, tables: [Table]) {
        (self.limit, self.tables) = (limit, tables)
    }

    /// The number of bytes that all keys use. For a short time, it can exceed ``limit``.
    public var bytes: Int { tables.reduce(0) { $0 + $1.bytes } }
}
