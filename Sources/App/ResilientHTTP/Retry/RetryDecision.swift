import ErrorContract
import Synchronization

/// The next step after a failed attempt.
enum RetryDecision: Hashable {
    /// The client repeats the call after the delay.
    case wait(Duration, WaitReason)
    /// The call ends with the error of the attempt.
    case abandon(GiveUpReason)
}

/// The facts about a failed attempt that determine whether the client repeats it.
struct FailedAttempt {
    /// The error.
    var error: APIError
    /// The number of earlier retries of the call.
    var retries: Int
    /// Whether it is safe to send the request again, because a second request has no further effect on the server.
    var isSafeToRepeat: Bool
    /// Whether the body can be sent again.
    var isReplayable = true
    /// The time until the deadline.
    var timeLeft: Duration
    /// Whether the client retries a call until its deadline while the server's rate limit refuses the call; see
    /// ``EndpointPolicy/waitsInLine``.
    var waitsInLine = false
    /// Whether the call waits for a connection if the device has none.
    var waitsForConnectivity = false
}

extension RetryPolicy {
    /// Returns the next step after a failed attempt. The function is pure: time and randomness are arguments.
    func decide(_ attempt: FailedAttempt, chance: () -> Double) -> RetryDecision {
        let error = attempt.error
        if error.kind == .unknownOutcome { return .abandon(.notSafe) }
        // The session has already repeated the refresh until the deadline of the call.
        if error.isRefreshFailure, error.kind != .noInternet { return .abandon(.sessionRefresh) }
        guard isWorthRepeating(error) else { return .abandon(.notRetryable) }
        if error.isHeldLocally {
            // The client itself refused to send the attempt, so the attempt doesn't count as a retry. A new call ends here, because it has
            // already waited for its maximum time. A retry continues to wait.
            guard attempt.retries > 0 || attempt.waitsInLine, let wait = error.retryAfter else { return .abandon(.heldBack) }
            return wait < attempt.timeLeft
                ? .wait(wait, error.hold?.source == .throttle ? .throttle : .gate) : .abandon(.deadline)
        }
        if error.hold?.source == .breaker, error.hold?.isProbe == true { return .abandon(.refusedAgain) }
        if error.kind == .noInternet, attempt.waitsForConnectivity { return .wait(.zero, .connectivity) }
        guard attempt.isSafeToRepeat || error.surelyNeverLeft else { return .abandon(.notSafe) }
        guard attempt.isReplayable else { return .abandon(.oneShotBody) }
        let isLimited = attempt.waitsInLine && error.status == 429
        guard attempt.retries < maximumRetries || isLimited else { return .abandon(.retriesUsed) }

        let pause = backoff.pause(beforeRetry: attempt.retries, chance: chance())
        var (wait, reason) = (pause, WaitReason.backoff)
        if let named = error.retryAfter, named > .zero {
            // Only the server's delay decides whether the wait is too long, not the random part that is added below.
            guard named <= longestWait else { return .abandon(.waitTooLong) }
            // One probe tests the server for all waiting calls. If every call repeated its probe, the server would be busy with refusing
            // probes.
            if error.hold?.isProbe == true, !isLimited { return .abandon(.refusedAgain) }
            wait = max(pause, named) + named * (stretch * chance())
            reason = .retryAfter
        }
        // The gate admits no call before its delay has passed. If this call was the probe, it waits a little longer than the other calls,
        // so that another call becomes the next probe. Otherwise, this call would use up another retry if the server refused the next
        // probe.
        if let hold = error.hold, hold.wait > wait || hold.isProbe {
            (wait, reason) = (max(wait, hold.isProbe ? hold.wait * 1.1 : hold.wait), .gate)
        }
        guard wait < attempt.timeLeft else { return .abandon(.deadline) }
        return .wait(wait, reason)
    }

    /// Returns whether the same request can succeed later, without a new token or another change.
    private func isWorthRepeating(_ error: APIError) -> Bool {
        switch error.retry {
        // The session already handles these errors.
        case .never, .afterRefresh, .afterRefreshOrSignIn, .afterSignIn: false
        case .onlyAfterNamedDelay: error.retryAfter != nil
        case .afterDelay, .withBackoff: true
        }
    }
}

/// Ends all retries of a client while too many of its requests fail, so that retries don't multiply the load of an overloaded server.
///
/// The budget follows gRPC's retry throttling (proposal A6). It begins with 10 tokens. A retryable failure that reached a server decrements
/// the tokens by 1, and a timeout decrements them by 2.5. A success increments the tokens by 0.1. If half of the tokens or fewer are left,
/// the client retries no call. With the defaults, the fifth failure in a row ends the retries. The client always sends the first attempts
/// of calls.
///
/// If a refusal of the server closes a gate (see ``GateMiddleware``), the budget doesn't change, because the gate then limits the number of
/// requests.
///
/// The budget is an atomic number without a lock. Several clients can share it.
///
/// ```swift
/// let budget = RetryBudget(capacity: 20)
/// let retry = RetryMiddleware(budget: budget)
/// ```
public final class RetryBudget: Sendable {
    /// The tokens, in thousandths.
    private let tokens: Atomic<Int>
    private let capacity: Int
    private let refund: Int

    /// Creates a full budget.
    /// - Parameters:
    ///   - capacity: The initial and maximum number of tokens.
    ///   - refund: The number of tokens that a success adds.
    /// - Precondition: `capacity` is positive, and `refund` is between 0 and the capacity.
    public init(capacity: Int = 10, refund: Double = 0.1) {
        precondition(capacity > 0, "capacity must be positive (is \(capacity))")
        precondition(refund >= 0 && refund <= Double(capacity), "refund must be between 0 and the capacity (is \(refund))")
        self.capacity = capacity * 1_000
        self.refund = Int((refund * 1_000).rounded())
        tokens = Atomic(capacity * 1_000)
    }

    /// The number of tokens that are left, from 0 to the capacity.
    public var remaining: Double { Double(tokens.load(ordering: .relaxed)) / 1_000 }

    /// Records a success.
    func noteSuccess() {
        // Usually the budget is full. In that case, the function writes nothing.
        guard tokens.load(ordering: .relaxed) < capacity else { return }
        update { min(capacity, $0 + refund) }
    }

    /// Records a retryable failure that reached a server.
    /// - Returns: Whether the budget allows a retry.
    func noteFailure(isTimeout: Bool = false) -> Bool {
        update { max(0, $0 - (isTimeout ? 2_500 : 1_000)) } > capacity / 2
    }

    /// Changes the number of tokens atomically.
    /// - Returns: The new number of tokens, in thousandths.
    @discardableResult
    private func update(_ change: (Int) -> Int) -> Int {
        var known = tokens.load(ordering: .relaxed)
        while true {
            let new = change(known)
            let (isExchanged, found) = tokens.compareExchange(expected: known, desired: new, ordering: .relaxed)
            if isExchanged { return new }
            known = found
        }
    }
}
