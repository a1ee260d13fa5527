import Synchronization

/// A keyed limiter whose callers may wait for their turn: first come, first served by key, in bounded numbers, without polling.
///
/// Only the first of a key's line sleeps on the clock; it wakes the next one. Who is cancelled leaves the line and has taken
/// nothing. Who could not be admitted in time is refused at once, since the turns of those before him are known.
public final class WaitingRateLimiter<Key: Hashable & Sendable, C: Clock>: Sendable where C.Duration == Duration {
    private struct Line {
        let turns = ConcurrencyLimit(1, maximumWaiters: .max)
        var members = 0
    }

    private struct State {
        var lines: [Key: Line] = [:]
        var members = 0

        mutating func leave(_ key: Key) {
            members -= 1
            lines[key]?.members -= 1
            if lines[key]?.members == 0 { lines[key] = nil }
        }
    }

    private let limiter: KeyedRateLimiter<Key, C>
    private let clock: C
    private let maximumWaiters: Int
    private let state = Mutex(State())

    /// Creates a limiter.
    /// - Parameters:
    ///   - policy: The policy of every key.
    ///   - capacity: The largest number of keys that have a window of their own.
    ///   - maximumWaiters: The largest number of waiters, of all keys together; the next one is refused at once.
    ///   - clock: A monotonic clock.
    /// - Precondition: `capacity` is positive, `maximumWaiters` is not negative.
    public init(policy: RateLimitPolicy, capacity: Int = 100_000, maximumWaiters: Int = 1_000, clock: C) {
        precondition(maximumWaiters >= 0, "maximumWaiters must not be negative (is \(maximumWaiters))")
        limiter = KeyedRateLimiter(policy: policy, capacity: capacity, clock: clock)
        self.clock = clock
        self.maximumWaiters = maximumWaiters
    }

    /// How many callers wait, of all keys together.
    public var waiting: Int { state.withLock(\.members) }

    /// Decides about one request at once. It doesn't overtake those who wait. O(1), O(waiters of the key) if there are any.
    public func admit(_ key: Key) -> RateLimitDecision {
        state.withLock { state in
            guard let line = state.lines[key] else { return limiter.admit(key) }
            return .refused(retryAfter: limiter.wait(of: key, ahead: line.members))
        }
    }

    /// Decides about one request, and waits for its turn if that comes in time. O(waiters of the key).
    /// - Parameters:
    ///   - key: Whom the request counts for.
    ///   - longest: The longest wait. If the turn would come later, the answer is a refusal, given at once.
    ///   - isolation: The actor that the operation runs on; the caller's by default.
    /// - Throws: `CancellationError` if the task is cancelled while it waits; the request then hasn't counted.
    public func admit(
        _ key: Key,
        waitingUpTo longest: Duration,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> RateLimitDecision {
        let deadline = clock.now.advanced(by: longest)
        let turns: ConcurrencyLimit
        switch enter(key, waitingUpTo: longest) {
        case .decided(let decision): return decision
        case .inLine(let line): turns = line
        }
        defer { state.withLock { $0.leave(key) } }
        return try await turns.run {
            while true {
                let decision = limiter.admit(key)
                guard case .refused(let wait) = decision else { return decision }
                let turn = clock.now.advanced(by: wait)
                // Late wake-ups of those before may have cost the time that was left.
                guard turn <= deadline else { return decision }
                try await clock.sleep(until: turn, tolerance: nil)
            }
        }
    }

    private enum Entrance {
        case decided(RateLimitDecision)
        case inLine(ConcurrencyLimit)
    }

    private func enter(_ key: Key, waitingUpTo longest: Duration) -> Entrance {
        state.withLock { state in
            let ahead = state.lines[key]?.members ?? 0
            if ahead == 0, case .admitted(let remaining) = limiter.admit(key) { return .decided(.admitted(remaining: remaining)) }
            let wait = limiter.wait(of: key, ahead: ahead)
            guard wait <= longest, state.members < maximumWaiters else { return .decided(.refused(retryAfter: wait)) }
            state.members += 1
            state.lines[key, default: Line()].members += 1
            return .inLine(state.lines[key, default: Line()].turns)
        }
    }
}

extension KeyedRateLimiter {
    /// The wait until a request would be admitted after so many like it. O(ahead).
    func wait(of key: Key, ahead: Int) -> Duration {
        withTable(of: key) { table, digest, now in .nanoseconds(table.wait(of: digest.word, ahead: ahead, at: now)) }
    }
}
