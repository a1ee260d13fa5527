/// A client's own calls that a server may still count: calls in flight, and calls that have ended recently.
///
/// The server counts a call at an unknown time between its start and its end. The ledger therefore counts a call from its start until one
/// window after its end. The memory is bounded, because the ledger stores at most 8,192 ended calls.
struct CallLedger: Sendable {
    /// A call that has ended and that the server may have counted.
    struct Ended: Hashable, Sendable {
        /// The instant at which the call was sent, in nanoseconds.
        var sent: Int64
        /// The instant at which the call ended, in nanoseconds.
        var ended: Int64
    }

    /// The maximum number of ended calls after a cleanup. When the ledger stores more than twice this number, it removes the oldest calls.
    static let capacity = 4_096

    /// The instants at which the calls in flight were sent, by the numbers of the calls.
    private var inFlight: [UInt64: Int64] = [:]
    /// The ended calls in the order of their ends.
    private var ended: [Ended] = []
    /// The total number of ended calls that the server may have counted, including removed calls.
    private var endedEver = 0
    /// The number and the time of the last call that was sent.
    private(set) var lastID: UInt64 = 0
    private(set) var lastSent = Int64.min / 4

    /// An empty ledger that continues the numbering of the calls.
    var forgotten: CallLedger {
        var ledger = CallLedger()
        ledger.lastID = lastID
        return ledger
    }

    /// The number of calls in flight.
    var inFlightCount: Int { inFlight.count }
    /// The total number of calls that were sent and that the server may have counted.
    var countedEver: Int { endedEver + inFlight.count }

    /// Records that a call was sent. O(1).
    mutating func begin(at now: Int64) -> AdmittedCall {
        lastID += 1
        lastSent = now
        inFlight[lastID] = now
        return AdmittedCall(id: lastID, sent: now, endedBefore: endedEver)
    }

    /// Ends a call. Does nothing if the call isn't in flight. O(1) amortized.
    ///
    /// - Parameters:
    ///   - counts: Whether the server may have counted the call.
    ///   - window: The longest window in which the call can count, in nanoseconds.
    /// - Returns: Whether the call was in flight.
    mutating func end(_ call: AdmittedCall, counts: Bool, at now: Int64, window: Int64) -> Bool {
        guard inFlight.removeValue(forKey: call.id) != nil else { return false }
        guard counts else { return true }
        ended.append(Ended(sent: call.sent, ended: max(now, ended.last?.ended ?? now)))
        endedEver += 1
        dropOld(at: now, window: window)
        return true
    }

    /// Returns the ages of the calls that the server may still count in a window, in a form that can be saved.
    func snapshot(at now: Int64, window: Int64) -> [AdaptiveSnapshot.Call] {
        ended[firstEnd(after: now - window)...].map { .init(sent: now - $0.sent, ended: now - $0.ended) }
            + inFlight.values.sorted().map { .init(sent: now - $0, ended: nil) }
    }

    /// Returns whether the ledger has no call that the server may still count in a window.
    func isEmpty(at now: Int64, window: Int64) -> Bool {
        inFlight.isEmpty && firstEnd(after: now - window) == ended.count
    }

    /// Adds ended calls of an earlier process, which a snapshot contained.
    mutating func add(_ calls: [Ended]) {
        ended = Array((ended + calls).sorted { $0.ended < $1.ended }.suffix(Self.capacity))
        endedEver += calls.count
        lastSent = calls.reduce(lastSent) { max($0, $1.sent) }
    }

    /// Returns the first instant at which the server certainly counts fewer than `room` calls in the window; `.max` if there is no such
    /// instant. O(log stored calls).
    func instant(withFewerThan room: Int, window: Int64, at now: Int64) -> Int64 {
        guard room > 0 else { return .max }
        let first = firstEnd(after: now - window)
        let surplus = ended.count - first + inFlight.count - room
        guard surplus >= 0 else { return now }
        // The server may count a call in flight for another window from now on, even if the call ends now.
        return first + surplus < ended.count ? ended[first + surplus].ended + window : now + window
    }

    /// Returns an upper bound of the number of calls that the server counts in one window, at the time when the server decides about a
    /// call. O(log stored calls).
    /// - Parameter sent: The instant at which the call was sent.
    func mostHeld(sent: Int64, window: Int64) -> Int {
        inFlight.count + ended.count - firstEnd(after: sent - window)
    }

    /// Returns a lower bound of the number of earlier calls that the server counts in one window, at the time when the server decides about
    /// a call. O(stored calls).
    /// - Parameters:
    ///   - sent: The instant at which the call was sent.
    ///   - instant: The instant at which the call ended.
    func fewestHeld(sent: Int64, ended instant: Int64, window: Int64) -> Int {
        ended.prefix(firstEnd(after: sent - 1)).count { $0.sent > instant - window }
    }

    /// Returns the index of the first call that ended after an instant.
    private func firstEnd(after instant: Int64) -> Int {
        var (low, high) = (0, ended.count)
        while low < high {
            let middle = (low + high) / 2
            if ended[middle].ended <= instant { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Removes ended calls that no longer count in any window. The method removes them in batches, so the cost is O(1) amortized.
    private mutating func dropOld(at now: Int64, window: Int64) {
        // The server may have counted a call in flight at the time when the call was sent. The ledger therefore keeps the calls that ended
        // within one window before that time.
        let oldest = inFlight.values.min() ?? now
        let useless = max(firstEnd(after: oldest - window), ended.count - Self.capacity)
        if useless > ended.count / 2 || ended.count > 2 * Self.capacity { ended.removeFirst(useless) }
    }
}

/// The minimum interval between calls while the network is bad.
///
/// The interval applies from the second consecutive call without a response on, and doubles with each further failure. A response resets
/// the interval. If responses are slow, the interval is about the latency of a response, so that a slow connection carries one call at a
/// time.
struct CallSpacing: Sendable {
    /// The number of consecutive calls without a response.
    private var failures = 0
    /// The smoothed latency of responses in nanoseconds; 0 before the first response.
    private var smoothedLatency: Int64 = 0
    /// The instant of the last call; `nil` before the first call.
    private var lastSent: Int64?

    /// Returns the nanoseconds until the client can send the next call.
    ///
    /// - Parameters:
    ///   - policy: The policy that determines the interval. The first interval is a quarter of the policy's window divided by its quota.
    ///     The longest interval is the policy's window.
    ///   - slowResponse: The latency at which a response begins to count as slow, in nanoseconds.
    func delay(at now: Int64, policy: RateLimitPolicy, slowResponse: Int64) -> Int64 {
        guard let lastSent else { return 0 }
        let slow = smoothedLatency >= slowResponse ? smoothedLatency : 0
        let interval = min(policy.windowNanoseconds, max(slow, unreachable(policy)))
        return max(0, lastSent + interval - now)
    }

    /// Records that a call was sent.
    mutating func sent(at now: Int64) {
        lastSent = now
    }

    /// Records a response and its latency in nanoseconds. The smoothed latency moves toward the new latency by a quarter of the difference.
    mutating func responded(after latency: Int64) {
        failures = 0
        smoothedLatency = smoothedLatency == 0 ? latency : smoothedLatency - smoothedLatency / 4 + latency / 4
    }

    /// Records a call without a response.
    mutating func failed() {
        failures += 1
    }

    /// Returns the interval after consecutive failures in nanoseconds; 0 after fewer than two failures.
    private func unreachable(_ policy: RateLimitPolicy) -> Int64 {
        guard failures >= 2 else { return 0 }
        let step = policy.windowNanoseconds / Int64(policy.quota) / 4
        return max(1, step) << min(20, failures - 2)
    }
}
