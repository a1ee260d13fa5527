public import ResilientHTTP

/// One request that left the client, and its outcome.
public struct LabExchange: Hashable, Sendable, Identifiable {
    /// The outcome of a request.
    public enum Outcome: Hashable, Sendable {
        /// No response yet.
        case pending
        /// A response with a status.
        case answered(status: Int)
        /// No response, and the reason.
        case lost(TransportError.Code)
    }

    /// The number of the request in its run, from 1.
    public let id: Int
    /// The method.
    public let method: String
    /// The path with its query.
    public let path: String
    /// When it was sent, counted from the start of the run.
    public let start: Duration
    /// The outcome.
    public internal(set) var outcome: Outcome
    /// The time until the head of the response, or until the failure.
    public internal(set) var duration: Duration
}

extension LabExchange.Outcome: CustomStringConvertible {
    /// The status, or the reason why there is none.
    public var description: String {
        switch self {
        case .pending: "no response yet"
        case .answered(let status): "\(status)"
        case .lost(let code): "lost: \(code.rawValue)"
        }
    }
}
