/// Consumed quota that a store commits in the same transaction as other changes of the current task.
///
/// A route sets the value around a call of the domain code, and the store reads it within the transaction. So the usage of a request is
/// stored exactly if the changes of the request are stored, even after a crash. The domain code doesn't depend on rate limits. If a store
/// isn't in the same database as the limits, it ignores the value.
public enum CommittedUsage {
    /// A closure that returns the usage at the time of the call; `nil` outside of such a call of the domain code.
    ///
    /// The store calls the closure after the other writes of the transaction. If two transactions run concurrently, the later one therefore
    /// never stores the older usage.
    @TaskLocal public static var current: (@Sendable () -> ConsumedQuota?)?
}
