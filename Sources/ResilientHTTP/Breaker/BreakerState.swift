/// A circuit breaker: closed while a server works, open while it fails, half-open while one request tries it.
///
/// Opens after so many failures in a row, or when a share of the last calls failed. Michael Nygard: "Release It!" (2007). A value: time
/// is an argument; O(1) but for the forgetting of old calls, which is amortised.
struct BreakerState: Sendable {
    private enum Phase {
        case closed
        case open(until: Duration)
        case halfOpen
    }

    private let rules: BreakerRules
    private var phase = Phase.closed
    private var failuresInARow = 0
    private var openings = 0
    /// The ends of the last calls, oldest first.
    private var ends: [(instant: Duration, isFailure: Bool)] = []
    private var oldest = 0
    private var failures = 0

    init(rules: BreakerRules) {
        self.rules = rules
    }

    /// How many ends of calls are kept.
    var remembered: Int { ends.count }

    /// What a request hears.
    enum Answer: Hashable {
        /// It may go out; its end must be noted.
        case admitted
        /// It may go out, and what becomes of it decides for all; its end must be noted.
        case probe
        /// The circuit is open for so long; zero while a probe is under way.
        case open(Duration)
    }

    /// Decides about one request. The instant is asked for only if it matters.
    mutating func admit(at instant: @autoclosure () -> Duration) -> Answer {
        switch phase {
        case .closed: return .admitted
        case .open(let until):
            let now = instant()
            guard until <= now else { return .open(until - now) }
            phase = .halfOpen
            return .probe
        case .halfOpen: return .open(.zero)
        }
    }

    /// Notes an answer of a server that works.
    mutating func noteSuccess(isProbe: Bool, at now: Duration) {
        failuresInARow = 0
        if isProbe {
            phase = .closed
            openings = 0
            forgetAll()
        } else if case .closed = phase {
            note(isFailure: false, at: now)
        }
    }

    /// Notes a failure of the server.
    mutating func noteFailure(isProbe: Bool, at now: Duration) {
        if isProbe { return open(at: now) }
        // Late news of calls that left before the circuit opened.
        guard case .closed = phase else { return }
        failuresInARow += 1
        note(isFailure: true, at: now)
        let calls = ends.count - oldest
        let isShareReached = calls >= rules.minimumCalls && Double(failures) >= rules.failureShare * Double(calls)
        if failuresInARow >= rules.failuresInARow || isShareReached { open(at: now) }
    }

    /// Notes an end that says nothing about the server: a probe's slot is free for the next.
    mutating func noteNeutral(isProbe: Bool, at now: Duration) {
        if isProbe { phase = .open(until: now) }
    }

    private mutating func open(at now: Duration) {
        phase = .open(until: now + rules.pauses.ceiling(beforeRetry: openings))
        openings += 1
        failuresInARow = 0
        forgetAll()
    }

    private mutating func note(isFailure: Bool, at now: Duration) {
        ends.append((now, isFailure))
        if isFailure { failures += 1 }
        while oldest < ends.count, ends[oldest].instant <= now - rules.window || ends.count - oldest > rules.maximumCalls {
            if ends[oldest].isFailure { failures -= 1 }
            oldest += 1
        }
        if oldest > rules.maximumCalls {
            ends.removeFirst(oldest)
            oldest = 0
        }
    }

    private mutating func forgetAll() {
        ends.removeAll()
        (oldest, failures) = (0, 0)
    }
}

/// When a circuit opens, and for how long.
public struct BreakerRules: Hashable, Sendable {
    /// The number of failures in a row that open it.
    public var failuresInARow: Int
    /// The share of failed calls that opens it.
    public var failureShare: Double
    /// The number of calls under which the share says nothing.
    public var minimumCalls: Int
    /// The time that calls are looked back on.
    public var window: Duration
    /// How long it stays open, the first time and at most.
    public var pauses: Backoff
    /// The number of calls that are remembered.
    static let remembered = 1_000
    var maximumCalls: Int { max(Self.remembered, minimumCalls) }

    /// Creates rules.
    /// - Precondition: `failuresInARow` and `minimumCalls` are positive, `failureShare` is above 0 and at most 1.
    public init(
        failuresInARow: Int = 5,
        failureShare: Double = 0.5,
        minimumCalls: Int = 20,
        window: Duration = .seconds(30),
        pauses: Backoff = Backoff(base: .seconds(5), cap: .seconds(60))
    ) {
        precondition(failuresInARow > 0 && minimumCalls > 0, "failuresInARow and minimumCalls must be positive")
        precondition(failureShare > 0 && failureShare <= 1, "failureShare must be above 0 and at most 1 (is \(failureShare))")
        self.failuresInARow = failuresInARow
        self.failureShare = failureShare
        self.minimumCalls = minimumCalls
        self.window = window
        self.pauses = pauses
    }
}
