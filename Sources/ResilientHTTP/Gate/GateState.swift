/// One gate: closed while the server asked to be left alone, then opened a little at a time.
///
/// After it opens one request is let out; each success doubles how many may be under way, until the gate stands wide open. So a
/// thousand callers that waited for the same moment don't come back as one wave. A server that refuses again before that has named
/// too little: the time that it names is then stretched by more. A value: time and chance are arguments.
struct GateState: Hashable {
    /// How many requests may be under way at most before the gate counts as wide open.
    static let wide = 64
    /// The pauses that are taken when the server names none: 1 s, doubling to 8 s.
    static let unnamed = Backoff(base: .seconds(1), cap: .seconds(8))

    private var closedUntil: Duration?
    /// How many requests may be under way; `nil` when the gate is wide open.
    private var allowance: Int?
    private var underWay = 0
    /// Whether it was closed, the last time, before it stood wide open again.
    private var isClosedAgain = false
    /// How often in a row the gate was closed without a word of the server about when to come back.
    private var closures = 0

    /// What a request hears.
    enum Answer: Hashable {
        /// It may go out; its end must be noted.
        case admitted
        /// It may go out through a gate that is opening; its end must be noted, and tells all others how the server is.
        case probe
        /// The gate is closed for so long.
        case closed(Duration)
        /// The gate is opening, and as many as may be are under way.
        case opening
    }

    /// Whether nothing is known that would have to be remembered.
    var isWideOpen: Bool { closedUntil == nil && allowance == nil && underWay == 0 && closures == 0 }

    /// Decides about one request. O(1).
    mutating func admit(at now: Duration) -> Answer {
        if let closedUntil {
            guard closedUntil <= now else { return .closed(closedUntil - now) }
            self.closedUntil = nil
            allowance = 1
        }
        if let allowance, underWay >= allowance { return .opening }
        underWay += 1
        return allowance == nil ? .admitted : .probe
    }

    /// Notes that an admitted request was answered as it should be.
    mutating func noteSuccess() {
        leave()
        closures = 0
        guard let allowance else { return }
        self.allowance = allowance * 2 < Self.wide ? allowance * 2 : nil
    }

    /// Notes that an admitted request ended in a way that says nothing about the server's load.
    mutating func noteNeutral() { leave() }

    /// Notes that the server asked, to an admitted request, to be left alone.
    /// - Parameters:
    ///   - delay: The delay that it named, or `nil`.
    ///   - now: The instant.
    ///   - chance: A number from 0 to 1; a named delay is stretched by up to a half, so that a fleet does not come back at once, and by
    ///     a half to the whole if it was named before and the gate has not stood wide open since.
    /// - Returns: The instant at which it opens.
    @discardableResult
    mutating func noteRefusal(delay: Duration?, at now: Duration, chance: Double) -> Duration {
        leave()
        let isClosed = closedUntil.map { $0 > now } ?? false
        // Those who were under way when it closed tell the same story once more.
        if !isClosed { isClosedAgain = allowance != nil }
        let pause: Duration
        if let delay {
            pause = delay + delay * ((isClosedAgain ? 0.5 : 0) + 0.5 * chance)
        } else {
            pause = Self.unnamed.ceiling(beforeRetry: isClosed ? max(0, closures - 1) : closures) * (0.5 + 0.5 * chance)
            if !isClosed { closures += 1 }
        }
        let end = max(closedUntil ?? .zero, now + pause)
        closedUntil = end
        allowance = 1
        return end
    }

    private mutating func leave() { underWay = max(0, underWay - 1) }
}
