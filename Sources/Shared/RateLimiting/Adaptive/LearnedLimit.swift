import Timekeeping

/// One limit of a server, learned from its responses.
///
/// The limit determines when the server will certainly admit a further call. One of these conditions is enough:
///
/// - Own calls: the sum of two numbers is less than the quota. The first is the number of the client's own calls that the server may still
///   count. The second is the number of units that other clients were recently observed to use.
/// - Remaining: since the last report, the client has sent fewer calls than the number of remaining units in the report.
/// - Reset: the reset time of the report has passed, so at least one unit is available. If the client has sent more calls since the report
///   than units remained, all calls must also have ended.
///
/// The client counts at least all calls that the server counts. So if the server reports the quota and the window, and no other client
/// shares the limit, the server never refuses a call.
struct LearnedLimit: Sendable {
    /// A report about the limit in a response, with the values that the client derives from the report.
    struct Report: Sendable {
        /// The call whose response contained the report.
        var call: AdmittedCall
        /// The number of units that remained at the time of the report.
        var remaining: Int
        /// The instant at which the call ended, in nanoseconds.
        var ended: Int64
        /// The time at which more units become available.
        var resetAt: Int64
        /// The number of calls that the server had certainly counted when it made the report. The number includes the reporting call,
        /// unless the server refused this call.
        var countedBefore: Int
        /// The number of units that other clients were recently observed to use, at the time of the report.
        var others: Int
    }

    /// The maximum window: ten years. A longer window is clamped.
    static let longestWindow: Int64 = 315_360_000_000_000_000

    /// The maximum of a reported quota, and of the reported number of remaining units. Larger numbers are clamped, so that sums don't
    /// overflow where `Int` has 32 bits, as on an Apple Watch Series 8.
    static let mostUnits = 1 << 30

    /// The name that the server reports.
    let name: String?
    /// The quota that the server reported; `nil` if it reported none.
    var reportedQuota: Int?
    /// The window that the server reported, in nanoseconds; `nil` if it reported none.
    var reportedWindow: Int64?
    /// The largest number of units that the server was observed to admit in a window.
    var seenQuota = 0
    /// Whether the server stops counting calls before their window has passed, for example because its counter restarts at fixed times.
    var removesEarly = false
    /// The longest time until a reset that a response has reported, or that the client has assumed.
    var seenWindow: Int64 = 0
    /// The last time at which the client increased the assumed length of the window.
    var widenedAt = Int64.min
    /// The last time at which a response mentioned the limit.
    var mentioned: Int64
    /// The report of the latest call; `nil` before the first report.
    var report: Report?
    /// The observed usage of other clients.
    var others = OthersUse()

    init(name: String?, at now: Int64) {
        self.name = name
        mentioned = now
    }

    /// The number of units per window. If the server has not reported the quota, this is the largest number of units that the server was
    /// observed to admit.
    var quota: Int? { reportedQuota ?? (seenQuota > 0 ? seenQuota : nil) }

    /// Returns the length of the window in nanoseconds. If the server has not reported the window, the method returns ``seenWindow`` or the
    /// fallback, whichever is longer.
    func window(atLeast fallback: Int64) -> Int64 { reportedWindow ?? max(seenWindow, fallback) }

    /// Returns the nanoseconds until the server certainly admits a further call. O(log stored calls).
    func delay(at now: Int64, ledger: CallLedger, fallbackWindow: Int64) -> Int64 {
        guard let quota else { return 0 }
        let instant = ownCallsFit(quota: quota, window: window(atLeast: fallbackWindow), ledger: ledger, at: now)
        // If the client has not sent a call for a day, it sends one call, even if the server has reported a later reset.
        let longest = ledger.lastSent + 86_400_000_000_000
        return max(0, min(instant, longest, reportPermits(ledger: ledger, at: now, fallbackWindow: fallbackWindow)) - now)
    }

    /// Returns the number of further calls that the server certainly admits now; `nil` while the quota is unknown. O(log stored calls).
    func remaining(at now: Int64, ledger: CallLedger, fallbackWindow: Int64) -> Int? {
        guard let quota else { return nil }
        let window = window(atLeast: fallbackWindow)
        let free = quota - ledger.mostHeld(sent: now, window: window) - heldByOthers(at: now, window: window)
        guard let report else { return max(0, free) }
        let reported = report.remaining - sentSince(report, ledger: ledger) + (now >= report.resetAt ? 1 : 0)
        return max(reportPermits(ledger: ledger, at: now, fallbackWindow: fallbackWindow) <= now ? 1 : 0, free, reported)
    }

