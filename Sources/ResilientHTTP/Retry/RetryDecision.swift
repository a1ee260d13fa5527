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
    /// What the failure did to a gate, and the time until that opens.
    var gate: (closure: GateClosure, opensIn: Duration)?
}

extension RetryPolicy {
    /// Decides about a failed attempt. Pure: time and chance are arguments.
    func decide(_ attempt: FailedAttempt, chance: () -> Double) -> RetryDecision {
        let error = attempt.error
        if error.kind == .unknownOutcome { return .giveUp(.notSafe) }
        guard isWorthRepeating(error) else { return .giveUp(.notRetryable) }
        guard attempt.isSafeToRepeat || error.surelyNeverLeft else { return .giveUp(.notSafe) }
        guard attempt.isReplayable else { return .giveUp(.oneShotBody) }
        guard attempt.retries < maximumRetries else { return .giveUp(.retriesUsed) }
        // A local refusal is waited for only by a call that has been let out before: newcomers fail fast.
        if error.kind == .throttled, attempt.retries == 0 { return .giveUp(.notRetryable) }

        let pause = backoff.pause(beforeRetry: attempt.retries, chance: chance())
        var (wait, reason) = (pause, WaitReason.backoff)
        if let told = error.retryAfter, told > .zero {
            // Compared before the stretch, so that chance does not decide what is too long.
            guard told <= longestWait else { return .giveUp(.waitTooLong) }
            // What a gate lets out while it opens is asked for all calls. Repeated by each of them it would keep a server busy with refusals.
            if attempt.gate?.closure.isProbe == true { return .giveUp(.refusedAgain) }
            wait = max(max(pause, told) + told * (stretch * chance()), attempt.gate?.opensIn ?? .zero)
            reason = error.kind == .throttled ? .gate : .retryAfter
        }
        guard wait < attempt.timeLeft else { return .giveUp(.deadline) }
        return .wait(wait, reason)
    }

    private func isWorthRepeating(_ error: APIError) -> Bool {
        if error.kind == .throttled { return error.retryAfter != nil }
        return switch error.retry {
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
        return kind == .throttled
    }

    /// Whether a server answered or may have been reached: what the retry budget counts.
    var reachedServer: Bool { !surelyNeverLeft && kind != .cancelled }
}
