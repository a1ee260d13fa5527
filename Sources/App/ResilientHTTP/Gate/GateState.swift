/// One gate: open, closed for a while, opening a little at a time, or paced. A value: time and randomness are arguments.
///
/// After a closure one request is let through as a probe; each success doubles how many probes may be in flight, until the gate is wide open.
/// A thousand callers that waited for the same moment don't come back as one wave.
///
/// A busy client whose server refuses some requests and serves others is paced instead: requests go out at the rate that the server serves,
/// which grows while nothing is refused.
struct GateState: Sendable {
    /// How many probes may be in flight at most before the gate counts as wide open.
    static let wide = 64
    /// The stretch of a closure of a busy client's gate.
    private static let busy = GateRules.Stretch(0...0.5, longest: .seconds(8))

    /// The role of an admitted request.
    enum Pass: Hashable, Sendable {
        /// An ordinary request.
        case free
        /// A probe of an opening; later ones don't count it.
        case probe(UInt64)

        var isProbe: Bool { self != .free }
    }

    /// The response to a request for admission.
    enum Answer: Hashable {
        /// The request may go out; its end must be noted.
        case admitted(Pass)
        /// The gate is closed for so long.
        case closed(Duration)
        /// The gate is opening, and as many probes as allowed are in flight.
        case opening
        /// The gate is paced, and the next request may go out after so long.
        case paced(Duration)
    }

    private var closedUntil: Duration?
    /// When the time is over that the server named, without the stretch: a vital request may be a probe from then on.
    private var namedUntil: Duration?
    /// How many probes may be in flight; `nil` when the gate is wide open.
    private var allowance: Int?
    private var probes = 0
    /// Counts closures, so that a probe of an earlier opening is not taken for one of this.
    private(set) var opening: UInt64 = 0
    /// Whether the gate was closed, the last time, before it stood wide open again.
    private var isClosedAgain = false
    /// How many times in a row the gate was closed without a named delay.
    private var unnamedClosures = 0
    private var pace: Pace?
    /// Whether the client was busy enough to be paced: it notices a recovery by many requests, and need not stay away for long.
    private var isBusy = false
    private var served = ServedRate()

    /// Creates an open gate.
    /// - Parameter number: Distinguishes the gates of a table, so that no probe of an earlier one counts here.
    init(number: UInt64 = 0) {
        opening = number << 32
    }

    /// Whether no gate would decide differently without this state.
    var isWideOpen: Bool { closedUntil == nil && allowance == nil && unnamedClosures == 0 && pace == nil }

    /// Whether the gate is no longer closed, and no probe is in flight.
    func isIdle(at now: Duration) -> Bool { !isClosed(at: now) && probes == 0 }

    /// Decides about one request. O(1).
    /// - Parameters:
    ///   - isVital: Whether other calls wait for this one: it goes out as soon as the named time is over.
    ///   - waiters: How many requests wait ahead of it.
    mutating func admit(at now: Duration, isVital: Bool = false, waiters: Int = 0) -> Answer {
        if let closedUntil {
            let end = isVital ? min(closedUntil, namedUntil ?? closedUntil) : closedUntil
            guard end <= now else { return .closed(end - now) }
            if closedUntil <= now { self.closedUntil = nil }
        }
        if let allowance {
            // Others wait for a vital request, and among them may be the probe.
            guard isVital || probes < allowance else { return .opening }
            probes += 1
            return .admitted(.probe(opening))
        }
        if var pace {
            let wait = pace.take(at: now, waiters: waiters)
            self.pace = pace.isOver ? nil : pace
            if pace.isOver { isBusy = false }
            if let wait, self.pace != nil { return .paced(wait) }
        }
        return .admitted(.free)
    }

    /// How many waiters may be let through.
    func room(at now: Duration) -> Int {
        guard !isClosed(at: now) else { return 0 }
        guard let allowance else { return .max }
        return max(0, allowance - probes)
    }

    /// How many waiters ask again after a change: those who may go, and all if the gate closed meanwhile, since most of them wait in vain then.
    func wakes(since known: UInt64, at now: Duration) -> Int { opening == known ? room(at: now) : .max }

    /// Notes that a request was served.
    mutating func noteSuccess(_ pass: Pass = .free, at now: Duration) {
        served.note(at: now)
        pace?.noteSuccess()
        guard leave(pass), let allowance else { return }
        // A probe that went out while the gate was closed opens it.
        closedUntil = nil
        unnamedClosures = 0
        self.allowance = allowance * 2 < Self.wide ? allowance * 2 : nil
        if self.allowance == nil { isBusy = false }
    }

    /// Notes that a request ended in a way that says nothing about the server's load.
    mutating func noteNeutral(_ pass: Pass) { leave(pass) }

    /// Notes that the server refused a request because of its load, and named a delay.
    /// - Returns: The instant at which the gate opens; `nil` if it is paced instead.
    @discardableResult
    mutating func noteRefusal(
        _ pass: Pass = .free,
        delay: Duration,
        first: GateRules.Stretch,
        again: GateRules.Stretch,
        mayPace: Bool = false,
        at now: Duration,
        chance: Double
    ) -> Duration? {
        leave(pass)
        if mayPace, slow(at: now) { return nil }
        note(closing: now)
        let stretch = isBusy ? Self.busy : isClosedAgain ? again : first
        let end = close(until: now + stretch.applied(to: delay, chance: chance))
        namedUntil = max(namedUntil ?? .zero, now + delay)
        return end
    }

