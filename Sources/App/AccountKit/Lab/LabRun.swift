public import ErrorContract
public import ErrorLabContract
public import ResilientHTTP
import Timekeeping

/// A step of a run. The requests of the run are recorded separately, in ``LabRun/exchanges``.
public enum LabStep: Hashable, Sendable {
    /// A call ended with an error.
    case failed(ErrorCode)
    /// The run waited before the next call.
    case waited(Duration)
    /// The client exchanged its refresh token for new tokens.
    case refreshed
    /// The user signed in again.
    case signedIn
    /// A call succeeded.
    case succeeded
}

extension LabStep: CustomStringConvertible {
    /// A description of the step in English.
    public var description: String {
        switch self {
        case .failed(let code): "failed with \(code)"
        case .waited(let delay): "waited \(delay.wholeSecondsRoundedUp) s"
        case .refreshed: "refreshed the session"
        case .signedIn: "signed in"
        case .succeeded: "succeeded"
        }
    }
}

/// A scenario that has run, with its result.
public struct LabRun: Sendable {
    /// The scenario.
    public let scenario: LabScenario
    /// The result.
    public let result: Result<LabSuccess, APIError>
    /// The steps.
    public let steps: [LabStep]
    /// The requests that the client sent. If the client's middleware retried calls, there are more requests than calls.
    public let exchanges: [LabExchange]
    /// The texts for the user about the error; `nil` if the run succeeded.
    public let presentation: ErrorPresentation?
    /// The duration of the run.
    public let elapsed: Duration
    /// The differences between the results and the results that the scenario expects, in English.
    public let differences: [String]

    /// The error that ended the run; `nil` if the run succeeded.
    public var error: APIError? {
        if case .failure(let error) = result { error } else { nil }
    }
}

/// A request that the client sent, with its outcome.
public struct LabExchange: Hashable, Sendable, Identifiable {
    /// The outcome of a request.
    public enum Outcome: Hashable, Sendable {
        /// The client has not received a response yet.
        case pending
        /// The client received a response with this status.
        case answered(status: Int)
        /// The client received no response. The code is the reason.
        case lost(TransportError.Code)
    }

    /// The number of the request in its run, starting with 1.
    public let id: Int
    /// The method.
    public let method: String
    /// The path with its query.
    public let path: String
    /// The time between the start of the run and the start of the request.
    public let start: Duration
    /// The outcome.
    public internal(set) var outcome: Outcome
    /// The time between the start of the request and the head of the response, or the failure.
    public internal(set) var duration: Duration
}

extension LabExchange.Outcome: CustomStringConvertible {
    /// The status, or the reason why there is no status.
    public var description: String {
        switch self {
        case .pending: "no response yet"
        case .answered(let status): "\(status)"
        case .lost(let code): "lost: \(code.rawValue)"
        }
    }
}
