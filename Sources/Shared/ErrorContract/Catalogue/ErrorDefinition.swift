/// The definition of one error code: its status, its texts, and what clients do about it.
///
/// Servers derive responses from a definition, and clients derive the retry class and the text. The reference of codes has an entry for
/// each definition. Define an app's own codes in a module that the app and its server share, and add them with
/// ``ErrorCatalogue/adding(_:)``.
public struct ErrorDefinition: Hashable, Sendable {
    /// The code on the wire.
    public let code: ErrorCode
    /// The group that the code belongs to, whose name is the prefix of the code.
    public let family: ErrorFamily
    /// The HTTP status, from 400 to 599. A code always has the same status.
    public let status: Int
    /// A description of the failure for developers, in English.
    public let summary: String
    /// The advice for developers, in English.
    public let userAction: String
    /// How a client may retry. ``RetryClass/never`` by default.
    public let retry: RetryClass
    /// The action by which the user resolves the error. ``Recovery/dismiss`` by default.
    public let recovery: Recovery
    /// The text shown to the user. It must not contain internal facts, because any client can cause the error.
    public let message: LocalizedText
    /// Further documentation for developers, in English: when the code occurs and what to check. Empty if the summary is
    /// sufficient.
    public let documentation: String
    /// The version of the catalogue that introduced the code.
    public let since: String
    /// Whether a response with this code may reveal that an account exists. ``summary`` and ``documentation`` state to which callers it is
    /// returned.
    public let mayRevealAccount: Bool

    /// Creates a definition.
    /// - Parameters:
    ///   - code: The code on the wire, which starts with the prefix of the family and an underscore.
    ///   - family: The group of the code.
    ///   - status: The HTTP status.
    ///   - summary: A description of the failure for developers, in English.
    ///   - userAction: The advice for developers, in English.
    ///   - retry: How a client may retry.
    ///   - recovery: The action by which the user resolves the error.
    ///   - message: The text shown to the user.
    ///   - documentation: Further documentation for developers, in English.
    ///   - since: The version of the catalogue that introduced the code.
    ///   - mayRevealAccount: Whether a response with this code may reveal that an account exists.
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

/// The action by which the user resolves an error. ``ErrorPresentation`` has a button for it.
public enum Recovery: String, Hashable, Sendable, Codable, CaseIterable {
    /// No action; the user acknowledges the error. The app shows one button.
    case dismiss
    /// Correct the input.
    case fixFields = "fix_fields"
    /// Sign in again.
    case signIn = "sign_in"
    /// Wait for the delay of the error, then retry. Without a known delay, there is no button for a retry.
    case wait
    /// Retry immediately.
    case retry
    /// Check whether the request took effect, without sending it again. A second request could make the change twice.
    case checkAgain = "check_again"
    /// Request a new link.
    case requestNewLink = "request_new_link"
    /// Contact support.
    case contactSupport = "contact_support"
    /// Change something in the settings: a key, a connected account.
    case openSettings = "open_settings"
    /// Install a newer version of the app.
    case updateApp = "update_app"
}

/// How a client may retry after an error.
///
/// The class belongs to the code, never to the status alone: an `API_KEY_INVALID` is a 401, too, but concerns neither the session nor its
/// tokens.
///
/// In every class, the client only repeats a request that is safe to repeat: one with a safe or idempotent method, or with an idempotency
/// key. All repetitions together are limited by the deadline of the call and by the retry budget.
public enum RetryClass: String, Hashable, Sendable, Codable, CaseIterable {
    /// No retry; the same request would fail again.
    case never
    /// Refresh the session once, and retry once. Concurrent calls share the refresh.
    case afterRefresh = "after_refresh"
    /// Refresh the session if a refresh token is available. Otherwise ask the user to sign in. Retry once.
    case afterRefreshOrSignIn = "after_refresh_or_sign_in"
    /// Never refresh: remove the credentials, ask the user to sign in, and retry once.
    case afterSignIn = "after_sign_in"
    /// Wait for the delay in the response, if it fits the maximum delay and the deadline. If the response has no delay, back off instead.
    case afterDelay = "after_delay"
    /// Retry only if the server sent a delay, and it fits the maximum delay and the deadline.
    case onlyAfterNamedDelay = "only_after_named_delay"
    /// Retry with backoff, if the request is safe to repeat.
    case withBackoff = "with_backoff"
}
