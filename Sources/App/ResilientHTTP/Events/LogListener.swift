import ErrorContract
public import Logging

/// Logs the events of calls: each step at debug level, failed calls at a configurable level.
///
/// ```swift
/// api.listeners = [LogListener(Logger(label: "api"))]
/// ```
///
/// The messages are constant. The metadata has the number of the call (`call`), its endpoint (`endpoint`), the name of its operation
/// (`context`), and the values of the event, such as `status`, `code`, `request.id` and `duration`. The metadata contains no secret, no
/// text from the server, and no URL with ids.
public struct LogListener: CallListener {
    private let logger: Logger
    private let failureLevel: Logger.Level

    /// Creates a listener.
    /// - Parameters:
    ///   - logger: The logger.
    ///   - failureLevel: The log level of failed calls.
    public init(_ logger: Logger, failureLevel: Logger.Level = .notice) {
        self.logger = logger
        self.failureLevel = failureLevel
    }

    /// Logs an event. Logs the end of a failed call at the level that was passed to the initializer, and any other event at debug level.
    /// - Parameter event: An event of a call.
    public func hear(_ event: CallEvent) {
        let isFailure = if case .finished(let summary) = event.kind { summary.code != nil } else { false }
        logger.log(
            level: isFailure ? failureLevel : .debug,
            "\(event.kind.sentence)",
            metadata: event.kind.facts.merging([
                "call": "\(event.call)", "endpoint": "\(event.endpoint)", "context": "\(event.name ?? "")",
            ]) {
                first,
                _ in first
            }
        )
    }
}

extension CallEvent.Kind {
    /// The log message of the event.
    var sentence: String {
        switch self {
        case .attemptStarted: "Attempt started"
        case .attemptFinished: "Attempt finished"
        case .waiting: "Waiting"
        case .refusedLocally: "Call refused locally"
        case .refreshed: "Session refreshed"
        case .gaveUp: "Call not retried"
        case .finished(let summary): summary.code == nil ? "Call succeeded" : "Call failed"
        }
    }

    /// The metadata of the event.
    fileprivate var facts: Logger.Metadata {
        switch self {
        case .attemptStarted(let number): ["attempt": "\(number)"]
        case .attemptFinished(let number, let outcome):
            [
                "attempt": "\(number)", "status": "\(outcome.status.map(String.init) ?? "none")",
                "code": "\(outcome.code?.rawValue ?? "none")",
                "request.id": "\(outcome.requestID ?? "none")", "duration": "\(outcome.duration)",
            ]
        case .waiting(let wait, let reason): ["wait": "\(wait)", "reason": "\(reason.rawValue)"]
        case .refusedLocally(let refusal, let wait):
            ["by": "\(refusal.rawValue)", "retry.after": "\(wait.map { "\($0)" } ?? "unknown")"]
        case .refreshed(let isShared): ["shared": "\(isShared)"]
        case .gaveUp(let reason): ["reason": "\(reason.rawValue)"]
        case .finished(let summary):
            [
                "attempts": "\(summary.attempts)", "status": "\(summary.status.map(String.init) ?? "none")",
                "code": "\(summary.code?.rawValue ?? "none")", "duration": "\(summary.duration)",
                "gave.up": "\(summary.gaveUp?.rawValue ?? "no")",
            ]
        }
    }
}
