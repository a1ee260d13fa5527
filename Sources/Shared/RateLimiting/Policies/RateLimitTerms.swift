/// The numbers of a policy that a decision needs, without its texts: copied for nothing.
struct RateLimitTerms: Hashable, Sendable {
    /// The largest number of units in any window.
    let quota: Int
    /// The largest number of units at once: the whole quota for the sliding window.
    let burst: Int
    /// How many units a request takes unless it says otherwise.
    let cost: Int
    /// The length of the window in nanoseconds, rounded up.
    let window: Int64
    /// The time in which one unit returns, in nanoseconds, rounded up; 0 for the sliding window, where it doesn't return evenly.
    let emission: Int64

    /// The longest that a key can owe, in nanoseconds.
    var longestDebt: Int64 { emission == 0 ? window : Int64(burst) * emission }
}
