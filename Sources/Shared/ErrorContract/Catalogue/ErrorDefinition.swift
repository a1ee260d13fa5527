/// All that is fixed about one error code.
public struct ErrorDefinition: Hashable, Sendable {
    /// The code on the wire.
    public let code: ErrorCode
    /// The group that the code belongs to.
    public let family: ErrorFamily
    /// The HTTP status; a code has one status, everywhere.
    public let status: Int
    /// What happened, for developers, in English.
    public let summary: String
    /// What to do about it, for developers, in English.
    public let userAction: String
    /// What a client may do by itself.
    public let retry: RetryClass
    /// What ends the trouble for the person.
    public let recovery: Recovery
    /// The text shown to the person.
    public let message: LocalizedText
    /// More for developers, in English: when the code is said, what to look at; empty if the summary says it all.
    public let documentation: String
    /// The version of the catalogue that brought the code.
    public let since: String
    /// Whether an answer with this code may tell that an account exists.
    public let mayRevealAccount: Bool

    /// Creates a definition.
    /// - Precondition: `status` is between 400 and 599, and `code` starts with the family's prefix.
    public init(
        _ code: ErrorCode,
        family: ErrorFamily,
        status: Int,
        summary: String,
        userAction: String,
        retry: RetryClass = .never,
        recovery: Recovery = .dismiss,
        message: LocalizedText,
        documentation: String = "",
        since: String = "1.0",
        mayRevealAccount: Bool = false
    ) {
        precondition((400...599).contains(status), "status must be between 400 and 599 (is \(status))")
        precondition(
            code.rawValue.hasPrefix(family.rawValue + "_"),
            "code must start with its family \(family.rawValue)_ (is \(code))"
        )
        self.code = code
        self.family = family
        self.status = status
        self.summary = summary
        self.userAction = userAction
        self.retry = retry
        self.recovery = recovery
        self.message = message
        self.documentation = documentation
        self.since = since
        self.mayRevealAccount = mayRevealAccount
    }
}

/// What ends the trouble from the person's point of view.
public enum Recovery: String, Hashable, Sendable, Codable, CaseIterable {
    /// Nothing to do but to take note.
    case dismiss
    /// Correct the input.
    case fixFields = "fix_fields"
    /// Sign in again.
    case signIn = "sign_in"
    /// Wait, then repeat.
    case wait
    /// Repeat.
    case retry
    /// Find out whether the request took effect, without sending it again.
    case checkAgain = "check_again"
    /// Ask for a new link.
    case requestNewLink = "request_new_link"
    /// Write to support.
    case contactSupport = "contact_support"
    /// Change something in the settings: a key, a connected account.
    case openSettings = "open_settings"
    /// Install a newer version of the app.
    case updateApp = "update_app"
}

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
