/// The usage (consumed quota) of rate limits. A store commits this usage in the same transaction as the other changes of the current task.
///
/// A route sets ``current`` before it calls the domain code. The store that writes the changes reads ``current`` within its transaction.
/// After a crash, either both the changes of a request and its usage are stored, or neither of them. The domain code needs no parameters
/// for rate limits. A store ignores ``current`` if the limits are in another database.
public enum CommittedUsage {
    /// A closure that returns the current usage of the request's keys; `nil` if no route has set it for the current task.
    ///
    /// The store calls the closure after the other writes of the transaction. If two transactions run concurrently, the later transaction
    /// therefore never stores older usage.
    @TaskLocal public static var current: (@Sendable () -> ConsumedQuota?)?
}
