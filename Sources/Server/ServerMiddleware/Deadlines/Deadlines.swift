import NIOCore
import Synchronization
import Timekeeping

/// Ends waiting at deadlines. However many there are, one task sleeps: until the next of them.
///
/// A sleep for each request would be simpler, but a canceled sleep stays in the runtime's timer until its time has come, with some
/// 700 bytes: at thousands of requests a second half a minute's requests are a hundred megabytes.
///
/// The class is not generic over its clock: every request adds a deadline, and the compiler cannot specialize what is called through an
/// existential.
final class Deadlines: Sendable {
    typealias Action = @Sendable () -> Void

    private struct State {
        var queue = DeadlineQueue<Duration, Action>()
        /// The task that sleeps, and until when.
        var watch: (task: Task<Void, Never>, until: Duration)?
    }

    private let clock: MonotonicClock
    private let state = Mutex(State())

    init<C: Clock>(clock: C) where C.Duration == Duration {
        self.clock = MonotonicClock(clock)
    }

    /// How many deadlines are pending.
    var count: Int { state.withLock(\.queue.count) }

    /// Calls an action when a time has passed, unless it is removed before.
    /// - Returns: The number by which it is removed.
    func add(after time: Duration, _ action: @escaping Action) -> UInt64 {
        let instant = clock.now + time
        return state.withLock { state in
            if state.watch.map({ instant < $0.until }) ?? true {
                state.watch?.task.cancel()
                state.watch = (watching(until: instant), instant)
            }
            return state.queue.add(instant, action)
        }
    }

    /// Removes a deadline.
    /// - Returns: Whether it had not come yet.
    @discardableResult func remove(_ id: UInt64) -> Bool {
        state.withLock { $0.queue.remove(id) } != nil
    }

    /// Waits for a time, rounded up to 10 ms: pauses that end together wake the processor once.
    func pause(for time: Duration) async throws {
        let step = Duration.milliseconds(10)
        let now = clock.now
        var end = step * Int((now + time) / step)
        if end < now + time { end += step }
        let outcome = FirstOutcome<Void>()
        let id = add(after: end - now) {
            if outcome.claim() { outcome.complete(.success(())) }
        }
        defer { remove(id) }
        try await withTaskCancellationHandler {
            try await outcome.value()
        } onCancel: {
            if outcome.claim() { outcome.complete(.failure(CancellationError())) }
        }
    }

    /// Runs an operation in its own task, and waits no longer than a time for it.
    ///
    /// An operation that is late is canceled, and not waited for: one that ignores its cancellation would make this no deadline.
    /// - Throws: `expired` if the time is over; errors of the operation are passed on.
    func run<Value: Sendable>(
        within time: Duration,
        throwing expired: @autoclosure @escaping @Sendable () -> any Error,
        _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let outcome = FirstOutcome<Value>()
        let running = RunningTask()
        let task = Task(executorPreference: EventLoopExecutor.current) {
            let result = await RunningTask.$current.withValue(running) { await Result(awaiting: operation) }
            if outcome.claim() { outcome.complete(result) }
        }
        running.started(task)
        let id = add(after: time) {
            // Canceled before the caller is resumed: an operation that reads a request's body must have been stopped when the engine goes on.
            guard outcome.claim() else { return }
            task.cancel()
            outcome.complete(.failure(expired()))
        }
        defer { remove(id) }
        return try await withTaskCancellationHandler {
            try await outcome.value()
        } onCancel: {
            task.cancel()
        }
    }

    /// Runs a part of an operation that ``run(within:throwing:_:)`` runs, and cancels the whole operation when the part takes longer than a time.
    ///
    /// This takes no second task. The part must end when its task is canceled.
    /// - Throws: `expired` if the time is over; errors of the part are passed on.
    func run<Value>(
        within time: Duration,
        of operation: RunningTask,
        throwing expired: @autoclosure () -> any Error,
        _ part: () async throws -> Value
    ) async throws -> Value {
        let id = add(after: time) { operation.cancel() }
        let result = await Result(awaiting: part)
        // If the deadline came at the last moment, the operation is canceled: nothing that follows could be relied on.
        guard remove(id) else { throw expired() }
        return try result.get()
    }

