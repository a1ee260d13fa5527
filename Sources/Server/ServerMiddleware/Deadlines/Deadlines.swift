import NIOCore
import Synchronization
import Timekeeping

/// Runs actions and cancels operations at deadlines. A single task sleeps until the next deadline, even if thousands of deadlines are
/// pending.
///
/// A separate sleep for each request would be simpler. But after a sleep is canceled, the runtime keeps the timer of this sleep (about 700
/// bytes) until its planned end. With thousands of requests per second and deadlines of 30 s, these timers take 100 MB.
///
/// The class wraps its clock in a `MonotonicClock`, so it is not generic over the clock. It stores no `any Clock`, because each request
/// adds a deadline, and calls through `any` are slower.
///
/// A mutex protects the queue and the watching task, which is the task that sleeps. Actions run without the lock, so an action can add or
/// remove deadlines.
final class Deadlines: Sendable {
    /// The action of a deadline. The action runs on the watching task, so it must not block.
    typealias Action = @Sendable () -> Void

    private struct State {
        var queue = DeadlineQueue<Duration, Action>()
        /// The task that sleeps, its number, and the time until which it sleeps; `nil` if there are no deadlines.
        var watch: (task: Task<Void, Never>, number: UInt64, until: Duration)?
        /// The number of the latest watching task.
        var lastNumber: UInt64 = 0
    }

    private let clock: MonotonicClock
    private let state = Mutex(State())

    /// Creates a queue without deadlines. No task runs until the first deadline is added.
    /// - Parameter clock: A monotonic clock.
    init<C: Clock>(clock: C) where C.Duration == Duration {
        self.clock = MonotonicClock(clock)
    }

    /// The number of pending deadlines.
    var count: Int { state.withLock(\.queue.count) }

    /// Calls an action after the given time. If the caller removes the deadline first, the action is not called.
    /// - Parameters:
    ///   - time: The time from now. If the time is not positive, the action is called as soon as the watching task runs.
    ///   - action: The action. The action runs on the watching task, so it must not block.
    /// - Returns: The id that removes the deadline.
    /// - Complexity: O(1) if no pending deadline is later than the new deadline, such as when all requests have the same limit. Otherwise
    ///   O(number of later deadlines).
    func add(after time: Duration, _ action: @escaping Action) -> UInt64 {
        let instant = clock.now + time
        return state.withLock { state in
            if state.watch.map({ instant < $0.until }) ?? true {
                state.watch?.task.cancel()
                state.lastNumber += 1
                state.watch = (watching(until: instant, number: state.lastNumber), state.lastNumber, instant)
            }
            return state.queue.add(instant, action)
        }
    }

    /// Removes a deadline. If the method returns `true`, the action is never called.
    /// - Parameter id: The id that ``add(after:_:)`` returned.
    /// - Returns: Whether the deadline was still pending.
    /// - Complexity: O(1) amortized.
    @discardableResult func remove(_ id: UInt64) -> Bool {
        state.withLock { $0.queue.remove(id) } != nil
    }

    /// Suspends the caller for the given time. The method rounds the end of the pause up to a multiple of 10 ms, so that pauses with nearly
    /// the same end wake the processor only once.
    ///
    /// - Parameter time: The time from now.
    /// - Throws: `CancellationError` if the task is canceled. The method then returns immediately.
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

