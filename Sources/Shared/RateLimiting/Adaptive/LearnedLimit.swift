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
    var forgetsEarly = false
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
