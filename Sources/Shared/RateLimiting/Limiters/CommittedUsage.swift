/// Consumed quota that a store commits in the same transaction as other changes of the current task.
///
/// A route sets the value before it calls the domain code, and the store reads the value within the transaction. Therefore, either the
/// changes of a request and its usage are both stored, or neither is stored. A crash doesn't change this. The domain code doesn't depend on
/// rate limits. A store ignores the value if it isn't in the same database as the limits.
public enum CommittedUsage {
    /// A closure that returns the current usage; `nil` outside of such a call of the domain code.
    ///
    /// The store calls the closure after the other writes of the transaction. If two transactions run concurrently, the later transaction
    /// therefore never stores older usage.
    @TaskLocal public static var current: (@Sendable () -> ConsumedQuota?)?
}
