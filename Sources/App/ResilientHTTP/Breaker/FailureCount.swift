/// Counts consecutive failed calls, and the share (fraction) of failures among the latest calls. The type is a value, and its methods take
/// the time as an argument. Each method takes O(1) amortized.
struct FailureCount: Sendable {
    private var failuresInARow = 0
    /// The instants at which the latest calls ended, oldest first.
    private var ends: [(instant: Duration, isFailure: Bool)] = []
    private var oldest = 0
    private var failures = 0

    init() {}

    /// The number of calls in memory. It can include calls that are too old to count.
    var stored: Int { ends.count }
    /// Whether no failure counts any more, so that the owner can remove this value.
    var isRemovable: Bool { failures == 0 }

    /// Records a call that succeeded.
    mutating func noteSuccess(at now: Duration) {
        failuresInARow = 0
        note(isFailure: false, BreakerRules.window, at: now)
    }

    /// Records a call that failed, and determines whether the circuit opens.
    ///
    /// - Returns: Whether the circuit opens. After the circuit has opened once, each further failure opens it again, until a call succeeds.
    mutating func noteFailure(_ rules: BreakerRules, at now: Duration) -> Bool {
        failuresInARow += 1
        note(isFailure: true, BreakerRules.window, at: now)
        let calls = ends.count - oldest
        let isShareReached = calls >= rules.minimumCalls && Double(failures) >= rules.failureShare * Double(calls)
        guard failuresInARow >= rules.failuresInARow || isShareReached else { return false }
        ends.removeAll()
        (oldest, failures) = (0, 0)
        // One failure fewer than the rules require, so that the next failure opens the circuit again.
        failuresInARow = rules.failuresInARow - 1
        return true
    }

    /// Stores the end of a call. Removes the calls that are too old or beyond the maximum number.
    private mutating func note(isFailure: Bool, _ window: Duration, at now: Duration) {
        ends.append((now, isFailure))
        if isFailure { failures += 1 }
        while oldest < ends.count, ends[oldest].instant <= now - window || ends.count - oldest > BreakerRules.maximumCalls {
            if ends[oldest].isFailure { failures -= 1 }
            oldest += 1
        }
        if oldest > BreakerRules.maximumCalls {
            ends.removeFirst(oldest)
            oldest = 0
        }
    }
}

/// The rules that determine when a circuit opens, and when the breaker sends a probe. All circuits of a ``BreakerMiddleware`` have the same
/// rules.
///
/// The circuit of an endpoint opens after ``failuresInARow`` consecutive failures. It also opens if there were at least ``minimumCalls``
/// calls in the last 30 s, and the share of failures among them reaches ``failureShare``. At most the latest 1,000 calls count. The first
/// rule suits an app that sends few calls, and the second rule suits an app that sends many.
///
/// The circuit of a host opens after ``failuresInARow`` failed connections, or after the circuits of ``failingEndpoints`` of its endpoints
/// have opened. A success of any call to the host resets both counts, because it shows that the host can be reached. Therefore, the share
/// of failed connections doesn't open a circuit as long as some calls succeed.
public struct BreakerRules: Hashable, Sendable {
    /// The number of consecutive failed calls that opens a circuit.
    public var failuresInARow: Int
    /// The share of failed calls that opens a circuit, from 0 to 1.
    public var failureShare: Double
    /// The minimum number of calls in the last 30 s. With fewer calls, the share of failures doesn't open a circuit.
    public var minimumCalls: Int
    /// The number of failing endpoints of a host that opens the circuit of the host.
    public var failingEndpoints: Int
    /// The time for which a circuit stays open before the breaker sends one call as a probe. The actual time is random: from 50 % to 150 %
    /// of this value.
    public var pause: Duration
    /// The maximum time that a new call waits at an open circuit before the call fails. A retry waits until the deadline of its call.
    public var patience: Duration
    /// The maximum number of calls that wait at open circuits.
    public var maximumWaiters = 1_024
    /// The time during which a call counts for the share of failures.
    static let window: Duration = .seconds(30)
    /// The maximum number of calls that count for the share of failures.
    static let maximumCalls = 1_000

    /// Creates rules.
    /// - Parameters:
    ///   - failuresInARow: The number of consecutive failed calls that opens a circuit.
    ///   - failureShare: The share of failed calls that opens a circuit, above 0 and at most 1.
    ///   - minimumCalls: The minimum number of calls in the last 30 s. With fewer calls, the share of failures doesn't open a circuit.
    ///   - failingEndpoints: The number of failing endpoints of a host that opens the circuit of the host.
    ///   - pause: The average time for which a circuit stays open before the breaker sends one call as a probe.
    ///   - patience: The maximum time that a new call waits at an open circuit before the call fails.
    /// - Precondition: `failuresInARow`, `minimumCalls` and `failingEndpoints` are positive. `failureShare` is above 0 and at most 1.
    public init(
        failuresInARow: Int = 3,
        failureShare: Double = 0.5,
        minimumCalls: Int = 20,
        failingEndpoints: Int = 3,
        pause: Duration = .seconds(1),
        patience: Duration = .seconds(2)
    ) {
        precondition(
            failuresInARow > 0 && minimumCalls > 0 && failingEndpoints > 0,
            "failuresInARow, minimumCalls and failingEndpoints must be positive"
        )
        precondition(failureShare > 0 && failureShare <= 1, "failureShare must be above 0 and at most 1 (is \(failureShare))")
        self.failuresInARow = failuresInARow
        self.failureShare = failureShare
        self.minimumCalls = minimumCalls
        self.failingEndpoints = failingEndpoints
        self.pause = pause
        self.patience = patience
    }

    /// Returns the time until the next probe: from 50 % to 150 % of ``pause``.
    /// - Parameter chance: A random number from 0 to 1.
    func pause(chance: Double) -> Duration { pause * (0.5 + chance) }
}
