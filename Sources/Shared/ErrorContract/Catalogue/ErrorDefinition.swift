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
