public import ErrorContract
public import Foundation

/// Receives the events that product analytics needs: failed calls, failures of the server, and password resets.
///
/// Implement this protocol to pass these events to an analytics SDK, as in the example. ``AnalyticsAdapter`` calls the methods for failed
/// calls. `AccountAnalyticsAdapter` of `AccountKit` also calls the methods for password resets. The default implementation of each method
/// does nothing.
///
/// ```swift
/// struct FunnelAnalytics: AnalyticsListener {
///     func apiError(_ error: AnalyticsError) {
///         Analytics.logEvent("api_error", parameters: ["code": error.code.rawValue, "message": error.message])
///     }
/// }
/// api.listeners = [AnalyticsAdapter(FunnelAnalytics())]
/// ```
///
/// When an API call ends, the adapter calls these methods synchronously, so each method must return quickly.
public protocol AnalyticsListener: Sendable {
    /// Receives the event `api_error`: a call failed for any reason. Calls that the app canceled are not reported.
    /// - Parameter error: The failure, without secrets and personal data.
    func apiError(_ error: AnalyticsError)

    /// Receives the event `server_error`: a call failed with a status of 5xx, or 408. ``apiError(_:)`` is also called for this error.
    /// - Parameter error: The failure, without secrets and personal data.
    func serverError(_ error: AnalyticsError)

    /// Receives the event `password_reset_requested`: the server accepted the request for a reset link.
    func passwordResetRequested()

    /// Receives the event `password_reset_completed`: the server set the new password.
    func passwordResetCompleted()

    /// Receives the event `password_reset_error`: a step of a password reset failed. The step is the request for a link, the validation of
    /// a link or the confirmation. ``AnalyticsError/kind`` is the type of the error. ``apiError(_:)`` is also called for this error.
    /// - Parameter error: The failure of the step.
    func passwordResetError(_ error: AnalyticsError)
}

extension AnalyticsListener {
    /// Does nothing.
    public func apiError(_ error: AnalyticsError) {}
    /// Does nothing.
    public func serverError(_ error: AnalyticsError) {}
    /// Does nothing.
    public func passwordResetRequested() {}
    /// Does nothing.
    public func passwordResetCompleted() {}
    /// Does nothing.
    public func passwordResetError(_ error: AnalyticsError) {}
}

/// A failed call, with only the data that an analytics service may store. It contains no secret, no address, no user id, and no text from
/// the server.
public struct AnalyticsError: Hashable, Sendable {
    /// The kind of failure, such as `rateLimited`.
    public let kind: APIError.Kind
    /// The server's code, or a code of the client such as `NETWORK_ERROR`.
    public let code: ErrorCode
    /// The error message in the client's language. It contains no texts from the server, because they can contain personal data.
    public let message: String
    /// The method and the template of the route, such as `GET /api/lessons/{id}`.
    public let endpoint: Endpoint
    /// The HTTP status, if a response was received.
    public let status: Int?
    /// The time of the error by the server's clock, if the server sent this time.
    public let serverTimestamp: Date?
    /// The time at which the call ended, by the device's clock.
    public let timestamp: Date
    /// The id of the request in the server's log.
    public let requestID: String?

    /// Creates the error of a failed call from the event that ends the call. Returns `nil` for any other event, for a success, and for a
    /// call that the app canceled.
    /// - Parameter event: An event of a call.
    public init?(_ event: CallEvent) {
        guard case .finished(let summary) = event.kind, let kind = summary.kind, let code = summary.code, kind != .cancelled
        else { return nil }
        self.kind = kind
        self.code = code
        message = summary.message ?? ""
        endpoint = event.endpoint
        status = summary.status
        serverTimestamp = summary.serverTimestamp
        timestamp = event.timestamp
        requestID = summary.requestID
    }
}

/// Reports failed calls to an ``AnalyticsListener``. If the app also uses `AccountKit`, use `AccountAnalyticsAdapter` instead, which also
/// reports the steps of a password reset.
///
/// ```swift
/// api.listeners = [AnalyticsAdapter(FunnelAnalytics())]
/// ```
public struct AnalyticsAdapter: CallListener {
    private let listener: any AnalyticsListener

    /// Creates an adapter.
    /// - Parameter listener: Receives the failed calls, synchronously at the end of each call.
    public init(_ listener: any AnalyticsListener) {
        self.listener = listener
    }

    /// Reports the end of a failed call. The adapter ignores other events, successes and canceled calls.
    /// - Parameter event: An event of a call.
    public func hear(_ event: CallEvent) {
        guard let error = AnalyticsError(event) else { return }
        listener.apiError(error)
        if error.kind == .server { listener.serverError(error) }
    }
}

extension APIError {
    /// Returns the error message in a language, without texts from the server.
    func textWithoutServer(in language: Language, catalogue: ErrorCatalogue) -> String {
        var error = self
        (error.message, error.violations) = (nil, [])
        return error.presentation(in: language, now: .distantPast, catalogue: catalogue).message
    }
}