    /// Returns the number of units that other clients were recently observed to use; 0 if the last report is older than the window.
    private func heldByOthers(at now: Int64, window: Int64) -> Int {
        guard let report, now - report.ended < window else { return 0 }
        return report.others
    }

    /// Returns the first instant at which the quota has room for one more call, according to the client's own calls and the observed usage
    /// of other clients.
    private func ownCallsFit(quota: Int, window: Int64, ledger: CallLedger, at now: Int64) -> Int64 {
        let others = heldByOthers(at: now, window: window)
        let instant = ledger.instant(withFewerThan: quota - others, window: window, at: now)
        guard others > 0, let report, instant > report.ended + window else { return instant }
        // At `report.ended + window`, the observed units of other clients have expired.
        return max(report.ended + window, ledger.instant(withFewerThan: quota, window: window, at: now))
    }

    /// Returns the first instant at which the last report permits a call; `.max` if the report permits none.
    private func reportPermits(ledger: CallLedger, at now: Int64, fallbackWindow: Int64) -> Int64 {
        guard let report else { return .max }
        let left = report.remaining - sentSince(report, ledger: ledger)
        if left > 0 { return now }
        if left == 0 { return max(now, report.resetAt) }
        // If several calls were in flight at the same time, the client doesn't know which of them the server counted before the report.
        // When all of them have ended, one more unit is available after the reset time. If a later call ended without a report, the client
        // also waits for one `fallbackWindow` after it sent the last call.
        guard ledger.inFlightCount == 0 else { return .max }
        let isLast = report.call.id == ledger.lastID
        return max(now, isLast ? report.resetAt : max(report.resetAt, ledger.lastSent + fallbackWindow))
    }

    /// Returns the number of calls that the server may have counted after a report.
    private func sentSince(_ report: Report, ledger: CallLedger) -> Int { ledger.countedEver - report.countedBefore }
}

extension LearnedLimit {
    /// Creates a limit from its saved values. Values outside their valid ranges are clamped.
    init(_ saved: AdaptiveSnapshot.Learned, at now: Int64) {
        self.init(name: saved.name, at: now)
        reportedQuota = saved.quota.map(Self.believedQuota)
        reportedWindow = saved.window.map { max(1, min($0, Self.longestWindow)) }
        seenQuota = saved.seenQuota <= 0 ? 0 : Self.believedQuota(saved.seenQuota)
        seenWindow = max(0, min(saved.seenWindow, Self.longestWindow))
    }

    /// Learns from the report in a response.
    ///
    /// - Parameters:
    ///   - reported: The report about this limit.
    ///   - call: The call whose response contains the report. The ledger has already recorded the end of this call.
    ///   - isRefusal: Whether the server refused the call. The server doesn't count a refused call.
    ///   - longestBlock: The maximum time until a reset, in nanoseconds. A longer time is clamped.
    mutating func learn(
        _ reported: ServerLimit,
        from call: AdmittedCall,
        isRefusal: Bool,
        ledger: CallLedger,
        at now: Int64,
        fallbackWindow: Int64,
        longestBlock: Int64
    ) {
        mentioned = now
        if let quota = reported.quota { reportedQuota = Self.believedQuota(quota) }
        if let window = reported.window { reportedWindow = max(1, window.wholeNanoseconds(upTo: Self.longestWindow)) }
        guard let remaining = reported.remaining.map({ max(0, min($0, Self.mostUnits)) }) else { return }
        let reset = reported.reset.map { $0.wholeNanoseconds(upTo: longestBlock) }
        seenWindow = max(seenWindow, reset ?? 0)
        let window = window(atLeast: fallbackWindow)
        let most = ledger.mostHeld(sent: call.sent, window: window)
        let isExhausted = isRefusal && remaining == 0
        let itself = isRefusal ? 0 : 1
        if isExhausted {
            // The server refuses this call, but it can have counted at most `most` calls in the window. If `seenQuota` is larger, the
            // observed quota was too large, because the server had stopped counting some calls before their window had passed.
            if seenQuota > max(1, most) { removesEarly = true }
            seenQuota = max(1, min(seenQuota, most))
        }
        let fewest = removesEarly || reportedQuota != nil ? 0 : ledger.fewestHeld(sent: call.sent, ended: now, window: window)
        seenQuota = max(seenQuota, remaining + fewest + itself)
        let unknown = max(0, (quota ?? 0) - remaining - most)
        // The client's own calls don't explain all used units. If the real window is longer than the assumed window, earlier calls of the
        // client can explain the rest of the used units. The client therefore assumes a longer window.
        if isExhausted, unknown > 0, call.sent >= widenedAt {
            seenWindow = max(seenWindow, min(2 * window, longestBlock))
            widenedAt = now
        }
        others.note(unknown, at: now, period: window)
        guard call.id >= report?.call.id ?? 0 else { return }
        report = Report(
            call: call,
            remaining: remaining,
            ended: now,
            resetAt: now + (reset ?? min(window, longestBlock)),
            countedBefore: call.endedBefore + itself,
            others: others.most
        )
    }

