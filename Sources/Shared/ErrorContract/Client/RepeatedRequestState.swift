public import StrictJSON

/// The state of a request that a server has received before with the same `Idempotency-Key`, in a response with status 409.
///
/// The member `state` of the error's details contains it. If a server sends `Retry-After` with a 409 but no `state`, the state is
/// ``running``.
public enum RepeatedRequestState: String, Hashable, Sendable, CaseIterable {
    /// The server still executes the first request. Repeat the request unchanged, with the same key, after the delay in the response.
    case running
    /// The first request is complete, and its response is not stored. A repetition gets the same error. Don't send the request with another
    /// key, because it could take effect twice.
    case finished

    /// The details of the error that reports the state.
    public var details: JSONObject { ["state": .string(rawValue)] }
}

extension APIError {
    /// The state of the earlier request with the same idempotency key. `nil` for any other error, including a 409 that the route itself
    /// returns.
    public var repeatedRequest: RepeatedRequestState? {
        guard status == 409 else { return nil }
        if let state = details["state"]?.stringValue.flatMap(RepeatedRequestState.init), code == .requestConflict { return state }
        return retryAfter == nil ? nil : .running
    }
}
