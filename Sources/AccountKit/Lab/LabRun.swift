public import ErrorContract
public import ErrorLabContract

/// One thing that was done in a run, beside the requests.
public enum LabStep: Hashable, Sendable {
    /// A call ended with an error.
    case failed(ErrorCode)
    /// The run waited before the next call.
    case waited(Duration)
    /// The session was refreshed.
    case refreshed
    /// The person signed in again.
    case signedIn
    /// A call succeeded.
    case succeeded
}

extension LabStep: CustomStringConvertible {
    /// What was done, in English.
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

/// A scenario that was tried, and what came of it.
public struct LabRun: Sendable {
    /// The scenario.
    public let scenario: LabScenario
    /// What came of it in the end.
    public let result: Result<LabReply, APIError>
    /// What was done on the way.
    public let steps: [LabStep]
    /// The requests that left the client: more than calls, if the client's own middleware repeated some.
    public let exchanges: [LabExchange]
    /// What a person reads about the error, if there was one.
    public let presentation: ErrorPresentation?
    /// How long it took in all.
    public let elapsed: Duration
    /// What is not as the scenario promises, in words.
    public let differences: [String]

    /// The error, if it ended with one.
    public var error: APIError? {
        if case .failure(let error) = result { error } else { nil }
    }
}
