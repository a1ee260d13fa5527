public import StrictJSON

/// The state of an earlier request with the same `Idempotency-Key`. A server reports it in a response with the status 409.
///
/// The server sends the state as the member `state` of the error's details. If a 409 has no `state` but a `Retry-After`, the state counts
/// as ``running``.
public enum RepeatedRequestState: String, Hashable, Sendable, CaseIterable {
    /// The server still executes the first request. Repeat the request unchanged, with the same key, after the delay in the response.
    case running
    /// The server has completed the first request, but has not stored its response. If the client repeats the request, the server returns
    /// the same error. Don't send the request with another key, because it could then take effect twice.
    case finished

    /// The details of an error that reports this state.
    public var details: JSONObject { ["state": .string(rawValue)] }
}

extension APIError {
    /// The state of the earlier request with the same idempotency key. `nil` if the error isn't a 409, or if the 409 has neither a `state`
    /// nor a delay. Such a 409 reports another conflict, which the route itself found.
    public var repeatedRequest: RepeatedRequestState? {
        guard status == 409 else { return nil }
        if let state = details["state"]?.stringValue.flatMap(RepeatedRequestState.init), code == .requestConflict { return state }
        return retryAfter == nil ? nil : .running
    }
}
