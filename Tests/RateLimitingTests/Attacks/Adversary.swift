import HoldfastTesting

/// The timing of an attack on a limit.
enum Adversary: CaseIterable, Sendable {
    /// Bursts of random size with random pauses.
    case bursts
    /// As much as possible at the end of a wall-clock window, and again at the start of the next one.
    case boundaries
    /// One window after an earlier request, a nanosecond before that, and a nanosecond after it.
    case edges
    /// Exactly after the returned delay, or a nanosecond before.
    case greedy
    /// Repeatedly, in the smallest steps.
    case flood
    /// With a clock that jumps back.
    case backwards

    /// Returns the instant of the next request.
    func next(
        after now: Int64,
        window: Int64,
        last: RateLimitWait,
        using generator: inout SplitMix64
    ) -> Int64 {
        let roll = generator.next()
        switch self {
        case .bursts: return roll % 4 > 0 ? now : now + Int64(roll / 4 % UInt64(window + 1))
        case .boundaries:
            guard last != .none || roll % 8 == 0 else { return now }
            let end = (now / window + 1) * window
            return now == end - 1 ? end : now < end - 1 ? end - 1 : now
        case .edges: return now + [0, 1, window - 1, window, window + 1, window / 2, window / 3][Int(roll % 7)]
        case .greedy: return now + max(0, last.nanoseconds - Int64(roll % 2))
        case .flood: return now + Int64(roll % 3) * max(1, window / 10_000)
        case .backwards: return max(0, now + Int64(roll % UInt64(2 * window + 1)) - window)
        }
    }
}

/// The delay in the last response.
enum RateLimitWait: Equatable {
    case none
    case refused(Int64)

    var nanoseconds: Int64 { if case .refused(let wait) = self { wait } else { 0 } }
}

extension Duration {
    /// Whole nanoseconds. Delays are always whole.
    var wait: RateLimitWait { .refused(components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000) }
}
