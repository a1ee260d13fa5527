/// The reason why a transaction is repeated. The raw value is the label of the metric `postgres_retries`.
enum RetryReason: String, CaseIterable {
    /// Another transaction changed the same rows, or the connection was lost before the commit was sent.
    case conflict, connection
    /// After the commit was sent, the connection was lost or the deadline passed.
    case unknownOutcome = "unknown_outcome"
    /// A schema change has invalidated a prepared plan.
    case changedPlan = "changed_plan"
}

/// Decides whether a failed attempt is repeated.
enum RetryVerdict: Equatable {
    /// The transaction is repeated.
    case again(RetryReason)
    /// The transaction fails with this error.
    case stop(PostgresError)
    /// The task was canceled, and nothing was changed.
    case cancelled
}

extension DriverFailure {
    /// Decides whether the client repeats a transaction after this failure.
    ///
    /// A transaction with an unknown outcome is repeated, too. This is safe because callers must write transactions so that a repetition
    /// finds the changes of a committed attempt. If there was no connection, the transaction is not repeated, because the job has already
    /// waited for a connection until its deadline.
    /// - Parameter mayHaveCommitted: Whether the failed segment commits changes. If so, a lost connection leaves the outcome unknown.
    func verdict(mayHaveCommitted: Bool) -> RetryVerdict {
        switch self {
        case .noConnection(let reason): .stop(.unavailable(reason))
        case .cancelled(let wasSent): wasSent && mayHaveCommitted ? .stop(.outcomeUnknown) : .cancelled
        case .deadline: mayHaveCommitted ? .again(.unknownOutcome) : .stop(.deadlineExceeded)
        case .lost: .again(mayHaveCommitted ? .unknownOutcome : .connection)
        case .refused(let state):
            switch state {
            case "40001", "40P01": .again(.conflict)
            // A schema change has invalidated a prepared plan. The driver has discarded the plans.
            case "0A000": .again(.changedPlan)
            // The server has become a standby. The driver has closed the connections to it.
            case "25006": .again(.connection)
            case "40003", "57P01", "57P02", "57P03", "53300": .again(mayHaveCommitted ? .unknownOutcome : .connection)
            // The server refused an invalid message, such as a statement with too few values. It would also refuse a repetition.
            case "08P01": .stop(.refused(state))
            case _ where state.hasPrefix("08"): .again(mayHaveCommitted ? .unknownOutcome : .connection)
            default: .stop(.refused(state))
            }
        }
    }
}

/// The number of repetitions of a transaction, and their delays. Repetitions are counted separately for each reason.
struct RetryCount {
    /// The largest number of repetitions after conflicts. Their delays are at most 20, 40, 80, 160 and 320 ms.
    static let conflictLimit = 5
    private var counts: [RetryReason: Int] = [:]
    /// Whether an earlier attempt may have committed.
    var isUnknown: Bool { counts[.unknownOutcome] != nil }

    /// Counts a repetition.
    /// - Returns: The longest delay before the repetition; `nil` if there were too many repetitions. The caller uses a random part of the
    ///   delay (full jitter).
    mutating func delay(_ reason: RetryReason) -> Duration? {
        let count = counts[reason, default: 0] + 1
        counts[reason] = count
        switch reason {
        case .conflict: return count > Self.conflictLimit ? nil : .milliseconds(10) * (1 << count)
        case .changedPlan: return count > 1 ? nil : .zero
        case .connection, .unknownOutcome: return min(.milliseconds(20) * (1 << min(count - 1, 10)), .milliseconds(500))
        }
    }
}
