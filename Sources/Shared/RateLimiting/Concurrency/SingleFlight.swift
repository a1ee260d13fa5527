import Synchronization

/// Lets many callers share one operation. The first caller starts the operation, and all callers get its result.
///
/// The operation continues even if the first caller is canceled, because a result such as a rotated token must not be lost. By default,
/// `run` throws `CancellationError` immediately for a canceled caller. The other callers still get the result.
package final class SingleFlight<Value: Sendable>: Sendable {
    /// The result of an operation, which all callers of the operation get.
    package typealias Outcome = Result<Value, any Error>

    /// The waiting callers and the running operation. One lock protects both of them.
    private struct State {
        var waiters: [UInt64: CheckedContinuation<Outcome?, Never>] = [:]
        /// The callers that were canceled before they started to wait.
        var left: Set<UInt64> = []
        var nextID: UInt64 = 0
        /// The number of the running operation.
        var flight: UInt64?
        var flights: UInt64 = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// The number of waiting callers.
    package var waiting: Int { state.withLock(\.waiters.count) }
    /// Whether no operation is running, no caller waits, and no canceled caller is recorded.
    package var isIdle: Bool { state.withLock { $0.waiters.isEmpty && $0.left.isEmpty && $0.flight == nil } }

    /// The result of the closure that decides whether a caller joins the operation. The closure runs while the lock of this type is held.
    package enum Entrance {
        /// The result exists already, so no operation is started.
        case ready(Value)
        /// The operation can't succeed, so ``run(isCancellable:unless:landing:_:)`` throws the error.
        case hopeless(any Error)
        /// Join the operation, or start it.
        case join
    }

    /// The next step of a caller after the lock is released: resume with an outcome, start the operation, or wait for the running
    /// operation. The outcome is `nil` if the caller was canceled.
    private enum Step { case resume(Outcome?), start(UInt64), parked }

    /// Joins the running operation, or starts one.
    /// - Parameters:
    ///   - isCancellable: With `true`, the method throws `CancellationError` as soon as the caller's task is canceled. With `false`, the
    ///     method ignores the cancellation and waits for the result.
    ///   - entrance: A closure that is called under the lock before the caller joins. The closure decides whether the caller joins, gets
    ///     an existing result, or throws an error.
    ///   - landing: A closure that is called once under the lock, with the outcome of the operation. Callers that enter before the call
    ///     join the operation, and callers that enter after it start a new one. Use the closure to change state that `entrance` reads.
    ///   - operation: The operation that runs once for all callers.
    /// - Returns: The result, and `isShared`, which is `false` only for the caller that started the operation.
    /// - Throws: The error of the operation or of ``Entrance/hopeless(_:)``; `CancellationError` if `isCancellable` is `true` and the
    ///   caller's task is canceled.
    package func run(
        isCancellable: Bool = true,
        unless entrance: @Sendable () -> Entrance,
        landing: @escaping @Sendable (Outcome) -> Void = { _ in },
        _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> (value: Value, isShared: Bool) {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let shared = Atomic<Bool>(true)
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                enter(id, continuation, unless: entrance, startedBy: shared, landing, operation)
            }
        } onCancel: {
            guard isCancellable else { return }
            let waiter = state.withLock { state -> CheckedContinuation<Outcome?, Never>? in
                if let waiter = state.waiters.removeValue(forKey: id) { return waiter }
                state.left.insert(id)
                return nil
            }
            waiter?.resume(returning: nil)
        }
        state.withLock { _ = $0.left.remove(id) }
        guard let outcome else { throw CancellationError() }
        return (try outcome.get(), shared.load(ordering: .relaxed))
    }

    /// Decides under the lock whether a caller gets a result at once, waits for the running operation, or starts the operation.
    private func enter(
        _ id: UInt64,
        _ continuation: CheckedContinuation<Outcome?, Never>,
        unless entrance: () -> Entrance,
        startedBy shared: borrowing Atomic<Bool>,
        _ landing: @escaping @Sendable (Outcome) -> Void,
        _ operation: @escaping @Sendable () async throws -> Value
    ) {
        let step = state.withLock { state -> Step in
            if state.left.remove(id) != nil { return .resume(nil) }
            switch entrance() {
            case .ready(let value): return .resume(.success(value))
            case .hopeless(let error): return .resume(.failure(error))
            case .join: break
            }
            state.waiters[id] = continuation
            guard state.flight == nil else { return .parked }
            state.flights += 1
            state.flight = state.flights
            return .start(state.flights)
        }
        switch step {
        case .resume(let outcome): continuation.resume(returning: outcome)
        case .parked: break
        case .start(let flight):
            shared.store(false, ordering: .relaxed)
            // This task has no parent, because it must outlive the caller that started it.
            Task {
                let outcome: Outcome
                do { outcome = .success(try await operation()) } catch { outcome = .failure(error) }
                land(flight, outcome, landing)
            }
        }
    }

    /// Passes the outcome of an operation to all of its callers.
    private func land(_ flight: UInt64, _ outcome: Outcome, _ landing: (Outcome) -> Void) {
        let waiters = state.withLock { state in
            guard state.flight == flight else { return [CheckedContinuation<Outcome?, Never>]() }
            landing(outcome)
            state.flight = nil
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(returning: outcome) }
    }
}
