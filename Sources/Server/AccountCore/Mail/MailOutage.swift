import Foundation
import Synchronization

/// Whether mails get through at all.
///
/// While a mail server is down or refuses us, one mail now and then asks whether it is back; the others stay due, so that they go out
/// at once when it is.
final class MailOutage: Sendable {
    private let state = Mutex(State())

    private struct State {
        var failures = 0
        var begin: Date?
        var restBegin: Date?
        var restEnd: Date?
    }

    /// How many mails may be in hand at once: none while it rests, one to ask, else `width`.
    func width(_ width: Int, at now: Date) -> Int {
        state.withLock { state in
            if let end = state.restEnd, now < end { return 0 }
            return state.failures > 0 ? 1 : width
        }
    }

    /// Whether no mail is to be tried now.
    func isPaused(at now: Date) -> Bool { width(1, at: now) == 0 }

    /// Ends a rest since whose beginning somebody has asked for mails to be tried.
    func wake(askedAt: Date) {
        state.withLock { state in
            if let begin = state.restBegin, askedAt > begin { state.restEnd = nil }
        }
    }

    /// Notes that a mail was stopped by something that stops all.
    /// - Returns: Whether this is news; mails that were in hand together fail together.
    func failed(at now: Date, backoff: MailBackoff) -> Bool {
        state.withLock { state in
            if let end = state.restEnd, now < end { return false }
            state.failures += 1
            state.begin = state.begin ?? now
            state.restBegin = now
            // The least that the mail itself waits, so that it is due when the rest is over.
            state.restEnd = now.addingTimeInterval(backoff.delay(afterFailures: state.failures, chance: 0) / .seconds(1))
            return true
        }
    }

    /// Notes that the server has answered for a mail.
    /// - Returns: When the outage began, if this ends one.
    func ended() -> Date? {
        state.withLock { state in
            defer { state = State() }
            return state.begin
        }
    }
}

/// How long to wait before a mail is tried again: 5 s, doubling to 5 min, ±20 %.
///
/// After 1 failure about 5 s, then 10, 20, 40, 80, 160 and from the seventh on 300 s.
public struct MailBackoff: Hashable, Sendable {
    /// The delay after the first failure.
    public var base: Duration = .seconds(5)
    /// The longest delay.
    public var cap: Duration = .seconds(300)

    /// The default.
    public init() {}

    /// The wait after a number of failures.
    /// - Parameters:
    ///   - failures: How often handing over has failed, from 1.
    ///   - chance: A number in `0..<1`.
    public func delay(afterFailures failures: Int, chance: Double) -> Duration {
        // Capped before the shift: a large exponent would overflow.
        let doubled = base * Int(1 << min(max(failures - 1, 0), 16))
        return min(doubled, cap) * (0.8 + 0.4 * chance)
    }
}
