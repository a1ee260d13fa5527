import ErrorContract

/// The next step of a run after an error, by the error's retry class.
enum LabFollowUp: Hashable, Sendable {
    /// The run ends, and the user decides.
    case end
    /// Waits, and calls again.
    case wait(Duration)
    /// Refreshes the session, and calls again.
    case refresh

    /// How a run stands.
    struct Progress: Hashable, Sendable {
        /// Whether a repeat does no harm, whatever became of the first call.
        var isSafe: Bool
        /// Whether there is a refresh token that was not used in this run.
        var canRefresh: Bool
        /// How often the call was repeated after a wait.
        var repeats = 0
        /// The longest wait.
        var maximumWait: Duration
    }

    /// The most repeats after a wait.
    static let maximumRepeats = 3

    /// The next step after an error. Backing off waits 1, 2 and 4 seconds, without jitter, so that a run can be foreseen.
    init(after error: APIError, _ progress: Progress) {
        switch error.retry {
        case .never, .afterSignIn: self = .end
        case .afterRefresh, .afterRefreshOrSignIn: self = progress.canRefresh ? .refresh : .end
        case .onlyAfterNamedDelay: self = Self.wait(error.retryAfter, progress)
        case .afterDelay: self = Self.wait(error.retryAfter ?? Self.backoff(progress), progress)
        case .withBackoff:
            self = progress.isSafe ? Self.wait(max(Self.backoff(progress), error.retryAfter ?? .zero), progress) : .end
        }
    }

    private static func backoff(_ progress: Progress) -> Duration { .seconds(1 << min(progress.repeats, 10)) }

    private static func wait(_ delay: Duration?, _ progress: Progress) -> LabFollowUp {
        guard let delay, delay <= progress.maximumWait, progress.repeats < maximumRepeats else { return .end }
        return .wait(delay)
    }
}
