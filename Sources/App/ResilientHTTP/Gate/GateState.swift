/// The state of one gate: open, closed, half-open, or paced. The type is a value, and its methods take time and randomness as arguments.
///
/// When the closure ends, the gate is half-open: it admits one request as a probe. Each success doubles the number of probes that may be in
/// flight, until the gate is fully open. Therefore, the waiting callers don't all send their requests at once.
///
/// If the client sends many requests, and the server serves some of them and refuses others, the gate is paced instead. A paced gate admits
/// requests at the rate at which the server serves them. The rate grows while the server refuses no request.
struct GateState: Sendable {
    /// When the number of probes that may be in flight reaches this value, the gate is fully open.
    static let wide = 64
    /// The random extension of the server's delay if the client sends many requests (see `isBusy`).
    private static let busy = GateRules.Stretch(0...0.5, longest: .seconds(8))

    /// The role of an admitted request.
    enum Pass: Hashable, Sendable {
        /// An ordinary request.
        case free
        /// A probe, with the number of the half-open phase in which the gate admitted it. In a later phase, the gate ignores the end of
        /// this probe.
        case probe(UInt64)

        var isProbe: Bool { self != .free }
    }

    /// The decision about a request.
    enum Decision: Hashable {
        /// The request may be sent. The caller must record the end of the request.
        case admitted(Pass)
        /// The gate stays closed for the duration.
        case closed(Duration)
        /// The gate is half-open, and the maximum number of probes is in flight.
        case opening
        /// The gate is paced, and the next request may be sent after the duration.
        case paced(Duration)
    }

    /// The instant until which the gate admits no request; `nil` if the gate is not closed.
    private var closedUntil: Duration?
    /// The end of the server's delay, without its extension. From this instant on, the gate admits a vital request as a probe. Other calls
    /// wait for a vital request, such as the refresh of the session.
    private var namedUntil: Duration?
    /// The maximum number of probes in flight; `nil` if the gate is fully open.
    private var allowance: Int?
    /// The number of probes in flight of the current half-open phase.
    private var probes = 0
    /// The number of closures. Each probe has the number of its closure, so the gate recognizes a probe of an earlier half-open phase.
    private(set) var opening: UInt64 = 0
    /// Whether the gate was still half-open when it last closed.
    private var isClosedAgain = false
    /// The number of consecutive closures for which the server requested no delay.
    private var unnamedClosures = 0
    /// The rate of requests; `nil` if the gate is not paced. A gate is never paced and half-open at the same time.
    private var pace: Pace?
    /// Whether the client sent so many requests that the gate was paced. If this gate closes, a short closure is sufficient, because a
    /// client with many requests detects quickly whether the server has recovered.
    private var isBusy = false
    /// The rate at which the server served requests recently.
    private var served = ServedRate()

    /// Creates a gate that is fully open.
    ///
    /// - Parameter number: A number that no earlier gate in the table had. Because of this number, the gate ignores the probes of earlier
    ///   gates.
    init(number: UInt64 = 0) {
        opening = number << 32
    }

    /// Whether the gate is fully open. The table then doesn't have to store the gate.
    var isWideOpen: Bool { closedUntil == nil && allowance == nil && unnamedClosures == 0 && pace == nil }

    /// Returns whether the gate is not closed, and no probe is in flight.
    func isIdle(at now: Duration) -> Bool { !isClosed(at: now) && probes == 0 }