    private func watching(until first: Duration) -> Task<Void, Never> {
        Task.detached { [self] in
            var next: Duration? = first
            while let instant = next {
                try? await clock.sleep(until: instant)
                guard !Task.isCancelled else { return }
                next = fire()
            }
        }
    }

    /// Calls what is due.
    /// - Returns: The next deadline; without one the watch has ended.
    private func fire() -> Duration? {
        let now = clock.now
        let (due, next) = state.withLock { state in
            let due = state.queue.due(at: now)
            let next = state.queue.next
            if let next { state.watch?.until = next } else { state.watch = nil }
            return (due, next)
        }
        for action in due { action() }
        return next
    }
}

/// The task of an operation that has a deadline, for parts of it that have shorter ones.
final class RunningTask: Sendable {
    /// The task of the operation that the current task belongs to.
    @TaskLocal static var current: RunningTask?

    private enum State {
        case starting
        case running(Task<Void, Never>)
        case canceled
    }

    private let state = Mutex(State.starting)

    func started(_ task: Task<Void, Never>) {
        let isCanceled = state.withLock { state in
            if case .canceled = state { return true }
            state = .running(task)
            return false
        }
        if isCanceled { task.cancel() }
    }

    func cancel() {
        let task = state.withLock { state -> Task<Void, Never>? in
            defer { state = .canceled }
            guard case .running(let task) = state else { return nil }
            return task
        }
        task?.cancel()
    }
}

extension Result where Failure == any Error {
    fileprivate init(awaiting body: () async throws -> Success) async {
        do {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}

/// Deadlines in the order in which they come, each with an action. O(1) for deadlines that are added in their order.
struct DeadlineQueue<Instant: Comparable, Action> {
    private var actions: [UInt64: Action] = [:]
    /// Ascending. Places of actions that were taken out stay until they come first, or are more than half of all.
    private var order: [(instant: Instant, id: UInt64)] = []
    private var start = 0
    private var lastID: UInt64 = 0

    /// How many deadlines are waited for.
    var count: Int { actions.count }

    /// Adds a deadline.
    /// - Returns: The number by which it is taken out.
    mutating func add(_ instant: Instant, _ action: Action) -> UInt64 {
        lastID += 1
        actions[lastID] = action
        var place = order.endIndex
        while place > start, order[place - 1].instant > instant { place -= 1 }
        order.insert((instant, lastID), at: place)
        return lastID
    }

    /// Takes a deadline out.
    /// - Returns: Its action, or `nil` if it has come or was taken out before.
    mutating func remove(_ id: UInt64) -> Action? {
        let action = actions.removeValue(forKey: id)
        if order.count - start > 2 * actions.count + 32 {
            order = order[start...].filter { actions[$0.id] != nil }
            start = 0
        }
        return action
    }

    /// The next deadline.
    var next: Instant? {
        order[start...].first { actions[$0.id] != nil }?.instant
    }

    /// Takes out what is due.
    /// - Returns: The actions, in their order.
    mutating func due(at now: Instant) -> [Action] {
        var due: [Action] = []
        while start < order.endIndex, order[start].instant <= now || actions[order[start].id] == nil {
            if let action = actions.removeValue(forKey: order[start].id) { due.append(action) }
            start += 1
        }
        return due
    }
}

/// Runs the tasks of a connection on its event loop: a request that waits for nothing is read, answered and written by one thread.
///
/// The global executor would take each of them to a thread of its own and back, which costs more than most answers do.
final class EventLoopExecutor: TaskExecutor {
    /// The executor of the connection that the current task answers; tasks that it starts ask for it.
    @TaskLocal static var current: EventLoopExecutor?

    private let eventLoop: any EventLoop

    init(_ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
