public import ResilientHTTP

/// Reports the failed calls and the password resets of an ``AccountClient`` to an analytics SDK.
///
/// Use it instead of `AnalyticsAdapter` for the client of the account API:
///
/// ```swift
/// api.listeners = [AccountAnalyticsAdapter(analytics)]
/// let accounts = AccountClient(api: api)
/// ```
public struct AccountAnalyticsAdapter: CallListener {
    private let listener: any AnalyticsListener
    private let calls: AnalyticsAdapter

    /// Creates an adapter.
    /// - Parameter listener: Receives the failed calls and the steps of password resets, synchronously at the end of each call.
    public init(_ listener: any AnalyticsListener) {
        self.listener = listener
        calls = AnalyticsAdapter(listener)
    }

    /// Reports the end of a failed call. Also reports each failed step of a password reset, and the success of two steps: the request for a
    /// link, and the change of the password.
    /// - Parameter event: An event of a call. Events before the end of the call are ignored.
    public func hear(_ event: CallEvent) {
        calls.hear(event)
        guard case .finished(let summary) = event.kind, let name = event.name, Self.steps.contains(name) else { return }
        if let error = AnalyticsError(event) {
            listener.passwordResetError(error)
        } else if summary.code == nil {
            if name == Self.request { listener.passwordResetRequested() }
            if name == Self.confirm { listener.passwordResetCompleted() }
        }
    }

    /// The names of the client's calls.
    private static let (request, validate, confirm) = (
        "password_reset_request", "password_reset_validate", "password_reset_confirm"
    )
    private static let steps: Set<String> = [request, validate, confirm]
}
