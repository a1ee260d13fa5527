/// The pause between two attempts: exponential, with full jitter, so that clients which failed together don't come back together.
///
/// d(n) = U(0, 1) · min(cap, base · factor^n), capped before the jitter. Marc Brooker: "Exponential Backoff and Jitter" (2015).
public struct Backoff: Hashable, Sendable {
    /// The largest pause before the first retry.
    public var base: Duration
    /// By how much the largest pause grows from retry to retry.
    public var factor: Double
    /// The largest pause of all.
    public var cap: Duration

    /// Creates a backoff.
    /// - Precondition: `base` and `cap` are not negative, `factor` is at least 1.
    public init(base: Duration = .seconds(1), factor: Double = 2, cap: Duration = .seconds(60)) {
        precondition(base >= .zero && cap >= .zero, "base and cap must not be negative")
        precondition(factor >= 1 && factor.isFinite, "factor must be at least 1 (is \(factor))")
        self.base = base
        self.factor = factor
        self.cap = cap
    }

    /// The pause before a retry. O(log n).
    /// - Parameters:
    ///   - retry: 0 before the first retry.
    ///   - chance: A number from 0 to 1.
    public func pause(beforeRetry retry: Int, chance: Double) -> Duration {
        ceiling(beforeRetry: retry) * min(max(chance, 0), 1)
    }

    /// The largest pause before a retry.
    func ceiling(beforeRetry retry: Int) -> Duration {
        var ceiling = base
        // The cap ends the loop long before a doubling could overflow; a factor of 1 has nothing to grow.
        for _ in 0..<min(max(retry, 0), 64) where ceiling < cap { ceiling = min(cap, ceiling * factor) }
        return min(cap, ceiling)
    }
}
