import Synchronization

/// One policy, applied to each of many keys on its own, in bounded memory.
///
/// A key is forgotten only once its window is as good as new. Past the cap newcomers share one window, so that junk keys
/// can neither fill the memory nor wash a known key's debt away; a key that gets a window of its own after that starts with
/// the debt of the shared one. O(1) per decision for small quotas: an insert looks at
/// two further keys and drops those that have expired; there is no scan.
public final class KeyedRateLimiter<Key: Hashable & Sendable, C: Clock>: Sendable where C.Duration == Duration {
    /// The policy of every key.
    public let policy: RateLimitPolicy
    private let capacity: Int
    private let clock: C
    private let origin: C.Instant
    private let state = Mutex(State())

    private struct State {
        var windows: [Key: SlidingWindow] = [:]
        var overflow = SlidingWindow()
        /// The keys in the order in which they are looked at for expiry; each known key stands in it once.
        var rotation: [Key] = []
        var cursor = 0

        /// Looks at two keys and forgets those whose window is as good as new.
        mutating func dropExpired(at now: Int64, policy: RateLimitPolicy) {
            for _ in 0..<min(2, rotation.count) {
                if cursor >= rotation.count { cursor = 0 }
                guard windows[rotation[cursor]]?.isFresh(at: now, policy: policy) ?? true else {
                    cursor += 1
                    continue
                }
                windows[rotation[cursor]] = nil
                rotation.swapAt(cursor, rotation.count - 1)
                rotation.removeLast()
            }
        }
    }

    /// Creates a limiter.
    /// - Parameters:
    ///   - policy: The policy of every key.
    ///   - capacity: The largest number of keys that have a window of their own.
    ///   - clock: A monotonic clock.
    public init(policy: RateLimitPolicy, capacity: Int = 100_000, clock: C) {
        precondition(capacity > 0, "capacity must be positive (is \(capacity))")
        self.policy = policy
        self.capacity = capacity
        self.clock = clock
        self.origin = clock.now
    }

    /// Decides about one request of a key.
    public func admit(_ key: Key) -> RateLimitDecision {
        state.withLock { state in
            // Read under the lock, so that decisions see instants in the order in which they are made.
            let now = origin.duration(to: clock.now).wholeNanoseconds
            if state.windows[key] != nil {
                return state.windows[key, default: SlidingWindow()].admit(at: now, policy: policy)
            }
            state.dropExpired(at: now, policy: policy)
            guard state.windows.count < capacity else { return state.overflow.admit(at: now, policy: policy) }
            // Some of the shared window's admissions may have been this key's.
            var window = state.overflow.isFresh(at: now, policy: policy) ? SlidingWindow() : state.overflow
            let decision = window.admit(at: now, policy: policy)
            if decision.isAdmitted {
                state.rotation.append(key)
                state.windows[key] = window
            }
            return decision
        }
    }

    /// How many keys have a window of their own.
    public var count: Int { state.withLock { $0.windows.count } }
}
