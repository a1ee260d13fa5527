import Synchronization

/// The first of several outcomes.
final class FirstOutcome<Value: Sendable>: Sendable {
    private typealias Waiter = CheckedContinuation<Value, any Error>

    private enum State {
        /// May be claimed.
        case open(Waiter?)
        /// Claimed by one who will tell.
        case claimed(Waiter?)
        /// Told before anybody waited.
        case told(Result<Value, any Error>)
        case done
    }

    private let state = Mutex(State.open(nil))

    /// Claims the outcome; who gets it must ``tell(_:)``.
    func claim() -> Bool {
        state.withLock { state in
            guard case .open(let waiter) = state else { return false }
            state = .claimed(waiter)
            return true
        }
    }

    /// Tells the claimed outcome.
    func complete(_ result: Result<Value, any Error>) {
        let waiter = state.withLock { state -> Waiter? in
            guard case .claimed(let waiter) = state else { return nil }
            state = waiter == nil ? .told(result) : .done
            return waiter
        }
        waiter?.resume(with: result)
    }

    /// Waits for the outcome. Called once.
    func value() async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let result = state.withLock { state -> Result<Value, any Error>? in
                switch state {
                case .open: state = .open(continuation)
                case .claimed: state = .claimed(continuation)
                case .told(let result):
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