    /// Admits or delays one request. O(1).
    /// - Parameters:
    ///   - isVital: Whether other calls wait for this request. The gate admits a vital request as soon as the server's delay has passed,
    ///     before the random extension ends.
    ///   - waiters: The number of requests that wait ahead of this request.
    mutating func admit(at now: Duration, isVital: Bool = false, waiters: Int = 0) -> Decision {
        if let closedUntil {
            let end = isVital ? min(closedUntil, namedUntil ?? closedUntil) : closedUntil
            guard end <= now else { return .closed(end - now) }
            if closedUntil <= now { self.closedUntil = nil }
        }
        if let allowance {
            // A vital request doesn't wait for the probe in flight, because the probe may be a call that waits for this vital request.
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

    /// Returns the number of waiting calls that the gate can admit now.
    /// - Returns: 0 while the gate is closed; no limit if the gate is fully open or paced.
    func room(at now: Duration) -> Int {
        guard !isClosed(at: now) else { return 0 }
        guard let allowance else { return .max }
        return max(0, allowance - probes)
    }

    /// Returns the number of waiting calls to resume after a change. If the gate closed, the method returns `Int.max`: all waiting calls
    /// resume, and a call that can't be admitted in time fails at once. Otherwise, the method returns the number of calls that the gate can
    /// admit.
    /// - Parameters:
    ///   - known: The number of closures before the change.
    ///   - now: The current instant.
    func wakes(since known: UInt64, at now: Duration) -> Int { opening == known ? room(at: now) : .max }

    /// Records that the server served a request.
    mutating func noteSuccess(_ pass: Pass = .free, at now: Duration) {
        served.note(at: now)
        pace?.noteSuccess()
        guard leave(pass), let allowance else { return }
        // A probe can succeed while the gate is closed. The gate then opens.
        closedUntil = nil
        unnamedClosures = 0
        self.allowance = allowance * 2 < Self.wide ? allowance * 2 : nil
        if self.allowance == nil { isBusy = false }
    }

    /// Records the end of a request whose result doesn't show whether the server is overloaded.
    mutating func noteNeutral(_ pass: Pass) { leave(pass) }

    /// Records a 503 or 429 with a delay. The gate closes for this delay and a random extension, or is paced.
    ///
    /// - Parameters:
    ///   - pass: The role of the refused request.
    ///   - delay: The delay that the server requested.
    ///   - first: The extension of the delay if the gate was fully open.
    ///   - again: The extension of the delay if the gate closes again before it was fully open.
    ///   - mayPace: Whether the gate limits the rate instead of closing if the server serves other requests at the same time.
    ///   - now: The current instant.
    ///   - chance: A random number from 0 to 1, which selects the extension.
    /// - Returns: The instant at which the gate opens; `nil` if the gate stays open and is paced.
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

    /// Records a 503 or 429 without a delay. The gate closes for a time that `unnamed` determines, unless it is already closed.
    ///
    /// - Parameters:
    ///   - pass: The role of the refused request.
    ///   - unnamed: Determines the duration of the closure from the number of consecutive closures without a delay.
    ///   - now: The current instant.
    ///   - chance: A random number. With 0, the closure lasts for half of the duration, and with 1, for the whole duration.
    /// - Returns: The instant at which the gate opens.
    @discardableResult
    mutating func noteRefusal(_ pass: Pass = .free, unnamed: Backoff, at now: Duration, chance: Double) -> Duration {
        leave(pass)
        let isClosed = isClosed(at: now)
        note(closing: now)
        let pause = unnamed.ceiling(beforeRetry: isClosed ? max(0, unnamedClosures - 1) : unnamedClosures) * (0.5 + 0.5 * chance)
        if !isClosed { unnamedClosures += 1 }
        // If the gate is already closed, the request was sent before the closure. Its refusal brings no new information.
        return isClosed ? closedUntil ?? now : close(until: now + pause)
    }

    /// Closes the gate, at least until an instant.
    ///
    /// - Parameter instant: The earliest end of the closure. If the gate is already closed for longer, the later end applies.
    /// - Returns: The instant at which the gate opens.
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

    /// Ends the closure. The gate then admits one probe at once.
    mutating func reopen() {
        guard closedUntil != nil else { return }
        closedUntil = nil
        namedUntil = nil
    }

    private func isClosed(at now: Duration) -> Bool { closedUntil.map { $0 > now } ?? false }

    /// Records that the gate closes now, and whether it was still half-open after the previous closure.
    private mutating func note(closing now: Duration) {
        // If the gate is already closed, the request was sent before the closure. Its refusal brings no new information.
        guard !isClosed(at: now) else { return }
        isClosedAgain = allowance != nil
        namedUntil = nil
    }

    /// Limits the rate of requests instead of closing the gate, if the server serves other requests at the same time.
    /// - Returns: Whether the gate is paced now; `false` if the gate must close.
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

    /// Records that a request has ended.
    /// - Returns: Whether the request was a probe of the current half-open phase. If so, this probe is no longer in flight.
    @discardableResult
    private mutating func leave(_ pass: Pass) -> Bool {
        guard pass == .probe(opening) else { return false }
        probes = max(0, probes - 1)
        return true
    }
}

/// The rate of requests to a server that refuses some of them.
///
/// The rate starts below the rate at which the server serves requests. A refusal reduces the rate. After a refusal, the rate grows by 5 %
/// per second. If the server has refused no request for 0.75 s, the rate triples each second.
struct Pace: Hashable, Sendable {
    /// The minimum rate for pacing, in requests per second that the server serves. If the server serves fewer, the gate closes instead.
    static let leastRate = 3.0
    /// The number of consecutive refusals after which the gate closes.
    static let mostRefusals = 10

    private var rate: Double
    /// The rate at which pacing ends.
    private let end: Double
    /// The number of requests that may be sent now; at most 2.
    private var tokens = 0.0
    private var instant: Duration
    private var lastRefusal: Duration
    private var lastCut: Duration
    /// The number of refusals since the last success.
    private var refusalsInARow = 0

    /// Starts pacing at four fifths of the rate at which the server serves requests.
    /// - Parameters:
    ///   - served: The number of requests that the server recently served per second.
    ///   - now: The current instant.
    init(rate served: Double, at now: Duration) {
        rate = served * 0.8
        end = max(64, served * 4)
        (instant, lastRefusal, lastCut) = (now, now, now)
    }

    /// Whether the rate is so high that pacing ends.
    var isOver: Bool { rate >= end }

    /// Takes a token for a request, if one is left. Each request needs one token, and new tokens arrive at the current rate.
    ///
    /// - Parameters:
    ///   - now: The current instant.
    ///   - waiters: The number of requests that wait ahead of this request. Each of them needs an earlier token.
    /// - Returns: The time after which the request should try again; `nil` if the request may be sent.
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

    /// Records that the server served a request.
    mutating func noteSuccess() { refusalsInARow = 0 }

    /// Records a refusal, and reduces the rate at most twice per second.
    ///
    /// - Parameters:
    ///   - served: The number of requests that the server recently served per second.
    ///   - now: The current instant.
    /// - Returns: Whether pacing continues; `false` after ``mostRefusals`` refusals without a success.
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

/// The number of requests that a server recently served per second. The type counts requests in two buckets of half a second.
struct ServedRate: Hashable, Sendable {
    private var bucket: Int64 = -1
    private var current = 0
    private var previous = 0

    /// Counts a served request.
    mutating func note(at now: Duration) {
        advance(to: now)
        current += 1
    }

    /// Returns the requests per second over the current and the previous bucket.
    mutating func rate(at now: Duration) -> Double {
        advance(to: now)
        let elapsed = now / .milliseconds(500) - Double(bucket)
        return Double(previous + current) / (0.5 + 0.5 * min(1, max(0, elapsed)))
    }

    /// Moves to the bucket of an instant. After a gap without requests, the previous bucket counts as empty.
    private mutating func advance(to now: Duration) {
        let (seconds, attoseconds) = now.components
        let present = seconds * 2 + attoseconds / 500_000_000_000_000_000
        guard present != bucket else { return }
        previous = present == bucket + 1 ? current : 0
        (bucket, current) = (present, 0)
    }
}
