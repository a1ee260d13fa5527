/// The reason for which a transaction is repeated.
enum RetryReason: String, CaseIterable {
    case conflict, connection
    case unknownOutcome = "unknown_outcome"
    case changedPlan = "changed_plan"
}

/// Decides whether a failed attempt is repeated.
enum RetryVerdict: Equatable {
    case again(RetryReason)
    case stop(PostgresError)
    case cancelled
}

extension DriverFailure {
    /// Returns whether a transaction is repeated after the failure.
    /// - Parameter mayHaveCommitted: Whether the failed segment commits: then a lost connection leaves the outcome unknown.
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
            case _ where state.hasPrefix("08"): .again(mayHaveCommitted ? .unknownOutcome : .connection)
            default: .stop(.refused(state))
            }
        }
    }
}

/// The number of repetitions of a transaction, and their delays.
struct RetryCount {
    static let conflictLimit = 5
    private var counts: [RetryReason: Int] = [:]
    /// Whether an earlier attempt may have committed.
    var isUnknown: Bool { counts[.unknownOutcome] != nil }

    /// Counts a repetition.
    /// - Returns: The longest delay before it, of which a random part is used (full jitter); `nil` if there were too many repetitions.
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
