import Timekeeping

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
            if seenQuota > max(1, most) { forgetsEarly = true }
            seenQuota = max(1, min(seenQuota, most))
        }
        let fewest = forgetsEarly || toldQuota != nil ? 0 : ledger.fewestHeld(sent: call.sent, ended: now, window: window)
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