    /// Notes that the server refused a request because of its load, and named no delay.
    /// - Returns: The instant at which the gate opens.
    @discardableResult
    mutating func noteRefusal(_ pass: Pass = .free, unnamed: Backoff, at now: Duration, chance: Double) -> Duration {
        leave(pass)
        let isClosed = isClosed(at: now)
        note(closing: now)
        let pause = unnamed.ceiling(beforeRetry: isClosed ? max(0, unnamedClosures - 1) : unnamedClosures) * (0.5 + 0.5 * chance)
        if !isClosed { unnamedClosures += 1 }
        // Requests that were in flight when it closed repeat what is known.
        return isClosed ? closedUntil ?? now : close(until: now + pause)
    }

    /// Closes the gate, at least until an instant.
    /// - Returns: The instant at which it opens.
    @discardableResult
    mutating func close(until instant: Duration) -> Duration {
        let end = max(closedUntil ?? .zero, instant)
        closedUntil = end
        pace = nil
        allowance = 1
        probes = 0
        opening += 1
        return end
    }

    /// Lets one probe through at once.
    mutating func reopen() {
        guard closedUntil != nil else { return }
        closedUntil = nil
        namedUntil = nil
    }

    private func isClosed(at now: Duration) -> Bool { closedUntil.map { $0 > now } ?? false }

    private mutating func note(closing now: Duration) {
        // Requests that were in flight when it closed repeat what is known.
        guard !isClosed(at: now) else { return }
        isClosedAgain = allowance != nil
        namedUntil = nil
    }

    /// Paces instead of closing, if the server serves others at the same time.
    private mutating func slow(at now: Duration) -> Bool {
        guard !isClosed(at: now) else { return false }
        let rate = served.rate(at: now)
        guard pace != nil else {
            guard rate >= Pace.leastRate else { return false }
            pace = Pace(rate: rate, at: now)
            isBusy = true
            allowance = nil
            return true
        }
        return pace?.refuse(served: rate, at: now) ?? false
    }

    /// - Returns: Whether the request was a probe of the present opening.
    @discardableResult
    private mutating func leave(_ pass: Pass) -> Bool {
        guard pass == .probe(opening) else { return false }
        probes = max(0, probes - 1)
        return true
    }
}

/// The rate at which requests go to a server that refuses some of them.
///
/// Starts below the rate that the server serves, is cut when it refuses, and grows: slowly after a refusal, threefold each second once nothing was
/// refused for 0.75 s.
struct Pace: Hashable, Sendable {
    /// The rate, per second, below which a client is not paced: its gate closes.
    static let leastRate = 3.0
    /// The number of refusals in a row after which the gate closes instead.
    static let mostRefusals = 10

    private var rate: Double
    /// The rate from which on pacing ends.
    private let end: Double
    private var tokens = 0.0
    private var instant: Duration
    private var lastRefusal: Duration
    private var lastCut: Duration
    private var refusalsInARow = 0

    init(rate served: Double, at now: Duration) {
        rate = served * 0.8
        end = max(64, served * 4)
        (instant, lastRefusal, lastCut) = (now, now, now)
    }

    /// Whether the rate has grown so far that no request needs to wait.
    var isOver: Bool { rate >= end }

    /// Takes a place; behind others if there are some.
    /// - Returns: How long to wait, and ask again; `nil` if the request may go out.
    mutating func take(at now: Duration, waiters: Int) -> Duration? {
        let seconds = max(.zero, now - instant) / .seconds(1)
        instant = max(instant, now)
        let isQuiet = now - lastRefusal > .milliseconds(750)
        for _ in 0..<Int(min(60, seconds)) { rate = min(end, rate * (isQuiet ? 3 : 1.05)) }
        rate = min(end, rate * (1 + (isQuiet ? 2 : 0.05) * (seconds - seconds.rounded(.down))))
        tokens = min(2, tokens + rate * seconds)
        guard tokens < 1 else {
            tokens -= 1
            return nil
        }
        return .seconds((Double(waiters) + 1 - tokens) / rate)
    }

    /// Notes that a request was served.
    mutating func noteSuccess() { refusalsInARow = 0 }

    /// Notes a refusal; the rate is cut at most twice a second.
    /// - Returns: Whether pacing goes on; if not, the server serves nothing any more.
    mutating func refuse(served: Double, at now: Duration) -> Bool {
        lastRefusal = now
        refusalsInARow += 1
        guard refusalsInARow < Self.mostRefusals else { return false }
        guard now - lastCut > .milliseconds(500) else { return true }
        lastCut = now
        rate = max(1, min(rate, max(served * 0.8, rate * 0.5)))
        return true
    }
}

/// How many requests a server served per second lately: two buckets of half a second.
struct ServedRate: Hashable, Sendable {
    private var bucket: Int64 = -1
    private var current = 0
    private var previous = 0

    mutating func note(at now: Duration) {
        advance(to: now)
        current += 1
    }

    mutating func rate(at now: Duration) -> Double {
        advance(to: now)
        let elapsed = now / .milliseconds(500) - Double(bucket)
        return Double(previous + current) / (0.5 + 0.5 * min(1, max(0, elapsed)))
    }

    private mutating func advance(to now: Duration) {
        let (seconds, attoseconds) = now.components
        let present = seconds * 2 + attoseconds / 500_000_000_000_000_000
        guard present != bucket else { return }
        previous = present == bucket + 1 ? current : 0
        (bucket, current) = (present, 0)
    }
}
