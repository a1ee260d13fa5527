/// Consumed quota that a store commits in the same transaction as other changes of the current task.
///
/// A route sets ``current`` before it calls the domain code. The store that writes the changes reads ``current`` within its transaction.
/// After a crash, either the changes of a request and its usage are both stored, or neither is stored. The domain code itself needs no
/// parameters for rate limits. A store ignores the value if it uses another database than the limits.
public enum CommittedUsage {
    /// A closure that returns the current usage of the request's keys; `nil` if no route has set it for the current task.
    ///
    /// The store calls the closure after the other writes of the transaction. If two transactions run concurrently, the later transaction
    /// therefore never stores older usage.
    @TaskLocal public static var current: (@Sendable () -> ConsumedQuota?)?
}
