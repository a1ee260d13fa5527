public import CoreMetrics
import ErrorContract

/// How many requests a server works on at once. What comes beyond that is refused at once, with 503 and Retry-After, so that those
/// that were let in are answered in time.
///
/// Counts in `requests_shed`, by `reason`: `full` if too many waited already, `late` if a request waited too long.
public final class LoadShedding: Sendable {
    private let limit: InFlightLimit
    private let chance: @Sendable () -> Double
    private let shed: [InFlightLimit.Refusal: Counter]

    /// Creates the limit.
    /// - Parameters:
    ///   - limit: How many at once.
    ///   - waiting: How many may wait for one of them to end.
    ///   - longestWait: How long they may wait.
    ///   - chance: A number from 0 up to 1, evenly distributed, by which the refused are told to come back at different times.
    ///   - clock: Measures the waits.
    ///   - metrics: Where the counter goes; the process's own system if `nil`.
    /// - Precondition: `limit` and `longestWait` are positive, `waiting` is not negative.
    public init<C: Clock>(
        limit: Int,
        waiting: Int = 64,
        longestWait: Duration = .milliseconds(500),
        chance: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) },
        clock: C = ContinuousClock(),
        metrics: (any MetricsFactory)? = nil
    ) where C.Duration == Duration {
        precondition(limit > 0, "limit must be positive (is \(limit))")
        precondition(waiting >= 0, "waiting must not be negative (is \(waiting))")
        precondition(longestWait > .zero, "longestWait must be positive (is \(longestWait))")
        self.limit = InFlightLimit(
            limit,
            waiting: waiting,
            longestWait: longestWait,
            deadlines: Deadlines(clock: clock)
        )
        self.chance = chance
        let factory = metrics ?? MetricsSystem.factory
        let counters = InFlightLimit.Refusal.allCases.map { reason in
            (reason, Counter(label: "requests_shed", dimensions: [("reason", reason.rawValue)], factory: factory))
        }
        shed = Dictionary(uniqueKeysWithValues: counters)
    }

    /// How many requests are worked on, and how many wait.
    public var load: (running: Int, waiting: Int) { limit.load }

    /// Runs an operation when there is room.
    /// - Throws: ``ContractError`` with the code `SERVER_SERVICE_UNAVAILABLE` if there is none; errors of the operation are passed on.
    func run<Result>(_ operation: () async throws -> Result) async throws -> Result {
        do {
            return try await limit.run(operation)
        } catch let refusal as InFlightLimit.Refusal {
            shed[refusal]?.increment()
            throw ContractError(.serverServiceUnavailable, retryAfter: wait)
        }
    }

    /// 1, 2 or 3 seconds: whoever is sent away together does not come back together.
    private var wait: Duration { .seconds(1 + min(2, max(0, Int(chance() * 3)))) }
}
