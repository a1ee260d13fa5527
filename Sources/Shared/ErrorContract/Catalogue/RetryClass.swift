/// What a client may do by itself after an error.
///
/// The class belongs to the code, never to the status alone: an `API_KEY_INVALID` is a 401 too, and
/// must neither refresh a session nor end it.
public enum RetryClass: String, Hashable, Sendable, Codable, CaseIterable {
    /// Nothing; the same request would fail again.
    case never
    /// Refresh the session once, shared by all callers, and repeat the request once.
    case afterRefresh = "after_refresh"
    /// Refresh if a refresh token is at hand, else ask the user to sign in; repeat once.
    case afterRefreshOrSignIn = "after_refresh_or_sign_in"
    /// Never refresh: clear the credentials, ask the user to sign in, repeat once.
    case afterSignIn = "after_sign_in"
    /// Wait as told, if the wait fits the cap and the deadline.
    case afterDelay = "after_delay"
    /// Repeat only if the server names a delay and it fits the cap and the deadline.
    case onlyAfterNamedDelay = "only_after_named_delay"
    /// Back off and repeat, if the request is safe to repeat.
    case withBackoff = "with_backoff"
}