    /// Returns a reported quota, clamped to the range from 1 to ``mostUnits``.
    private static func believedQuota(_ quota: Int) -> Int { max(1, min(quota, mostUnits)) }
}

extension Duration {
    /// Returns the duration in nanoseconds, rounded up. The value is from 0 to the limit.
    func wholeNanoseconds(upTo limit: Int64) -> Int64 {
        self >= .nanoseconds(limit) ? limit : max(0, wholeNanosecondsRoundedUp)
    }
}

/// A quota that the client reduces after the server refused a call without requesting a delay. Each refusal at least halves the quota. The
/// quota then grows again. In each window in which the client uses the whole reduced quota, the quota grows by a tenth of the policy's
/// quota.
///
/// The factor of the reduction is random, so that clients that were refused together don't retry together. The type ignores the outcome of
/// a call that was sent before the last reduction.
struct HalvedQuota: Sendable {
    /// The reduced quota; `nil` if the quota is not reduced.
    private(set) var units: Double?
    /// The instant of the last reduction. The methods ignore outcomes of calls that were sent earlier.
    private var halvedAt = Int64.min

    init() {}

    init(units: Double?) {
        self.units = units.flatMap { $0.isFinite ? max(1, $0) : nil }
    }

    /// Returns the reduced quota, but at least the cost of one call and at most the policy's quota.
    func quota(of policy: RateLimitPolicy) -> Int {
        guard let units else { return policy.quota }
        return max(policy.cost, min(policy.quota, Int(min(units, Double(policy.quota)))))
    }

    /// Reduces the quota to a random part of its current value, from 40 to 50 percent. If the usage in the last window is lower than the
    /// current value, the new quota is 40 to 50 percent of this usage instead.
    mutating func refused(
        _ call: AdmittedCall,
        used: Int,
        policy: RateLimitPolicy,
        at now: Int64,
        using generator: inout some RandomNumberGenerator
    ) {
        guard call.sent >= halvedAt else { return }
        let base = min(units ?? Double(policy.quota), Double(max(1, used)))
        units = max(1, base * Double.random(in: 0.4...0.5, using: &generator))
        halvedAt = now
    }

    /// Restores a part of the quota after an admitted call. If the client uses the whole reduced quota in a window, the calls of this
    /// window together restore a tenth of the policy's quota, but at least one unit.
    mutating func admitted(_ call: AdmittedCall, policy: RateLimitPolicy) {
        guard let units, call.sent >= halvedAt else { return }
        let regained = units + max(1, Double(policy.quota) / 10) / max(1, units.rounded(.down))
        self.units = regained < Double(policy.quota) ? regained : nil
    }
}

/// The number of units that other clients were observed to use: the maximum of the current and the last period.
///
/// Several clients can share a limit. If one client uses each unit as soon as the unit becomes available, the server refuses slower
/// clients. Therefore, a client doesn't use the units that other clients used recently. It leaves these units free for one to two periods.
struct OthersUse: Sendable {
    /// The largest observed usage in the current period.
    private var recent = 0
    /// The largest observed usage in the last period.
    private var earlier = 0
    /// The start of the current period.
    private var start = Int64.min

    /// The larger usage of the two periods.
    var most: Int { max(recent, earlier) }

    /// Records the number of units that other clients were observed to use.
    ///
    /// - Parameter period: The window of the limit, in nanoseconds.
    mutating func note(_ units: Int, at now: Int64, period: Int64) {
        let age = start == .min ? .max : now - start
        if age >= period { (earlier, recent, start) = (age / 2 >= period ? 0 : recent, 0, now) }
        recent = max(recent, units)
    }
}

extension RateLimitPolicy {
    /// The length of the window in nanoseconds, rounded up.
    var windowNanoseconds: Int64 { window.wholeNanosecondsRoundedUp }
}
