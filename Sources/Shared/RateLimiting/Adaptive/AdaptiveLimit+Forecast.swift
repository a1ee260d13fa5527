import Timekeeping

extension AdaptiveLimit {
    /// Why and how long each of several callers would wait, one after the other, if every call ended at once: none waits less.
    /// O(callers).
    /// - Returns: One hold per caller; a wait of zero if the call might go now.
    package func forecast(callers: Int, at now: Int64) -> [Hold] {
        var (copy, instant) = (self, now)
        return (0..<callers).map { _ in
            var hold = copy.hold(at: instant) ?? Hold(.line, wait: .zero)
            // Cut, since waits of ten years each add up to more than the clock holds.
            instant = min(now + (1 << 61), instant + min(hold.wait.wholeNanosecondsRoundedUp, 1 << 61))
            let call = copy.begin(at: instant)
            _ = copy.ledger.end(call, counts: true, at: instant, window: copy.longestWindow)
            hold.wait = .nanoseconds(instant - now)
            return hold
        }
    }
}
