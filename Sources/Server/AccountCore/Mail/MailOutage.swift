import Foundation
import Synchronization

/// Detects outages of the email server and pauses deliveries during them.
///
/// While the email server is unreachable or refuses the settings of this server, the worker tries only one email at a time, after
/// increasing delays. The other emails stay due, so that they are sent as soon as the outage ends.
final class MailOutage: Sendable {
    private let state = Mutex(State())

    /// The number of consecutive failures, the beginning of the outage, and the current pause.
    private struct State {
        /// The number of consecutive failures that affected all emails.
        var failures = 0
        /// The time of the first failure of the outage; `nil` if there is no outage.
        var begin: Date?
        /// The beginning of the current pause.
        var restBegin: Date?
        /// The end of the current pause; `nil` if there is none, or an operator has ended it.
        var restEnd: Date?
    }

    /// Returns the largest number of emails in flight: 0 during a pause, 1 to probe the server during an outage, otherwise `width`.
    func width(_ width: Int, at now: Date) -> Int {
        state.withLock { state in
            if let end = state.restEnd, now < end { return 0 }
            return state.failures > 0 ? 1 : width
        }
    }

    /// Returns whether deliveries are paused now. The method changes nothing.
    func isPaused(at now: Date) -> Bool { width(1, at: now) == 0 }

    /// Ends the pause if an operator has requested a retry since the pause began.
    /// - Parameter askedAt: The time of the latest request, by the steady clock of the queue.
    func wake(askedAt: Date) {
        state.withLock { state in
            if let begin = state.restBegin, askedAt > begin { state.restEnd = nil }
        }
    }

    /// Records a failure that affects all emails.
    ///
    /// - Parameters:
    ///   - now: The time of the failure.
    ///   - backoff: The delays, by the number of failures.
    /// - Returns: Whether the failure begins a new pause. It doesn't if an email that was in flight at the same time has already begun the
    ///   pause.
    func failed(at now: Date, backoff: MailBackoff) -> Bool {
        state.withLock { state in
            if let end = state.restEnd, now < end { return false }
            state.failures += 1
            state.begin = state.begin ?? now
            state.restBegin = now
            // The pause is the shortest delay after this number of failures. An email that has failed as often is due again after a random
            // delay that is at least as long. So the pause doesn't delay this email further.
            state.restEnd = now.addingTimeInterval(backoff.delay(afterFailures: state.failures, chance: 0) / .seconds(1))
            return true
        }
    }

    /// Records that the email server has replied, which ends an outage.
    /// - Returns: The beginning of the outage; `nil` if there was none.
    func ended() -> Date? {
        state.withLock { state in
            defer { state = State() }
            return state.begin
        }
    }
}

/// The delay before an email is tried again: 5 s, doubling up to 5 min, ±20 %.
///
/// The delay is about 5 s after the first failure, then 10, 20, 40, 80 and 160 s, and 300 s from the seventh failure on.
public struct MailBackoff: Hashable, Sendable {
    /// The delay after the first failure.
    public var base: Duration = .seconds(5)
    /// The longest delay.
    public var cap: Duration = .seconds(300)

    /// Creates the default backoff.
    public init() {}

    /// Returns the delay after a number of failures.
    /// - Parameters:
    ///   - failures: The number of failed deliveries, from 1.
    ///   - chance: A random number in `0..<1`. It spreads the delay by ±20 %.
    public func delay(afterFailures failures: Int, chance: Double) -> Duration {
        // The exponent is capped before the shift, because a large exponent would overflow.
        let doubled = base * Int(1 << min(max(failures - 1, 0), 16))
        return min(doubled, cap) * (0.8 + 0.4 * chance)
    }
}