    /// Runs an operation in a new task, and waits for its result until the deadline at the latest.
    ///
    /// If the operation is late, the method cancels the operation and returns without waiting for it. An operation that ignores its
    /// cancellation therefore can't delay the caller, but the operation continues to run.
    /// - Parameters:
    ///   - time: The time for the operation.
    ///   - expired: The error that the method throws if the time is over.
    ///   - operation: The operation. If the caller runs on the event loop of a connection, the operation also runs on this event loop.
    /// - Returns: The result of the operation.
    /// - Throws: `expired` if the time is over; errors of the operation are rethrown. If the caller is canceled, the method cancels the
    ///   operation, and still waits for its result or error.
    func run<Value: Sendable>(
        within time: Duration,
        throwing expired: @autoclosure @escaping @Sendable () -> any Error,
        _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let outcome = FirstOutcome<Value>()
        let running = RunningTask()
        // The caller must not wait for a late operation, so the operation can't be a child task.
        let task = Task(executorPreference: EventLoopExecutor.current) {
            let result = await RunningTask.$current.withValue(running) { await Result(awaiting: operation) }
            if outcome.claim() { outcome.complete(result) }
        }
        running.started(task)
        let id = add(after: time) {
            // Cancels the operation before the caller resumes. When the caller has resumed, Hummingbird continues with the connection, so
            // the operation must no longer read the request's body.
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

    /// Runs one part of an operation with a shorter deadline than the whole operation. If the part takes too long, the method cancels the
    /// whole operation.
    ///
    /// Call this method only within an operation that ``run(within:throwing:_:)`` runs. This method creates no task, and it always waits
    /// until the part ends. The part must therefore end when its task is canceled.
    /// - Parameters:
    ///   - time: The time for the part.
    ///   - operation: The task of the whole operation.
    ///   - expired: The error that the method throws if the time is over.
    ///   - part: The part, which runs in the caller's task.
    /// - Returns: The result of the part.
    /// - Throws: `expired` if the time is over; errors of the part are rethrown.
    func run<Value>(
        within time: Duration,
        of operation: RunningTask,
        throwing expired: @autoclosure () -> any Error,
        _ part: () async throws -> Value
    ) async throws -> Value {
        let id = add(after: time) { operation.cancel() }
        let result = await Result(awaiting: part)
        // If the deadline passed just when the part ended, the operation is already canceled. Its later steps would fail, so the method
        // throws now.
        guard remove(id) else { throw expired() }
        return try result.get()
    }

    /// Starts the task that sleeps until the next deadline. After each deadline, the task sleeps again. The task ends when no deadlines are
    /// left, or when a task with a higher number replaces it. The task serves all requests, so it inherits nothing from the request that
    /// starts it.
    private func watching(until first: Duration, number: UInt64) -> Task<Void, Never> {
        Task.detached { [self] in
            var next: Duration? = first
            while let instant = next {
                try? await clock.sleep(until: instant)
                guard !Task.isCancelled else { return }
                next = fire(number)
            }
        }
    }

    /// Calls the actions that are due.
    /// - Parameter number: The number of the watching task that calls this method.
    /// - Returns: The next deadline; `nil` if there is none, or if another task has replaced this one. The calling task then ends.
    private func fire(_ number: UInt64) -> Duration? {
        let now = clock.now
        let (due, next) = state.withLock { state -> ([Action], Duration?) in
            // Between its sleep and this line, the task can be replaced. The new task has the earliest deadline, and calls all actions. If
            // this task set `watch` to nil, the next deadline would start a further task beside the new one.
            guard state.watch?.number == number else { return ([], nil) }
            let due = state.queue.due(at: now)
            let next = state.queue.next
            if let next { state.watch?.until = next } else { state.watch = nil }
            return (due, next)
        }
        for action in due { action() }
        return next
    }
}

/// The task of an operation that has a deadline. A part of the operation can have a shorter deadline, and can cancel the task when this
/// deadline passes.
///
/// This object exists before the task, because the task reads the object from the task-local ``current``. If a part passes its deadline
/// before ``started(_:)`` is called, the object cancels the task in ``started(_:)``.
final class RunningTask: Sendable {
    /// The task of the operation that the current code is part of.
    @TaskLocal static var current: RunningTask?

    private enum State {
        case starting
        case running(Task<Void, Never>)
        case canceled
    }

    private let state = Mutex(State.starting)

    /// Sets the task. If a part has already exceeded its deadline, cancels the task.
    func started(_ task: Task<Void, Never>) {
        let isCanceled = state.withLock { state in
            if case .canceled = state { return true }
            state = .running(task)
            return false
        }
        if isCanceled { task.cancel() }
    }

    /// Cancels the task, even if the task has not started yet.
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
    /// Runs a closure, and stores its result or the error that it throws.
    fileprivate init(awaiting body: () async throws -> Success) async {
        do {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}

/// A queue of actions in the order of their deadlines. Adding an action is O(1) if no pending deadline is later.
///
/// The queue consists of a sorted array and a dictionary. When an action is removed, the queue removes only the entry in the dictionary, so
/// it needn't search the array. It removes the entry in the array later.
struct DeadlineQueue<Instant: Comparable, Action> {
    private var actions: [UInt64: Action] = [:]
    /// The deadlines, earliest first. The entry of a removed action stays until it is the first entry, or until more than half of all
    /// entries belong to removed actions. The entries before `start` are past, and stay until they are half of all entries.
    private var order: [(instant: Instant, id: UInt64)] = []
    private var start = 0
    private var lastID: UInt64 = 0

    /// The number of pending deadlines.
    var count: Int { actions.count }
    /// The number of entries in memory, including those of removed and past deadlines.
    var storedEntries: Int { order.count }

    /// Adds a deadline.
    /// - Returns: The id with which ``remove(_:)`` removes the deadline.
    mutating func add(_ instant: Instant, _ action: Action) -> UInt64 {
        lastID += 1
        actions[lastID] = action
        var place = order.endIndex
        while place > start, order[place - 1].instant > instant { place -= 1 }
        order.insert((instant, lastID), at: place)
        return lastID
    }

    /// Removes a deadline.
    /// - Returns: The action of the deadline; `nil` if the deadline has come or was removed before.
    mutating func remove(_ id: UInt64) -> Action? {
        let action = actions.removeValue(forKey: id)
        if order.count - start > 2 * actions.count + 32 {
            order = order[start...].filter { actions[$0.id] != nil }
            start = 0
        }
        return action
    }

    /// The earliest pending deadline; `nil` if there is none.
    var next: Instant? {
        order[start...].first { actions[$0.id] != nil }?.instant
    }

    /// Removes the deadlines that are due.
    /// - Returns: The actions, in the order of the deadlines.
    mutating func due(at now: Instant) -> [Action] {
        var due: [Action] = []
        while start < order.endIndex, order[start].instant <= now || actions[order[start].id] == nil {
            if let action = actions.removeValue(forKey: order[start].id) { due.append(action) }
            start += 1
        }
        // If most deadlines come, `remove(_:)` finds too few removed actions to free the past entries.
        if start > 32, 2 * start >= order.count {
            order.removeFirst(start)
            start = 0
        }
        return due
    }
}

/// An executor that runs the tasks of a connection on the event loop of this connection. All work for a request then stays on one thread.
///
/// The global executor would move each task to another thread and back, which costs more time than most requests take.
final class EventLoopExecutor: TaskExecutor {
    /// The executor of the connection whose request the current task handles. Tasks that this task starts also use this executor.
    @TaskLocal static var current: EventLoopExecutor?

    private let eventLoop: any EventLoop

    /// Creates the executor of a connection.
    init(_ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    /// Runs a job on the event loop.
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
