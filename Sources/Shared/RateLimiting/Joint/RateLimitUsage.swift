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
