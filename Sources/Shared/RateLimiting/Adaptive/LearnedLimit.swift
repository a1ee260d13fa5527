import Timekeeping

/// One limit of a server, learned from its answers: what it admits, and when a further call surely fits into it.
///
/// A call fits if any of these holds, and each is enough alone. *Own calls*: those that may still occupy a place, with those of
/// others that were seen lately, leave one free. *What remains*: the last report left more than was sent since. *Reset*: the time
/// it named is over, and everything that may have been counted since has ended, so there is one more. For a client that has a
/// limit for itself, whose quota and window are told, the server then never refuses: what it counts at any time is at most what
/// the client takes for counted.
struct LearnedLimit: Sendable {
    /// What an answer said, and what followed from it.
    struct Report: Sendable {
        var call: AdmittedCall
        var remaining: Int
        var ended: Int64
        /// When there will be more.
        var resetAt: Int64
        /// How many calls the server had surely counted when it said so, the reporting one included.
        var countedBefore: Int
        /// How many units others hold.
        var others: Int
    }

    /// The longest window that is believed: ten years.
    static let longestWindow: Int64 = 315_360_000_000_000_000

    /// The server's name for it.
    let name: String?
    var toldQuota: Int?
    var toldWindow: Int64?
    /// The most that was seen to fit.
    var seenQuota = 0
    /// Whether calls leave the server's count before their window is over, as from a counter that starts anew.
    var removesEarly = false
    /// The longest time to a reset that was seen.
    var seenWindow: Int64 = 0
    /// When the window was last taken to be longer than seen.
    var widenedAt = Int64.min
    /// When an answer spoke of it last.
    var mentioned: Int64
    var report: Report?
    var others = OthersUse()

    init(name: String?, at now: Int64) {
        self.name = name
        mentioned = now
    }

    /// How many units a window admits, as told or at least as seen.
    var quota: Int? { toldQuota ?? (seenQuota > 0 ? seenQuota : nil) }

    /// The length of the window: as told, else the longest time to a reset that was seen, but no less than the fallback.
    func window(atLeast fallback: Int64) -> Int64 { toldWindow ?? max(seenWindow, fallback) }

    /// The nanoseconds until a further call surely fits. O(log kept calls).
    func delay(at now: Int64, ledger: CallLedger, fallbackWindow: Int64) -> Int64 {
        guard let quota else { return 0 }
        let instant = ownCallsFit(quota: quota, window: window(atLeast: fallbackWindow), ledger: ledger, at: now)
        // Whatever a server told: after a day in silence it is asked again.
        let longest = ledger.lastSent + 86_400_000_000_000
        return max(0, min(instant, longest, reportPermits(ledger: ledger, at: now, fallbackWindow: fallbackWindow)) - now)
    }

    /// How many further calls would surely fit now; `nil` as long as the quota isn't known. O(log kept calls).
    func remaining(at now: Int64, ledger: CallLedger, fallbackWindow: Int64) -> Int? {
        guard let quota else { return nil }
        let window = window(atLeast: fallbackWindow)
        let free = quota - ledger.mostHeld(sent: now, window: window) - heldByOthers(at: now, window: window)
        guard let report else { return max(0, free) }
        let reported = report.remaining - sentSince(report, ledger: ledger) + (now >= report.resetAt ? 1 : 0)
        return max(reportPermits(ledger: ledger, at: now, fallbackWindow: fallbackWindow) <= now ? 1 : 0, free, reported)
    }

    private func heldByOthers(at now: Int64, window: Int64) -> Int {
        guard let report, now - report.ended < window else { return 0 }
        return report.others
    }

    private func ownCallsFit(quota: Int, window: Int64, ledger: CallLedger, at now: Int64) -> Int64 {
        let others = heldByOthers(at: now, window: window)
        let instant = ledger.instant(withFewerThan: quota - others, window: window, at: now)
        guard others > 0, let report, instant > report.ended + window else { return instant }
        // The others' units that were seen have left by then.
        return max(report.ended + window, ledger.instant(withFewerThan: quota, window: window, at: now))
    }

    private func reportPermits(ledger: CallLedger, at now: Int64, fallbackWindow: Int64) -> Int64 {
        guard let report else { return .max }
        let left = report.remaining - sentSince(report, ledger: ledger)
        if left > 0 { return now }
        if left == 0 { return max(now, report.resetAt) }
        // Calls that were under way together leave it open which of them the server counted before it made the report. Once all
        // have ended there is one more than they took, unless one that was sent later told nothing.
        guard ledger.inFlightCount == 0 else { return .max }
        let isLast = report.call.id == ledger.lastID
        return max(now, isLast ? report.resetAt : max(report.resetAt, ledger.lastSent + fallbackWindow))
    }

    /// How many calls the server may have counted after it made a report.
    private func sentSince(_ report: Report, ledger: CallLedger) -> Int { ledger.countedEver - report.countedBefore }
}

