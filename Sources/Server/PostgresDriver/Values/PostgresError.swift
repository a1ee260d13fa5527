public import Observability

/// An error of a statement or a transaction. The error contains no values and no address, so it can be logged.
///
/// If the error is ``outcomeUnknown``, the changes may have been made. For all other errors, nothing was changed.
public enum PostgresError: LogSafeError, Hashable, Sendable {
    /// The server refused the statement. The value is the SQLSTATE, such as 23505 for a duplicate key.
    case refused(String)
    /// There is no connection: the server is unreachable, or no connection became free within the deadline.
    case unavailable(String)
    /// The deadline passed.
    case deadlineExceeded
    /// After the client sent the changes, the connection was lost, the deadline passed, or the task was canceled. The changes may have been
    /// made.
    case outcomeUnknown

    /// The SQLSTATE of a refusal.
    public var sqlState: String? { if case .refused(let state) = self { state } else { nil } }

    public var description: String {
        switch self {
        case .refused(let state): "PostgreSQL error \(state)"
        case .unavailable(let reason): "no connection to PostgreSQL: \(reason)"
        case .deadlineExceeded: "PostgreSQL did not respond in time"
        case .outcomeUnknown: "the connection to PostgreSQL was lost during a commit"
        }
    }
}
