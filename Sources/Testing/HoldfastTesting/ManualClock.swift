import Synchronization

/// A clock that only advances when a test advances it.
///
/// ``advance(by:)`` wakes the sleepers whose deadlines have passed, in the order of the deadlines. Sleepers with the same deadline wake in
/// the order in which they began to sleep.
///
/// ```swift
/// let clock = ManualClock()
/// let sleeper = Task { try await clock.sleep(until: clock.now.advanced(by: .seconds(60))) }
/// await clock.waitForSleepers()
/// clock.advance(by: .seconds(60))
/// try await sleeper.value
/// ```
///
/// Call ``waitForSleepers(_:)`` before ``advance(by:)``. Otherwise, the clock may advance before the task begins to sleep. The task then
/// computes a later deadline than the test expects, and may never wake.
///
/// The clock is thread-safe. If a test waits for real sockets, use ``QuickClock`` instead. A manual clock can't know when bytes arrive.
/// - Complexity: Sleeping, waking and canceling a sleeper are O(log n), where n is the number of sleepers.
public final class ManualClock: Clock, Sendable {
    /// An instant of the clock, as the time since the clock's start.
    public struct Instant: InstantProtocol {
        /// The time since the clock's start.
        public var offset: Duration

        /// Creates an instant from the time since the clock's start.
        /// - Parameter offset: The time since the clock's start. A negative offset is an instant before the start.
        public init(offset: Duration = .zero) {
            self.offset = offset
        }

        /// Returns the instant that is later by a duration. The method traps if the sum exceeds the range of `Duration`.
        /// - Parameter duration: The distance; negative for an earlier instant.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        /// Returns the time until another instant; negative if the other one is earlier.
        /// - Parameter other: The other instant.
        public func duration(to other: Instant) -> Duration { other.offset - offset }
        /// Returns whether an instant is earlier than another one.
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    /// A task that sleeps.
    ///
    /// Either ``advance(by:)`` or the cancellation handler of the task resumes the sleeper. Both first remove the sleeper from
    /// `State.sleepers` under the lock, and only the one that finds the sleeper there resumes it. So each sleeper is resumed exactly once.
    private struct Sleeper {
        /// The number of the call of `sleep`. Calls are numbered in the order in which tasks began to sleep. Sleepers with the same
        /// deadline wake in this order.
        var id: UInt64
        /// The instant at which the task wakes.
        var deadline: Instant
        /// Resumes the task. The lock is never held while the task is resumed.
        var continuation: CheckedContinuation<Void, any Error>
    }

    /// The time and the sleepers.
    ///
    /// A task can be canceled before `park` has stored its continuation. The cancellation handler then adds the id of the call to
    /// `cancelled`. `park` finds the id there, removes it, and resumes the task with `CancellationError`.
    private struct State {
        /// The current instant, which never decreases.
        var now = Instant()
        /// The number of the latest call of ``ManualClock/sleep(until:tolerance:)``.
        var nextID: UInt64 = 0
        /// The sleeping tasks by the number of their call.
        var sleepers: [UInt64: Sleeper] = [:]
        /// The deadlines of all sleepers, and of some canceled ones.
        var deadlines = DeadlineHeap()
        /// The numbers of calls whose tasks were canceled before `park` stored them.
        var cancelled: Set<UInt64> = []
        /// The pending calls of ``ManualClock/waitForSleepers(_:)``, each with the number of sleepers for which it waits.
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

        /// Returns the sleeper that wakes next; `nil` if there is none. Removes the deadlines of canceled sleepers before it.
        mutating func earliest() -> Sleeper? {
            while let first = deadlines.first {
                if let sleeper = sleepers[first.id] { return sleeper }
                deadlines.removeFirst()
            }
            return nil
        }

        /// Removes a sleeper before its deadline.
        /// - Returns: The sleeper; `nil` if the sleeper isn't stored.
        mutating func remove(_ id: UInt64) -> Sleeper? {
            let sleeper = sleepers.removeValue(forKey: id)
            // Each deadline that is removed here belongs to another canceled sleeper, so a call is O(log n) on average.
            if deadlines.count > 2 * sleepers.count + 64 { deadlines.keep { [sleepers] in sleepers[$0] != nil } }
            return sleeper
        }

        /// Removes the sleepers whose deadlines have passed.
        /// - Returns: The sleepers in the order in which they wake.
        mutating func removeDue() -> [Sleeper] {
            var due: [Sleeper] = []
            while let sleeper = earliest(), sleeper.deadline <= now {
                sleepers[sleeper.id] = nil
                deadlines.removeFirst()
                due.append(sleeper)
            }
            return due
        }
    }

