import ErrorContract
import RateLimiting
import Synchronization
import Timekeeping

extension Throttler {
    /// The throttler's decision about a new call.
    enum Entrance: Sendable {
        /// The throttler has counted the call, and the call may be sent.
        case admitted(Call)
        /// The call must not be sent.
        case refused(ThrottleRefusal)
        /// The call waits. The values are the key under which the throttler counts the call, the number of the waiting call, and the latest
        /// instant for its admission.
        case inLine(ThrottleKey, id: UInt64, latest: Int64)
    }

    /// Waits until the quotas admit a call, and counts the call. The function saves the count before it returns.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint of the call.
    ///   - user: The user whose quotas the call uses; `nil` for none.
    ///   - longest: The maximum waiting time. If a call would wait for longer, the throttler refuses it at once.
    /// - Throws: `APIError` of the kind `throttled` with the delay if the throttler refuses the call. `CancellationError` if the task is
    ///   canceled before the throttler admits the call. In both cases, the throttler doesn't count the call.
    func admit(_ endpoint: Endpoint, user: String?, waitingUpTo longest: Duration) async throws -> Call {
        switch try await enter(ThrottleKey(user: user, endpoint: endpoint), waitingUpTo: longest) {
        case .admitted(let call): return try await saved(call)
        case .refused(let refusal): throw APIError(refusal)
        case .inLine(let key, let id, let latest): return try await saved(turn(of: id, at: key, latest: latest))
        }
    }

    /// Ends a call, learns from its result, and resumes waiting calls. Call this function once for each admitted call.
    /// - Parameters:
    ///   - call: The call, as ``admit(_:user:waitingUpTo:)`` returned it.
    ///   - end: The result of the last request of the call, with the limits that the server reported.
    ///   - hasEarlierRequest: Whether an earlier request of the call may have reached the server, which may have counted this request.
    func finish(_ call: Call, with end: CallEnd, hasEarlierRequest: Bool = false) {
        let woken = state.withLock { state in
            let now = nanoseconds
            var generator = state.generator
            defer { state.generator = generator }
            return state.table.update(call.key) { slot -> [WaiterLine<Int64>.Wake] in
                slot.limit.end(
                    call.admitted,
                    with: end,
                    hasEarlierRequest: hasEarlierRequest,
                    at: now,
                    using: &generator
                )
                return slot.wakeChanged(at: now)
            }
        }
        for wake in woken ?? [] { wake.resume() }
    }

    /// Admits or refuses a new call, or lets it wait. Loads the user's counts first.
    /// - Parameters:
    ///   - key: The user and the endpoint of the call.
    ///   - longest: The maximum waiting time.
    /// - Throws: `CancellationError` if the task is canceled.
    func enter(_ key: ThrottleKey, waitingUpTo longest: Duration) async throws -> Entrance {
        try Task.checkCancellation()
        try await load(user: key.user)
        let entrance = state.withLock { state in
            let now = nanoseconds
            let latest = now + max(0, min(longest, .seconds(3_155_760_000)).wholeNanoseconds)
            let known = state.table.admitKey(key, at: now)
            return state.table.update(known) { $0.enter(known, latest: latest, at: now, policy: policy) }
        }
        switch entrance {
        case .admitted(let call)?:
            changed(call.key.user)
            announce(call.key)
            return .admitted(call)
        case .refused(let refusal)?:
            announce(refusal)
            return .refused(refusal)
        case .inLine(let key, let id, let latest)?: return .inLine(key, id: id, latest: latest)
        case nil: throw CancellationError()
        }
    }

    /// Waits until the throttler admits the call, or until the admission would be too late. Each time another call resumes this caller, the
    /// method repeats the decision under the lock. If the task of this caller is canceled, the method removes this caller from the waiting
    /// callers, and resumes the next caller.
    private func turn(of id: UInt64, at key: ThrottleKey, latest: Int64) async throws -> Call {
        while true {
            let (step, next) = state.withLock { state in
                let now = nanoseconds
                return state.table.update(key) { $0.step(key, id: id, latest: latest, at: now, policy: policy) } ?? (nil, nil)
            }
            next?.resume()
            switch step {
            case .admitted(let call)?:
                changed(key.user)
                announce(key)
                return call
            case .refused(let refusal)?:
                announce(refusal)
                throw APIError(refusal)
            case .sleep(let instant)?:
                do {
                    try await sleep(id, at: key, until: instant)
                    try Task.checkCancellation()
                } catch {
                    state.withLock { state in state.table.update(key) { $0.leave(id) } ?? nil }?.resume()
                    throw error
                }
            case nil: throw CancellationError()
            }
        }
    }

    /// Sleeps until an instant, or until another call resumes this caller earlier. Without an instant, only another call ends the sleep.
    private func sleep(_ id: UInt64, at key: ThrottleKey, until instant: Int64?) async throws {
        let park: @Sendable (WaiterLine<Int64>.Wake) -> Bool = { [self] wake in
            state.withLock { state in state.table.update(key) { $0.line.park(id, wake) } ?? false }
        }
        let wake: @Sendable () -> WaiterLine<Int64>.Wake? = { [self] in
            state.withLock { state in state.table.update(key) { $0.line.wake(id) } ?? nil }
        }
        guard let instant else { return await WaiterLine<Int64>.wait(park: park, wake: wake) }
        let sleep: @Sendable () async throws -> Void = { [clock] in try await clock.sleep(until: .nanoseconds(instant)) }
        try await WaiterLine<Int64>.wait(sleeping: sleep, park: park, wake: wake)
    }
}

extension APIError {
    /// Creates the error of a call that the throttler refused.
    init(_ refusal: ThrottleRefusal) {
        self.init(kind: .throttled, code: .throttled, retry: .afterDelay, recovery: .wait, attempts: 0)
        retryAfter = refusal.hold.wait
    }
}
