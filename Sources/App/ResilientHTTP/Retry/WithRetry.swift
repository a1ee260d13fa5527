public import ErrorContract
import Logging
import Timekeeping

/// Repeats any operation until a deadline. Before each retry, the function waits for the delay that the error contains, or for a backoff
/// with full jitter.
///
/// Use this function for operations that are not requests of an `APIClient`, because an `APIClient` repeats its requests itself. The
/// function converts each error to an `APIError`, and repeats the operation if this error is retryable. A failed attempt may have had an
/// effect, so pass only operations that are safe to run twice. The function has no retry budget, so many concurrent callers can multiply
/// the load.
/// - Parameters:
///   - policy: The number of retries, and the delays before them.
///   - timeout: The time from the call to its deadline. If a delay would end after the deadline, the function throws at once. An attempt
///     may end after the deadline.
///   - context: The name of the part of the app that makes the call. The log and the error contain this name.
///   - environment: The clock, randomness and logger. The function logs each failed attempt at debug level.
///   - isolation: The actor that the operation runs on; the caller's actor by default.
///   - operation: The operation.
/// - Returns: The value of the first attempt that succeeds.
/// - Throws: The error of the last attempt, with the number of attempts. If the task is canceled during a delay, the function throws an
///   error of the kind `cancelled` at once. If the task is canceled during an attempt, the function throws when the operation throws.
public func withRetry<Value>(
    _ policy: RetryPolicy = RetryPolicy(),
    timeout: Duration = .seconds(30),
    context: String? = nil,
    environment: ClientEnvironment = ClientEnvironment(),
    isolation: isolated (any Actor)? = #isolation,
    _ operation: () async throws -> sending Value
) async throws(APIError) -> sending Value {
    let deadline = environment.clock.now + timeout
    var retries = 0
    while true {
        var failure: APIError
        do {
            return try await operation()
        } catch {
            failure = APIError(error, isSafeToRepeat: true, context: context)
            failure.attempts = retries + 1
        }
        let attempt = FailedAttempt(
            error: failure,
            retries: retries,
            isSafeToRepeat: true,
            timeLeft: max(.zero, deadline - environment.clock.now)
        )
        let decision = policy.decide(attempt, chance: environment.chance)
        environment.logger?.debug(
            "Attempt failed",
            metadata: [
                "context": "\(context ?? "")", "attempt": "\(retries + 1)", "code": "\(failure.code)",
                "next": "\(decision.inWords)",
            ]
        )
        guard case .wait(let wait, _) = decision else { throw failure }
        do {
            try await environment.clock.sleep(until: environment.clock.now + wait)
        } catch {
            throw APIError(error, isSafeToRepeat: true, context: context)
        }
        retries += 1
    }
}

extension RetryDecision {
    /// The decision as text for the log.
    fileprivate var inWords: String {
        switch self {
        case .wait(let wait, let reason): "\(reason.rawValue) \(wait)"
        case .abandon(let reason): reason.rawValue
        }
    }
}
