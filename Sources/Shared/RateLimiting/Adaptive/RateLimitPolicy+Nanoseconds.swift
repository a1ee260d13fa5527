import Timekeeping

extension RateLimitPolicy {
    /// The length of the window in nanoseconds.
    var windowNanoseconds: Int64 { window.wholeNanosecondsRoundedUp }
}
