/// A client's own calls, as a server may see them: those in flight, and those that ended lately.
///
/// When the server counted a call isn't known, only that it was between its sending and its end. A call therefore occupies its
/// place from the one to a window after the other. Bounded: of the ended calls the last 4 096 are kept.
struct CallLedger: Sendable {
    /// A call that has ended and that the server may have counted.
    struct Ended: Hashable, Sendable {
        var sent: Int64
        var ended: Int64
    }

    static let capacity = 4_096

    private var inFlight: [UInt64: Int64] = [:]
    /// In the order of their ends.
    private var ended: [Ended] = []
    private var endedEver = 0
    /// The last call that was sent, and when.
    private(set) var lastID: UInt64 = 0
    private(set) var lastSent = Int64.min / 4

    /// An empty ledger that gives no number out again.
    var forgotten: CallLedger {
        var ledger = CallLedger()
        ledger.lastID = lastID
        return ledger
    }

    /// How many calls are in flight.
    var inFlightCount: Int { inFlight.count }
    /// How many calls were ever sent and may have been counted.
    var countedEver: Int { endedEver + inFlight.count }

    mutating func begin(at now: Int64) -> AdmittedCall {
        lastID += 1
        lastSent = now
        inFlight[lastID] = now
        return AdmittedCall(id: lastID, sent: now, endedBefore: endedEver)
    }

    /// Ends a call; one that isn't in flight is ignored. O(1), O(kept) at times.
    /// - Parameters:
    ///   - counts: Whether the server may have counted it.
    ///   - window: The longest window for which it is of interest.
    /// - Returns: Whether it was in flight.
    mutating func end(_ call: AdmittedCall, counts: Bool, at now: Int64, window: Int64) -> Bool {
        guard inFlight.removeValue(forKey: call.id) != nil else { return false }
        guard counts else { return true }
        ended.append(Ended(sent: call.sent, ended: max(now, ended.last?.ended ?? now)))
        endedEver += 1
        dropOld(at: now, window: window)
        return true
    }

    /// The calls that a window may still hold, to be saved, by their ages.
    func snapshot(at now: Int64, window: Int64) -> [AdaptiveSnapshot.Call] {
        ended[firstEnd(after: now - window)...].map { .init(sent: now - $0.sent, ended: now - $0.ended) }
            + inFlight.values.sorted().map { .init(sent: now - $0, ended: nil) }
    }

    /// Whether no window of a length may hold a call.
    func isEmpty(at now: Int64, window: Int64) -> Bool {
        inFlight.isEmpty && firstEnd(after: now - window) == ended.count
    }

    /// Adds calls of an earlier process.
    mutating func add(_ calls: [Ended]) {
        ended = Array((ended + calls).sorted { $0.ended < $1.ended }.suffix(Self.capacity))
        endedEver += calls.count
        lastSent = calls.reduce(lastSent) { max($0, $1.sent) }
    }

    /// The instant from which fewer than so many calls occupy a place; the distant future if that never comes. O(log kept).
    func instant(withFewerThan room: Int, window: Int64, at now: Int64) -> Int64 {
        guard room > 0 else { return .max }
        let first = firstEnd(after: now - window)
        let surplus = ended.count - first + inFlight.count - room
        guard surplus >= 0 else { return now }
        // Those in flight stay at least a window, even if they end this instant.
        return first + surplus < ended.count ? ended[first + surplus].ended + window : now + window
    }

    /// The most calls that the server may have held in a window when it counted a call that has just ended. O(log kept).
    func mostHeld(sent: Int64, window: Int64) -> Int {
        inFlight.count + ended.count - firstEnd(after: sent - window)
    }

    /// The fewest calls that the server must have held then, the call itself not included. O(kept).
    func fewestHeld(sent: Int64, ended instant: Int64, window: Int64) -> Int {
        ended.prefix(firstEnd(after: sent - 1)).count { $0.sent > instant - window }
    }

    /// The index of the first end after an instant.
    private func firstEnd(after instant: Int64) -> Int {
        var (low, high) = (0, ended.count)
        while low < high {
            let middle = (low + high) / 2
            if ended[middle].ended <= instant { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private mutating func dropOld(at now: Int64, window: Int64) {
        // A call in flight may have been counted when it was sent, and asks what was held then.
        let oldest = inFlight.values.min() ?? now
        let useless = max(firstEnd(after: oldest - window), ended.count - Self.capacity)
        if useless > ended.count / 2 || ended.count > 2 * Self.capacity { ended.removeFirst(useless) }
    }
}

/// The time that calls keep between them while the network is bad.
///
/// From the second call in a row without an answer the time doubles with each; an answer ends that. While answers are slow it is
/// about the time that one takes, so that a narrow line carries one call at a time.
struct CallSpacing: Sendable {
    private var failures = 0
    private var smoothedLatency: Int64 = 0
    private var lastSent: Int64?

    /// The nanoseconds until the next call may go.
    /// - Parameters:
    ///   - policy: The policy whose even pace is the measure: a quarter of it is the first step, its window the last.
    ///   - slowResponse: From what time on answers are slow, in nanoseconds.
    func delay(at now: Int64, policy: RateLimitPolicy, slowResponse: Int64) -> Int64 {
        guard let lastSent else { return 0 }
        let slow = smoothedLatency >= slowResponse ? smoothedLatency : 0
        let interval = min(policy.windowNanoseconds, max(slow, unreachable(policy)))
        return max(0, lastSent + interval - now)
    }

    mutating func sent(at now: Int64) {
        lastSent = now
    }

    mutating func answered(after latency: Int64) {
        failures = 0
        smoothedLatency = smoothedLatency == 0 ? latency : smoothedLatency - smoothedLatency / 4 + latency / 4
    }

    mutating func failed() {
        failures += 1
    }

    private func unreachable(_ policy: RateLimitPolicy) -> Int64 {
        guard failures >= 2 else { return 0 }
        let step = policy.windowNanoseconds / Int64(policy.quota) / 4
        return max(1, step) << min(20, failures - 2)
    }
}
