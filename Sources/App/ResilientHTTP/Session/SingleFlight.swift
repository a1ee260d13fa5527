import Synchronization

/// Lets many callers share one operation: the first one starts it, all get its result.
///
/// The operation goes on when the caller who started it is cancelled: what it gets, such as a rotated token, must not be lost.
/// A cancelled caller leaves at once; the others hear nothing of it.
final class SingleFlight<Value: Sendable>: Sendable {
    typealias Outcome = Result<Value, any Error>

    private struct State {
        var waiters: [UInt64: CheckedContinuation<Outcome?, Never>] = [:]
        /// Those who were cancelled before they were parked.
        var left: Set<UInt64> = []
        var nextID: UInt64 = 0
        /// The number of the flight that is under way.
        var flight: UInt64?
        var flights: UInt64 = 0
    }

    private let state = Mutex(State())

    /// How many callers wait.
    var waiting: Int { state.withLock(\.waiters.count) }
    /// Whether nothing is kept of any caller.
    var isIdle: Bool { state.withLock { $0.waiters.isEmpty && $0.left.isEmpty && $0.flight == nil } }

    /// What a caller is told to do, decided under the caller's own lock and this one.
    enum Entrance {
        /// The result is there already; nothing is started.
        case ready(Value)
        /// There will be no result.
        case hopeless(any Error)
        /// Join the operation, or start it.
        case join
    }

    private enum Step { case answer(Outcome?), start(UInt64), parked }

    /// Joins the operation that is under way, or starts one.
    /// - Parameters:
    ///   - isCancellable: Whether a caller leaves as soon as its task is canceled.
    ///   - entrance: Asked under the lock, before joining, whether the result is there already.
    ///   - operation: What is run once for all.
    /// - Returns: The result, and whether somebody else had started the operation.
    /// - Throws: The operation's error; `CancellationError` as soon as the caller's task is cancelled.
    func run(
        isCancellable: Bool = true,
        unless entrance: @Sendable () -> Entrance,
        _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> (value: Value, isShared: Bool) {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let shared = Atomic<Bool>(true)
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                enter(id, continuation, unless: entrance, startedBy: shared, operation)
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

    private func enter(
        _ id: UInt64,
        _ continuation: CheckedContinuation<Outcome?, Never>,
        unless entrance: () -> Entrance,
        startedBy shared: borrowing Atomic<Bool>,
        _ operation: @escaping @Sendable () async throws -> Value
    ) {
        let step = state.withLock { state -> Step in
            if state.left.remove(id) != nil { return .answer(nil) }
            switch entrance() {
            case .ready(let value): return .answer(.success(value))
            case .hopeless(let error): return .answer(.failure(error))
            case .join: break
            }
            state.waiters[id] = continuation
            guard state.flight == nil else { return .parked }
            state.flights += 1
            state.flight = state.flights
            return .start(state.flights)
        }
        switch step {
        case .answer(let outcome): continuation.resume(returning: outcome)
        case .parked: break
        case .start(let flight):
            shared.store(false, ordering: .relaxed)
            // The one task in the library without a parent: it must outlive whoever started it.
            Task {
                let outcome: Outcome
                do { outcome = .success(try await operation()) } catch { outcome = .failure(error) }
                land(flight, outcome)
            }
        }
    }

    private func land(_ flight: UInt64, _ outcome: Outcome) {
        let waiters = state.withLock { state in
            guard state.flight == flight else { return [CheckedContinuation<Outcome?, Never>]() }
            state.flight = nil
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(returning: outcome) }
    }
}
