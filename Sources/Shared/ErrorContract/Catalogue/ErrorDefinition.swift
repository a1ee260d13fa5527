/// The definition of one error code: its status, its texts, its retry class and its recovery.
///
/// A server builds its error responses from a definition. A client takes the retry class and the text from the definition. Define an app's
/// own codes in a module that the app and its server share, and add them with ``ErrorCatalogue/adding(_:)``.
public struct ErrorDefinition: Hashable, Sendable {
    /// The code on the wire.
    public let code: ErrorCode
    /// The family (group) of the code. The name of the family is the prefix of the code.
    public let family: ErrorFamily
    /// The HTTP status, from 400 to 599. A code always has the same status.
    public let status: Int
    /// A description of the failure for developers, in English.
    public let summary: String
    /// The advice for developers, in English.
    public let userAction: String
    /// The way in which a client may retry. The default is ``RetryClass/never``.
    public let retry: RetryClass
    /// The action by which the user resolves the error. The default is ``Recovery/dismiss``.
    public let recovery: Recovery
    /// The text shown to the user. It must not contain internal information of the server, because any client can cause the error.
    public let message: LocalizedText
    /// Further documentation for developers, in English: when the code occurs and what to check. Empty if the summary is
    /// sufficient.
    public let documentation: String
    /// The version of the catalogue that introduced the code.
    public let since: String
    /// Whether a response with this code may reveal that an account exists. ``summary`` and `documentation` state which callers get such
    /// a response.
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

/// The action by which the user resolves an error. An app shows the action as a button; see ``ErrorPresentation``.
public enum Recovery: String, Hashable, Sendable, Codable, CaseIterable {
    /// Acknowledge the error. There is no other action, so the app shows only this button.
    case dismiss
    /// Correct the input.
    case fixFields = "fix_fields"
    /// Sign in again.
    case signIn = "sign_in"
    /// Wait for the delay of the error, then retry. If the delay is unknown, the presentation has no action for a retry.
    case wait
    /// Retry immediately.
    case retry
    /// Check whether the request took effect. The app must not send the request again, because the server could then apply the change
    /// twice.
    case checkAgain = "check_again"
    /// Request a new link.
    case requestNewLink = "request_new_link"
    /// Contact support.
    case contactSupport = "contact_support"
    /// Change something in the settings, such as a key or a connected account.
    case openSettings = "open_settings"
    /// Install a newer version of the app.
    case updateApp = "update_app"
}

/// The way in which a client may retry after an error.
///
/// The code determines the class, because the status is ambiguous. For example, `API_KEY_INVALID` has the status 401, but this error
/// concerns an API key and not the session.
///
/// In every class, the client only repeats a request that is safe to repeat. Such a request has a safe method, an idempotent method or an
/// idempotency key. The deadline of the call and the client's retry budget limit the number of retries in every class.
public enum RetryClass: String, Hashable, Sendable, Codable, CaseIterable {
    /// Do not retry, because the same request would fail again.
    case never
    /// Refresh the session once, and retry once. Concurrent calls share one refresh.
    case afterRefresh = "after_refresh"
    /// Refresh the session if a refresh token is available. Otherwise ask the user to sign in. Retry once.
    case afterRefreshOrSignIn = "after_refresh_or_sign_in"
    /// Remove the credentials without a refresh, ask the user to sign in, and retry once.
    case afterSignIn = "after_sign_in"
    /// Wait for the delay in the response, then retry. The client doesn't retry if the delay exceeds the maximum delay or the deadline. If
    /// the response has no delay, the client uses backoff.
    case afterDelay = "after_delay"
    /// Retry only if the server sent a delay that exceeds neither the maximum delay nor the deadline.
    case onlyAfterNamedDelay = "only_after_named_delay"
    /// Retry with backoff, if the request is safe to repeat.
    case withBackoff = "with_backoff"
}
