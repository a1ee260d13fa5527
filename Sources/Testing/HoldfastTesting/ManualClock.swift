import Synchronization

/// A clock that only advances when a test advances it.
///
/// Sleepers wake, in the order of their deadlines, when ``advance(by:)`` reaches them.
///
/// ```swift
/// let clock = ManualClock()
/// let sleeper = Task { try await clock.sleep(until: clock.now.advanced(by: .seconds(60))) }
/// await clock.waitForSleepers()
/// clock.advance(by: .seconds(60))
/// try await sleeper.value
/// ```
public final class ManualClock: Clock, Sendable {
    /// An instant of the clock, counted from its start.
    public struct Instant: InstantProtocol {
        /// The time since the clock's start.
        public var offset: Duration

        /// Creates an instant.
        public init(offset: Duration = .zero) {
            self.offset = offset
        }

        /// Returns the instant that is later by a duration.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        /// Returns the time until another instant.
        public func duration(to other: Instant) -> Duration { other.offset - offset }
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct Sleeper {
        var id: UInt64
        var deadline: Instant
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now = Instant()
        var nextID: UInt64 = 0
        var sleepers: [UInt64: Sleeper] = [:]
        var cancelled: Set<UInt64> = []
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    /// Creates a clock at its start.
    public init() {}

    /// The current instant.
    public var now: Instant { state.withLock(\.now) }
    /// One nanosecond.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// The number of tasks that sleep on the clock.
    public var sleeperCount: Int { state.withLock(\.sleepers.count) }

    /// The next instant at which a sleeper wakes; `nil` if there are no sleepers.
    public var nextDeadline: Instant? { state.withLock { $0.sleepers.values.map(\.deadline).min() } }

    /// Sleeps until a deadline; returns immediately if it has come. Throws immediately when the task is canceled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                park(Sleeper(id: id, deadline: deadline, continuation: continuation))
            }
        } onCancel: {
            let sleeper = state.withLock { state -> Sleeper? in
                if let sleeper = state.sleepers.removeValue(forKey: id) { return sleeper }
                state.cancelled.insert(id)
                return nil
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    private func park(_ sleeper: Sleeper) {
        enum Outcome { case parked([CheckedContinuation<Void, Never>]), due, cancelled }
        let outcome = state.withLock { state -> Outcome in
            if state.cancelled.remove(sleeper.id) != nil { return .cancelled }
            guard sleeper.deadline > state.now else { return .due }
            state.sleepers[sleeper.id] = sleeper
            guard !state.watchers.isEmpty else { return .parked([]) }
            let count = state.sleepers.count
            let ready = state.watchers.filter { $0.count <= count }
            state.watchers.removeAll { $0.count <= count }
            return .parked(ready.map(\.continuation))
        }
        switch outcome {
        case .parked(let watchers): for watcher in watchers { watcher.resume() }
        case .due: sleeper.continuation.resume()
        case .cancelled: sleeper.continuation.resume(throwing: CancellationError())
        }
    }

    /// Advances the clock and wakes the sleepers whose deadlines have come, earliest first.
    /// - Precondition: `duration` is not negative.
    public func advance(by duration: Duration) {
        precondition(duration >= .zero, "a manual clock does not go backwards (by \(duration))")
        let due = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let now = state.now
            let due = state.sleepers.values.filter { $0.deadline <= now }.sorted {
                ($0.deadline, $0.id) < ($1.deadline, $1.id)
            }
            for sleeper in due { state.sleepers[sleeper.id] = nil }
            return due
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    /// Returns when at least `count` tasks sleep on the clock, so that a test can advance it without a race.
    public func waitForSleepers(_ count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                if state.sleepers.count >= count { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isReady { continuation.resume() }
        }
    }
}

/// An executor that runs tasks one job at a time on the thread that calls ``drain()``, so that a test knows when all of them wait.
///
/// With a ``ManualClock``, this is a simulation: run all jobs, advance the clock to the next deadline, and repeat. A task that should have
/// ended after ``drain()`` and has not waits for an event that never comes: the test can detect it and doesn't hang.
public final class SteppedExecutor: TaskExecutor {
    private let jobs = Mutex<(all: [UnownedJob], next: Int)>(([], 0))

    /// Creates an executor without jobs.
    public init() {}

    /// Adds a job that ``drain()`` will run.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.all.append(job) }
    }

    /// Runs jobs until all tasks wait.
    public func drain() {
        while let job = takeJob() { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    /// Runs jobs, and advances the clock from deadline to deadline, up to an instant.
    public func run(_ clock: ManualClock, until end: Duration) {
        drain()
        while let next = clock.nextDeadline, next.offset <= end {
            clock.advance(by: clock.now.duration(to: next))
            drain()
        }
    }

    private func takeJob() -> UnownedJob? {
        jobs.withLock { jobs in
            guard jobs.next < jobs.all.count else {
                jobs = ([], 0)
                return nil
            }
            jobs.next += 1
            return jobs.all[jobs.next - 1]
        }
    }
}

/// A clock that runs faster than real time by a factor, so that half a minute of waits over real sockets takes a few seconds.
///
/// Use ``ManualClock`` if the test has no real sockets: it takes no time and has no races.
public struct QuickClock: Clock {
    /// An instant, as the time since the clock's start, on this clock.
    public typealias Instant = ManualClock.Instant

    /// The factor by which the clock is faster than real time.
    public let factor: Int
    private let start = ContinuousClock.now

    /// Starts a clock.
    /// - Precondition: `factor` is positive.
    public init(factor: Int) {
        precondition(factor > 0, "factor must be positive (is \(factor))")
        self.factor = factor
    }

    /// The current instant.
    public var now: Instant { Instant(offset: start.duration(to: .now) * factor) }
    /// One nanosecond of real time, on this clock.
    public var minimumResolution: Duration { .nanoseconds(factor) }

    /// Sleeps until a deadline. Throws immediately when the task is canceled.
    public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await ContinuousClock().sleep(until: start.advanced(by: deadline.offset / factor), tolerance: tolerance)
    }
}
