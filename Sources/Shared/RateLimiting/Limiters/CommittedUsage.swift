/// Consumed quota that a store commits in the same transaction as the writes of the current task.
///
/// A route sets it around a call of the domain, and the store reads it within the transaction. After a crash, an accepted
/// request is therefore counted exactly if its writes are stored, and the code between the route and the store doesn't depend
/// on rate limits. A store that isn't in the same database as the limits ignores it.
public enum CommittedUsage {
    /// A closure that returns the usage at the time of the call, or `nil` outside of such a call.
    ///
    /// The store calls it after the writes of the transaction. Of two concurrent transactions, the later one therefore never
    /// stores the older usage.
    @TaskLocal public static var current: (@Sendable () -> ConsumedQuota?)?
}
