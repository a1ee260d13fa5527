import Synchronization

/// A result that several tasks compete to set. The first task that claims the result completes it. Later claims have no effect.
///
/// Claiming and completing are separate steps. Between the two steps, the task that claimed the result can act before the waiter continues.
/// For example, it can cancel another task. Each outcome has one waiter, which is resumed exactly once. Any thread can call the methods.
final class FirstOutcome<Value: Sendable>: Sendable {
    private typealias Waiter = CheckedContinuation<Value, any Error>

    private enum State {
        /// The outcome can be claimed.
        case open(Waiter?)
        /// A task has claimed the outcome and will complete it.
        case claimed(Waiter?)
        /// The outcome was completed before the waiter called ``value()``.
        case finished(Result<Value, any Error>)
        case done
    }

    private let state = Mutex(State.open(nil))

    /// Claims the outcome, if no other task has claimed it.
    /// - Returns: Whether this call claimed the outcome. If `true`, the caller must call ``complete(_:)``, because otherwise the waiter is
    ///   never resumed.
    func claim() -> Bool {
        state.withLock { state in
            guard case .open(let waiter) = state else { return false }
            state = .claimed(waiter)
            return true
        }
    }

    /// Completes the claimed outcome and resumes its waiter. Only the caller that claimed the outcome may call this method.
    /// - Parameter result: The result for the waiter.
    func complete(_ result: Result<Value, any Error>) {
        let waiter = state.withLock { state -> Waiter? in
            guard case .claimed(let waiter) = state else { return nil }
            state = waiter == nil ? .finished(result) : .done
            return waiter
        }
        waiter?.resume(with: result)
    }

    /// Waits for the outcome. This method may be called only once.
    func value() async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let result = state.withLock { state -> Result<Value, any Error>? in
                switch state {
                case .open: state = .open(continuation)
                case .claimed: state = .claimed(continuation)
                case .finished(let result):
                    state = .done
                    return result
                case .done: preconditionFailure("an outcome is waited for once")
                }
                return nil
            }
            if let result { continuation.resume(with: result) }
        }
    }
}