extension LearnedLimit {
    init(_ saved: AdaptiveSnapshot.Learned, at now: Int64) {
        self.init(name: saved.name, at: now)
        toldQuota = saved.quota.map(Self.believedQuota)
        toldWindow = saved.window.map { max(1, min($0, Self.longestWindow)) }
        seenQuota = saved.seenQuota <= 0 ? 0 : Self.believedQuota(saved.seenQuota)
        seenWindow = max(0, min(saved.seenWindow, Self.longestWindow))
    }

    /// Takes over what an answer says.
    /// - Parameters:
    ///   - told: What it says about this limit.
    ///   - call: The call, which has ended in the ledger just now.
    ///   - isRefusal: Whether the server refused the call, and therefore didn't count it.
    ///   - longestBlock: The longest time to a reset that is believed, in nanoseconds.
    mutating func learn(
        _ told: ServerLimit,
        from call: AdmittedCall,
        isRefusal: Bool,
        ledger: CallLedger,
        at now: Int64,
        fallbackWindow: Int64,
        longestBlock: Int64
    ) {
        mentioned = now
        if let quota = told.quota { toldQuota = Self.believedQuota(quota) }
        if let window = told.window { toldWindow = max(1, window.wholeNanoseconds(upTo: Self.longestWindow)) }
        guard let remaining = told.remaining.map({ max(0, min($0, Int(Int32.max))) }) else { return }
        let reset = told.reset.map { $0.wholeNanoseconds(upTo: longestBlock) }
        seenWindow = max(seenWindow, reset ?? 0)
        let window = window(atLeast: fallbackWindow)
        let most = ledger.mostHeld(sent: call.sent, window: window)
        let isExhausted = isRefusal && remaining == 0
        let itself = isRefusal ? 0 : 1
        if isExhausted {
            // More was thought to fit than does: this server forgets calls before their window is over.
            if seenQuota > max(1, most) { removesEarly = true }
            seenQuota = max(1, min(seenQuota, most))
        }
        let fewest = removesEarly || toldQuota != nil ? 0 : ledger.fewestHeld(sent: call.sent, ended: now, window: window)
        seenQuota = max(seenQuota, remaining + fewest + itself)
        let unknown = max(0, (quota ?? 0) - remaining - most)
        // Units that nobody is known to hold may be own ones of a longer window than was thought.
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

    private static func believedQuota(_ quota: Int) -> Int { max(1, min(quota, Int(Int32.max))) }
}

extension Duration {
    /// The duration in nanoseconds, rounded up: at least 0, at most the limit.
    func wholeNanoseconds(upTo limit: Int64) -> Int64 {
        self >= .nanoseconds(limit) ? limit : max(0, wholeNanosecondsRoundedUp)
    }
}

/// What is left of a quota after refusals that named no delay: at least halved by each, regained a tenth per window.
///
/// The half has a jitter, so that clients that were refused together don't come back together. Calls that were under way when the
/// quota was halved say nothing about what is left of it.
struct HalvedQuota: Sendable {
    /// What is left; `nil` for all of it.
    private(set) var units: Double?
    private var halvedAt = Int64.min

    init() {}

    init(units: Double?) {
        self.units = units.flatMap { $0.isFinite ? max(1, $0) : nil }
    }

    func quota(of policy: RateLimitPolicy) -> Int {
        guard let units else { return policy.quota }
        return max(policy.cost, min(policy.quota, Int(min(units, Double(policy.quota)))))
    }

    /// Halves what is left, or what the last window held if that is less.
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

    /// Regains a share: with each place of a window used, that is a tenth of the quota or one unit, whichever is more.
    mutating func admitted(_ call: AdmittedCall, policy: RateLimitPolicy) {
        guard let units, call.sent >= halvedAt else { return }
        let regained = units + max(1, Double(policy.quota) / 10) / max(1, units.rounded(.down))
        self.units = regained < Double(policy.quota) ? regained : nil
    }
}

/// How many units of a server's limit others were seen to hold: the most of the current and the last period.
///
/// Who shares a limit with others and takes every place that becomes free is refused as often as he is outrun. What others held
/// lately is therefore left to them, for one to two periods.
struct OthersUse: Sendable {
    private var recent = 0
    private var earlier = 0
    private var start = Int64.min

    var most: Int { max(recent, earlier) }

    /// Notes what was seen.
    /// - Parameter period: The window of the limit, in nanoseconds.
    mutating func note(_ units: Int, at now: Int64, period: Int64) {
        let age = start == .min ? .max : now - start
        if age >= period { (earlier, recent, start) = (age / 2 >= period ? 0 : recent, 0, now) }
        recent = max(recent, units)
    }
}

extension RateLimitPolicy {
    /// The length of the window in nanoseconds.
    var windowNanoseconds: Int64 { window.wholeNanosecondsRoundedUp }
}
