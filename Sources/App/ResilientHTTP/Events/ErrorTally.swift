public import ErrorContract
import Synchronization
public import Timekeeping

/// Counts the errors of a client's calls by code and endpoint over time, for a diagnostics screen or a report.
///
/// For each pair of code and endpoint, the tally stores one count per minute of the last hour. It stores at most 200 pairs, and counts all
/// further pairs together. Each pair takes about 0.3 kB of memory. The tally stores nothing on disk.
///
/// ```swift
/// let tally = ErrorTally()
/// api.listeners = [tally]
/// for (key, count) in tally.counts(lastMinutes: 10) { print(key.code?.rawValue ?? "others", count) }
/// ```
///
/// The tally is thread-safe. An event takes O(1).
public final class ErrorTally: CallListener {
    /// A pair of an error code and an endpoint. The tally counts the errors of each pair together.
    public struct Key: Hashable, Sendable {
        /// The error's code; `nil` for the common count of all pairs beyond the maximum.
        public let code: ErrorCode?
        /// The endpoint; `nil` for the common count of all pairs beyond the maximum.
        public let endpoint: Endpoint?
    }

    /// The maximum number of pairs with separate counts.
    static let capacity = 200
    private static let slots = 60

    /// The counts of the last 60 minutes in a ring buffer. The count of minute `m` is at index `m % 60`.
    private struct Minutes {
        var counts = [UInt32](repeating: 0, count: slots)
        var latest: Int64

        /// Makes a minute the latest one, and removes the counts that are then older than an hour.
        mutating func advance(to minute: Int64) {
            guard minute > latest else { return }
            for passed in 0..<min(Int64(slots), minute - latest) { counts[Int((minute - passed) % Int64(slots))] = 0 }
            latest = minute
        }
    }

    private let clock: MonotonicClock
    private let tallies = Mutex<[Key: Minutes]>([:])

    /// Creates an empty tally.
    /// - Parameter clock: The clock that determines the current minute.
    public init(clock: MonotonicClock = .continuous) {
        self.clock = clock
    }

    /// Counts the error of a finished call. The tally ignores other events and successes.
    /// - Parameter event: An event of a call.
    public func hear(_ event: CallEvent) {
        guard case .finished(let summary) = event.kind, let code = summary.code else { return }
        let minute = minute
        tallies.withLock { tallies in
            var key = Key(code: code, endpoint: event.endpoint)
            if tallies[key] == nil, tallies.count >= Self.capacity { key = Key(code: nil, endpoint: nil) }
            tallies[key, default: Minutes(latest: minute)].advance(to: minute)
            tallies[key]?.counts[Int(minute % Int64(Self.slots))] += 1
        }
    }

    /// Returns the number of errors of each pair in the last minutes, the most frequent first. The result contains only pairs with an error
    /// in these minutes.
    ///
    /// - Parameter minutes: The number of minutes, including the current minute, from 1 to 60. The method clamps a value outside of this
    ///   range.
    public func counts(lastMinutes minutes: Int = 60) -> [(key: Key, count: Int)] {
        let now = minute
        let span = Int64(min(max(minutes, 1), Self.slots))
        return tallies.withLock { tallies in
            tallies.compactMap { key, kept -> (key: Key, count: Int)? in
                var kept = kept
                kept.advance(to: now)
                let count = (0..<span).reduce(0) {
                    $0 + Int(kept.counts[Int((now - $1 + Int64(Self.slots)) % Int64(Self.slots))])
                }
                return count > 0 ? (key, count) : nil
            }
        }.sorted { $0.count > $1.count }
    }

    private var minute: Int64 { clock.now.components.seconds / 60 }
}
