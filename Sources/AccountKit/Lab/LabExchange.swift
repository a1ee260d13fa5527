public import ResilientHTTP

/// One request as it left the client, and what came of it.
public struct LabExchange: Hashable, Sendable, Identifiable {
    /// What came of a request.
    public enum Outcome: Hashable, Sendable {
        /// Nothing yet.
        case pending
        /// An answer with a status.
        case answered(status: Int)
        /// No answer; why not.
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
    /// What came of it.
    public internal(set) var outcome: Outcome
    /// How long it took until the head of an answer came, or none.
    public internal(set) var duration: Duration
}

extension LabExchange.Outcome: CustomStringConvertible {
    /// What came of it: the status, or why there is none.
    public var description: String {
        switch self {
        case .pending: "no answer yet"
        case .answered(let status): "\(status)"
        case .lost(let code): "lost: \(code.rawValue)"
        }
    }
}
