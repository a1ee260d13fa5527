import ErrorContract
import Synchronization

/// What becomes of a failed attempt.
enum RetryDecision: Hashable {
    /// Go on after a wait.
    case wait(Duration, WaitReason)
    /// The call ends.
    case abandon(GiveUpReason)
}

/// What is known of a failed attempt.
struct FailedAttempt {
    /// The error.
    var error: APIError
    /// How many retries there were before.
    var retries: Int
    /// Whether repeating the request can't do harm.
    var isSafeToRepeat: Bool
    /// Whether the body can be sent again.
    var isReplayable = true
    /// The time until the deadline.
    var timeLeft: Duration
    /// Whether the call waits in line under a server's limit, however often it is refused.
    var waitsInLine = false
    /// Whether the call waits for a connection.
    var waitsForConnectivity = false
}

extension RetryPolicy {
    /// Decides about a failed attempt. Pure: time and randomness are arguments.
    func decide(_ attempt: FailedAttempt, chance: () -> Double) -> RetryDecision {
        let error = attempt.error
        if error.kind == .unknownOutcome { return .abandon(.notSafe) }
        // The session has repeated the refresh until the deadline of this call.
        if error.isRefreshFailure, error.kind != .noInternet { return .abandon(.sessionRefresh) }
        guard isWorthRepeating(error) else { return .abandon(.notRetryable) }
        if error.isHeldLocally {
            // No attempt: it uses up no retry. A new call has waited as long as it may already; one that was sent before waits on.
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
            // Compared before the stretch, so that randomness does not decide what is too long.
            guard named <= longestWait else { return .abandon(.waitTooLong) }
            // A probe was sent for all calls. Repeated by each of them it would keep a server busy with refusals.
            if error.hold?.isProbe == true, !isLimited { return .abandon(.refusedAgain) }
            wait = max(pause, named) + named * (stretch * chance())
            reason = .retryAfter
        }
        // The gate lets nothing through before. A call that was the probe joins the line behind the others, so that the next refusal does
        // not cost it another retry.
        if let hold = error.hold, hold.wait > wait || hold.isProbe {
            (wait, reason) = (max(wait, hold.isProbe ? hold.wait * 1.1 : hold.wait), .gate)
        }
        guard wait < attempt.timeLeft else { return .abandon(.deadline) }
        return .wait(wait, reason)
    }

    private func isWorthRepeating(_ error: APIError) -> Bool {
        switch error.retry {
        // The session's business, and done with when the error comes here.
        case .never, .afterRefresh, .afterRefreshOrSignIn, .afterSignIn: false
        case .onlyAfterNamedDelay: error.retryAfter != nil
        case .afterDelay, .withBackoff: true
        }
    }
}

/// Ends all retries of a client while too many of its requests fail, so that retries can't multiply the load of a server in trouble.
///
/// Follows gRPC's retry throttling (proposal A6): 10 tokens, one less for a retryable failure that reached a server, 2.5 less for a
/// time-out, and a tenth more for a success; no retry at half of the tokens or less. Refusals that closed a gate cost nothing: the gate
/// bounds how many requests follow them.
public final class RetryBudget: Sendable {
    /// The tokens, in thousandths.
    private let tokens: Atomic<Int>
    private let capacity: Int
    private let refund: Int

    /// Creates a full budget.
    /// - Parameters:
    ///   - capacity: The most tokens that there are.
    ///   - refund: The tokens that a success gives back.
    /// - Precondition: `capacity` is positive, `refund` not negative.
    public init(capacity: Int = 10, refund: Double = 0.1) {
        precondition(capacity > 0, "capacity must be positive (is \(capacity))")
        precondition(refund >= 0 && refund <= Double(capacity), "refund must be between 0 and the capacity (is \(refund))")
        self.capacity = capacity * 1_000
        self.refund = Int((refund * 1_000).rounded())
        tokens = Atomic(capacity * 1_000)
    }

    /// The tokens that are left.
    public var remaining: Double { Double(tokens.load(ordering: .relaxed)) / 1_000 }

    /// Notes a success.
    func noteSuccess() {
        // Most of the time the budget is full, and then nothing is written.
        guard tokens.load(ordering: .relaxed) < capacity else { return }
        update { min(capacity, $0 + refund) }
    }

    /// Notes a retryable failure that reached a server.
    /// - Returns: Whether the budget allows a retry.
    func noteFailure(isTimeout: Bool = false) -> Bool {
        update { max(0, $0 - (isTimeout ? 2_500 : 1_000)) } > capacity / 2
    }

    /// - Returns: The new number of tokens.
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
