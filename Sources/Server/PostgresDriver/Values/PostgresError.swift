public import Observability

/// An error of a statement or a transaction. It contains no values and no address, so it can be logged.
///
/// Only ``outcomeUnknown`` leaves open whether the changes were made. After the others, nothing was changed.
public enum PostgresError: LogSafeError, Hashable, Sendable {
    /// The server refused, with this SQLSTATE, such as 23505 for a duplicate key.
    case refused(String)
    /// There is no connection: the server is unreachable, or the pool had none within the deadline.
    case unavailable(String)
    /// The deadline passed.
    case deadlineExceeded
    /// The connection was lost, or the deadline passed, after the changes were sent: they may have been made or not.
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