    /// The time and the sleepers. No code outside this file runs under the lock.
    private let state = Mutex(State())

    /// Creates a clock at its start.
    public init() {}

    /// The current instant.
    public var now: Instant { state.withLock(\.now) }
    /// One nanosecond.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// The number of tasks that sleep on the clock. Tasks that were woken or canceled don't count.
    public var sleeperCount: Int { state.withLock(\.sleepers.count) }

    /// The earliest deadline of all sleepers; `nil` if there are no sleepers.
    public var nextDeadline: Instant? { state.withLock { $0.earliest()?.deadline } }

    /// Sleeps until a deadline. If the deadline has passed, the method returns immediately.
    /// - Parameters:
    ///   - deadline: The instant at which the task wakes.
    ///   - tolerance: Ignored: the clock wakes tasks exactly.
    /// - Throws: `CancellationError` immediately when the task is canceled. A task that was canceled before the call gets this error even
    ///   if the deadline has passed.
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
                if let sleeper = state.remove(id) { return sleeper }
                state.cancelled.insert(id)
                return nil
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Stores a sleeper until its deadline. If enough tasks sleep now, the function also resumes the pending calls of
    /// ``waitForSleepers(_:)``.
    ///
    /// If the deadline has passed or the task was canceled, the function resumes the sleeper at once. Continuations are resumed outside the
    /// lock, because they may run code of the caller.
    /// - Parameter sleeper: The sleeper, which is not stored yet.
    private func park(_ sleeper: Sleeper) {
        enum Outcome { case parked([CheckedContinuation<Void, Never>]), due, cancelled }
        let outcome = state.withLock { state -> Outcome in
            if state.cancelled.remove(sleeper.id) != nil { return .cancelled }
            guard sleeper.deadline > state.now else { return .due }
            state.sleepers[sleeper.id] = sleeper
            state.deadlines.insert(.init(deadline: sleeper.deadline.offset, id: sleeper.id))
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

    /// Advances the clock and wakes the sleepers whose deadlines have passed, earliest first.
    ///
    /// The function doesn't wait for the tasks: they run later on their own executors. If a woken task sleeps again for a duration, the
    /// duration starts at the clock's time after the whole step. To observe several waits of one task, advance in smaller steps, or use
    /// ``SteppedExecutor/run(_:until:)``.
    /// - Parameter duration: The step.
    /// - Precondition: `duration` is not negative.
    public func advance(by duration: Duration) {
        precondition(duration >= .zero, "a manual clock does not go backwards (by \(duration))")
        let due = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            return state.removeDue()
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    /// Returns when at least `count` tasks sleep on the clock, so that a test can advance it without a race.
    ///
    /// The function has no timeout and ignores cancellation. If there are never enough sleeping tasks, the function never returns. Set a
    /// time limit for the test.
    /// - Parameter count: The number of tasks. Every task that sleeps on the clock counts, not only the tasks for which the test waits.
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

/// The deadlines of sleepers as a binary heap: the entry at place `n` comes before those at `2 * n + 1` and `2 * n + 2`.
private struct DeadlineHeap {
    /// The deadline of a sleeper, as the time since the clock's start, and the number of the sleeper.
    struct Entry {
        var deadline: Duration
        var id: UInt64

        /// Returns whether this sleeper wakes before another one.
        func comes(before other: Entry) -> Bool { deadline == other.deadline ? id < other.id : deadline < other.deadline }
    }

    private var entries: [Entry] = []

    /// The number of entries.
    var count: Int { entries.count }
    /// The entry of the sleeper that wakes next.
    var first: Entry? { entries.first }

    /// Adds an entry.
    mutating func insert(_ entry: Entry) {
        entries.append(entry)
        var place = entries.count - 1
        while place > 0 {
            let parent = (place - 1) / 2
            guard entry.comes(before: entries[parent]) else { break }
            entries[place] = entries[parent]
            place = parent
        }
        entries[place] = entry
    }

    /// Removes the first entry.
    mutating func removeFirst() {
        guard let last = entries.popLast(), !entries.isEmpty else { return }
        var place = 0
        while 2 * place + 1 < entries.count {
            var child = 2 * place + 1
            if child + 1 < entries.count, entries[child + 1].comes(before: entries[child]) { child += 1 }
            guard entries[child].comes(before: last) else { break }
            entries[place] = entries[child]
            place = child
        }
        entries[place] = last
    }

    /// Removes the entries of all other sleepers. O(n log n).
    /// - Parameter isKept: Returns whether the heap keeps the entry of the sleeper with a number.
    mutating func keep(_ isKept: (UInt64) -> Bool) {
        entries.removeAll { !isKept($0.id) }
        // A sorted array is a heap.
        entries.sort { $0.comes(before: $1) }
    }
}

/// An executor that runs tasks one job at a time on the thread that calls ``drain()``. When ``drain()`` returns, each task has ended or
/// waits for an event.
///
/// Together with a ``ManualClock``, the executor runs a simulation: ``run(_:until:)`` runs all jobs, advances the clock to the next
/// deadline, and repeats both steps. If a task waits for an event that never comes, ``drain()`` still returns. The test can then see that
/// the task has not ended, and the test doesn't hang.
///
/// ```swift
/// let clock = ManualClock()
/// let executor = SteppedExecutor()
/// let task = Task(executorPreference: executor) { try await clock.sleep(until: .init(offset: .seconds(60))) }
/// executor.run(clock, until: .seconds(60))
/// ```
///
/// If the tasks use a random number generator with a fixed seed, each run has the same order of events. The order is fixed only for tasks
/// that prefer this executor. Actors with their own executor and real I/O run on other threads, in any order.
///
/// The executor doesn't create a thread, so no job runs between two calls of ``drain()``. Tasks stay suspended if a test never calls
/// ``drain()``.
public final class SteppedExecutor: TaskExecutor {
    /// All jobs since the queue was last empty, and the index of the next job. The executor empties the array only after it has taken all
    /// jobs, so taking a job is O(1). The memory of the array therefore grows with the number of jobs in one call of ``drain()``.
    private let jobs = Mutex<(all: [UnownedJob], next: Int)>(([], 0))

    /// Creates an executor without jobs.
    public init() {}

    /// Adds a job that ``drain()`` will run. The Swift runtime calls this function from any thread.
    /// - Parameter job: The next part of a task, up to its next suspension.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.all.append(job) }
    }

    /// Runs jobs, including the jobs that they enqueue, until none is left. Each task of the executor has then ended or waits.
    ///
    /// Call this function from one thread at a time. The function returns while tasks wait for a clock, a stream or an actor elsewhere. It
    /// doesn't return if tasks enqueue jobs forever, for example by calling `Task.yield()` in a loop.
    public func drain() {
        while let job = takeJob() { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    /// Runs jobs, and advances the clock from deadline to deadline.
    ///
    /// The function takes no real time. Tasks with a deadline after `end` stay asleep. Cancel these tasks at the end of the test.
    /// - Parameters:
    ///   - clock: The clock on which the tasks sleep.
    ///   - end: The latest deadline to run, as a time since the clock's start. The clock stays at the last deadline that was run, and
    ///     doesn't advance to `end`.
    public func run(_ clock: ManualClock, until end: Duration) {
        drain()
        while let next = clock.nextDeadline, next.offset <= end {
            clock.advance(by: clock.now.duration(to: next))
            drain()
        }
    }

    /// Removes the next job; `nil` if there is none.
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

/// A clock that runs faster than real time by a factor. For example, with a factor of 4, a test with real sockets that waits for 30 s on
/// this clock takes 7.5 s.
///
/// Use ``ManualClock`` if the test has no real sockets: ``ManualClock`` takes no time and has no races. The factor also multiplies the
/// delays of a busy test machine. Therefore use a small factor, such as 4, and long deadlines.
///
/// ```swift
/// let environment = ClientEnvironment(clock: MonotonicClock(QuickClock(factor: 4)))
/// ```
public struct QuickClock: Clock {
    /// An instant, as the time since the clock's start, on this clock.
    public typealias Instant = ManualClock.Instant

    /// The factor by which the clock is faster than real time; at least 1.
    public let factor: Int
    /// The real time of the clock's start.
    private let start = ContinuousClock.now

    /// Starts a clock at zero.
    /// - Parameter factor: The number of seconds on this clock per second of real time.
    /// - Precondition: `factor` is positive.
    public init(factor: Int) {
        precondition(factor > 0, "factor must be positive (is \(factor))")
        self.factor = factor
    }

    /// The current instant.
    public var now: Instant { Instant(offset: start.duration(to: .now) * factor) }
    /// The duration on this clock that corresponds to one nanosecond of real time.
    public var minimumResolution: Duration { .nanoseconds(factor) }

    /// Sleeps until a deadline.
    /// - Parameters:
    ///   - deadline: The instant on this clock.
    ///   - tolerance: The tolerance in real time, which is passed to `ContinuousClock` without the factor.
    /// - Throws: `CancellationError` immediately when the task is canceled.
    public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await ContinuousClock().sleep(until: start.advanced(by: deadline.offset / factor), tolerance: tolerance)
    }
}
