/// The usage that a store commits in the same transaction as what the current task writes.
///
/// A route sets it around a call of the domain; the store reads it within the transaction. So a request that was accepted counts after a crash
/// exactly if what it asked for is stored, and nothing between the route and the store mentions limits. A store that is not in the database of the
/// limits ignores it.
public enum CommittedUsage {
    /// Returns the usage when it is called, which is after the writes of the transaction: of two concurrent transactions the later can't store the
    /// older usage. `nil` outside of such a call.
    @TaskLocal public static var current: (@Sendable () -> ConsumedQuota?)?
}
