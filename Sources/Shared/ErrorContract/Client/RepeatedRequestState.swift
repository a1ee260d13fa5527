public import StrictJSON

/// The state of a request that a server has received before with the same `Idempotency-Key`, in a response with status 409.
///
/// The field `state` of the error's details has it. A server that only sends `Retry-After` with a 409 means ``running``.
public enum RepeatedRequestState: String, Hashable, Sendable, CaseIterable {
    /// The first request is still being worked on. Repeat it unchanged, with the same key, after the named delay.
    case running
    /// The first request was done, and its response is not stored. This is final: a repetition gets the same error, and the request must
    /// not be sent with another key.
    case finished

    /// The details of the error that reports the state.
    public var details: JSONObject { ["state": .string(rawValue)] }
}

extension APIError {
    /// The state of the earlier request with the same idempotency key; `nil` if the error is another one, such as a 409 that a route has
    /// by itself.
    public var repeatedRequest: RepeatedRequestState? {
        guard status == 409 else { return nil }
        if let state = details["state"]?.stringValue.flatMap(RepeatedRequestState.init), code == .requestConflict { return state }
        return retryAfter == nil ? nil : .running
    }
}
