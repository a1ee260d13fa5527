/// Something that ends waiting at deadlines.
protocol DeadlineSource: Sendable {
    /// Calls an action when a time has passed, unless it is taken out before.
    /// - Returns: The number by which it is taken out.
    func add(after time: Duration, _ action: @escaping @Sendable () -> Void) -> UInt64

    /// Takes a deadline out.
    /// - Returns: Whether it had not come yet.
    @discardableResult func remove(_ id: UInt64) -> Bool

    /// Runs an operation in a task of its own, and waits no longer than a time for it.
    ///
    /// An operation that is late is cancelled, and left to itself: waiting for one that does not listen would be no deadline.
    /// - Throws: `expired` if the time is over; what the operation throws is passed on.
    func run<Value: Sendable>(
        within time: Duration,
        throwing expired: any Error,
        _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value
}

extension Deadlines: DeadlineSource {
    func run<Value: Sendable>(
        within time: Duration,
        throwing expired: any Error,
        _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let outcome = FirstOutcome<Value>()
        let task = Task(executorPreference: EventLoopExecutor.current) {
            let result = await Result(awaiting: operation)
            if outcome.claim() { outcome.tell(result) }
        }
        let id = add(after: time) {
            // Cancelled before it is told: an operation that reads a request's body must have been stopped when the engine goes on.
            guard outcome.claim() else { return }
            task.cancel()
            outcome.tell(.failure(expired))
        }
        defer { remove(id) }
        return try await withTaskCancellationHandler {
            try await outcome.value()
        } onCancel: {
            task.cancel()
        }
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
