/// An exact sliding window: a ring of the instants of the last admissions.
///
/// A request at `t` is admitted if fewer than the quota are kept, or the oldest kept is at least a window old. A refusal
/// writes nothing. No half-open window of the policy's length ever holds more admissions than the quota: admission
/// `k + quota` is at least a window later than admission `k`. A refusal is O(1), an admission counts what remains in
/// O(quota); 8 bytes per kept instant; the ring grows with use, so that a quiet key stays small.
public struct SlidingWindow: Sendable {
    private var instants: [Int64] = []
    private var oldest = 0

    /// Creates an empty window.
    public init() {}

    /// Decides about one request.
    /// - Parameters:
    ///   - now: Nanoseconds on a monotonic clock. An instant before an earlier one counts as that one.
    ///   - policy: The policy; the same for every call on one window.
    public mutating func admit(at now: Int64, policy: RateLimitPolicy) -> RateLimitDecision {
        let now = max(now, newest ?? now)
        let window = policy.window.wholeNanoseconds
        if instants.count < policy.quota {
            instants.append(now)
        } else {
            let age = now - instants[oldest]
            guard age >= window else { return .refused(retryAfter: .nanoseconds(window - age)) }
            instants[oldest] = now
            oldest = (oldest + 1) % instants.count
        }
        return .admitted(remaining: remaining(at: now, policy: policy))
    }

    /// How many requests would be admitted at an instant. O(quota).
    public func remaining(at now: Int64, policy: RateLimitPolicy) -> Int {
        let window = policy.window.wholeNanoseconds
        return policy.quota - instants.count { now - $0 < window }
    }

    /// Whether the window is as good as a new one, so that it may be forgotten.
    public func isFresh(at now: Int64, policy: RateLimitPolicy) -> Bool {
        guard let newest else { return true }
        return now - newest >= policy.window.wholeNanoseconds
    }

    private var newest: Int64? {
        instants.isEmpty ? nil : instants[(oldest + instants.count - 1) % instants.count]
    }
}

extension Duration {
    /// The duration in nanoseconds, rounded up, so that a window is never shorter than it was said to be.
    var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + (attoseconds + 999_999_999) / 1_000_000_000
    }
}
