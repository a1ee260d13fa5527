import ErrorContract

/// What becomes of a failed attempt.
enum RetryDecision: Hashable {
    /// Go on after a wait.
    case wait(Duration, WaitReason)
    /// The call ends.
    case giveUp(GiveUpReason)
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
        if error.kind == .unknownOutcome { return .giveUp(.notSafe) }
        // The session has repeated the refresh until the deadline of this call.
        if error.isRefreshFailure, error.kind != .noInternet { return .giveUp(.sessionRefresh) }
        guard isWorthRepeating(error) else { return .giveUp(.notRetryable) }
        if error.isHeldLocally {
            // No attempt: it uses up no retry. A new call has waited as long as it may already; one that was sent before waits on.
            guard attempt.retries > 0 || attempt.waitsInLine, let wait = error.retryAfter else { return .giveUp(.heldBack) }
            return wait < attempt.timeLeft ? .wait(wait, error.hold?.source == .throttle ? .throttle : .gate) : .giveUp(.deadline)
        }
        if error.hold?.source == .breaker, error.hold?.isProbe == true { return .giveUp(.refusedAgain) }
        if error.kind == .noInternet, attempt.waitsForConnectivity { return .wait(.zero, .connectivity) }
        guard attempt.isSafeToRepeat || error.surelyNeverLeft else { return .giveUp(.notSafe) }
        guard attempt.isReplayable else { return .giveUp(.oneShotBody) }
        let isLimited = attempt.waitsInLine && error.status == 429
        guard attempt.retries < maximumRetries || isLimited else { return .giveUp(.retriesUsed) }

        let pause = backoff.pause(beforeRetry: attempt.retries, chance: chance())
        var (wait, reason) = (pause, WaitReason.backoff)
        if let named = error.retryAfter, named > .zero {
            // Compared before the stretch, so that randomness does not decide what is too long.
            guard named <= longestWait else { return .giveUp(.waitTooLong) }
            // A probe was sent for all calls. Repeated by each of them it would keep a server busy with refusals.
            if error.hold?.isProbe == true, !isLimited { return .giveUp(.refusedAgain) }
            wait = max(pause, named) + named * (stretch * chance())
            reason = .retryAfter
        }
        // The gate lets nothing through before. A call that was the probe joins the line behind the others, so that the next refusal does not
        // cost it another retry.
        if let hold = error.hold, hold.wait > wait || hold.isProbe {
            (wait, reason) = (max(wait, hold.isProbe ? hold.wait * 1.1 : hold.wait), .gate)
        }
        guard wait < attempt.timeLeft else { return .giveUp(.deadline) }
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

extension APIError {
    /// Whether no byte of the request can have reached a server.
    var surelyNeverLeft: Bool {
        if let transport = underlying as? TransportError { return !transport.wasSent }
        return isHeldLocally
    }

    /// Whether a server responded or may have been reached.
    var reachedServer: Bool { !surelyNeverLeft && kind != .cancelled }
}
