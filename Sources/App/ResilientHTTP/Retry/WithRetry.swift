public import ErrorContract
import Logging
import Timekeeping

/// Gives any operation the waits of a client: backoff with full jitter, the delay that an error names, and a deadline.
///
/// The operation is repeated if what it throws maps to a retryable `APIError`. It is repeated however often it took
/// effect: give it only what may happen twice.
/// - Parameters:
///   - policy: How often, and after which waits.
///   - timeout: The time until no further wait is begun that would end later.
///   - context: Where in the app it happens; goes into the log and the error.
///   - surroundings: Time, chance and log; each attempt is logged at debug level.
///   - isolation: The actor that the operation runs on; the caller's by default.
///   - operation: What is to be done.
/// - Throws: The error of the last attempt, with the number of attempts; `cancelled` as soon as the task is cancelled.
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
    /// For a log.
    fileprivate var inWords: String {
        switch self {
        case .wait(let wait, let reason): "\(reason.rawValue) \(wait)"
        case .abandon(let reason): reason.rawValue
        }
    }
}
