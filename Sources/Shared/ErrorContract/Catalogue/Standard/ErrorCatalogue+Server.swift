extension ErrorCode {
    /// Internal server error occurred. Status 500.
    ///
    /// The client retries with backoff; the user may retry.
    ///
    /// Returned if the server failed unexpectedly. The response never contains the cause. To find the cause, search the server's log for
    /// the request id. Repeat the call with backoff if it is safe to repeat.
    public static let serverInternalError = Self("SERVER_INTERNAL_ERROR")
    /// Database operation failed. Status 500.
    ///
    /// The client retries with backoff; the user may retry.
    ///
    /// Returned if an operation of the server's database failed, or its result was lost. First search the log for the request id, then
    /// check the database. A write may nevertheless have taken effect, so repeat only calls that are safe to repeat.
    public static let serverDatabaseError = Self("SERVER_DATABASE_ERROR")
    /// Network communication error. Status 500.
    ///
    /// The client retries with backoff; the user may retry.
    ///
    /// Returned if the server could not reach a system that it depends on. The problem is in the server's network. The device's own
    /// connection works, so don't advise the user to check it.
    public static let serverNetworkError = Self("SERVER_NETWORK_ERROR")
    /// Service temporarily unavailable. Status 503.
    ///
    /// The client retries with backoff; the user waits.
    ///
    /// Returned if the server accepts no more requests at the moment, for example because too many passwords wait to be hashed.
    /// `Retry-After` contains the delay. A client that retries earlier prolongs the overload.
    public static let serverServiceUnavailable = Self("SERVER_SERVICE_UNAVAILABLE")
    /// Request timed out. Status 504.
    ///
    /// The client retries with backoff; the user may retry.
    ///
    /// Returned if the server could not respond before the deadline. The request may have taken effect, so repeat it only if it is safe to
    /// repeat. If it has an idempotency key, use the same key.
    public static let serverTimeout = Self("SERVER_TIMEOUT")
    /// Server under maintenance. Status 503.
    ///
    /// The client retries only if the response contains a delay; the user waits.
    ///
    /// Returned during planned maintenance. Repeat the call only if the delay in `Retry-After` ends before the deadline. Otherwise show the
    /// message, and let the user decide.
    public static let serverMaintenance = Self("SERVER_MAINTENANCE")
}

extension ErrorCatalogue {
    /// Failures of the server.
    static let server: [ErrorDefinition] = [
        ErrorDefinition(
            .serverInternalError,
            family: .server,
            status: 500,
            summary: "Internal server error occurred",
            userAction: "Try again later or contact support",
            retry: .withBackoff,
            recovery: .retry,
            message: ContractText.server,
            documentation: """
                Returned if the server failed unexpectedly; its log contains the cause under the request id, the response \
                never does. Repeat the call with backoff if it is safe to repeat.
                """
        ),
        ErrorDefinition(
            .serverDatabaseError,
            family: .server,
            status: 500,
            summary: "Database operation failed",
            userAction: "Try again later",
            retry: .withBackoff,
            recovery: .retry,
            message: ContractText.server,
            documentation: """
                Returned if the server's database refused or lost an operation. Check the log under the request id, then the \
                database. A write may have taken effect, so repeat only calls that are safe to repeat.
                """
        ),
        ErrorDefinition(
            .serverNetworkError,
            family: .server,
            status: 500,
            summary: "Network communication error",
            userAction: "Check connection and retry",
            retry: .withBackoff,
            recovery: .retry,
            message: ContractText.server,
            documentation: """
                Returned if the server could not reach a system on which it depends. The cause is the server's network, not \
                the device's, so don't advise the user to check the connection.
                """
        ),
        ErrorDefinition(
            .serverServiceUnavailable,
            family: .server,
            status: 503,
            summary: "Service temporarily unavailable",
            userAction: "Try again in a few minutes",
            retry: .withBackoff,
            recovery: .wait,
            message: LocalizedText(
                en: "The service is busy. Please try again in a few minutes.",
                es: "El servicio está ocupado. Por favor, intenta de nuevo en unos minutos.",
                he: "השירות עמוס. נא לנסות שוב בעוד כמה דקות.",
                pt: "O serviço está ocupado. Por favor, tente novamente em alguns minutos.",
                fr: "Le service est surchargé. Veuillez réessayer dans quelques minutes.",
                de: "Der Dienst ist ausgelastet. Bitte versuche es in ein paar Minuten erneut."
            ),
            documentation: """
                Returned if the server accepts no more requests at the moment, for example because too many passwords wait to \
                be hashed. Retry-After contains the delay. Clients that return earlier prolong the overload.
                """
        ),
        ErrorDefinition(
            .serverTimeout,
            family: .server,
            status: 504,
            summary: "Request timed out",
            userAction: "Check connection and retry",
            retry: .withBackoff,
            recovery: .retry,
            message: LocalizedText(
                en: "The request took too long. Please try again.",
                es: "La solicitud tardó demasiado. Por favor, intenta de nuevo.",
                he: "הבקשה נמשכה זמן רב מדי. נא לנסות שוב.",
                pt: "A solicitação demorou demais. Por favor, tente novamente.",
                fr: "La demande a pris trop de temps. Veuillez réessayer.",
                de: "Die Anfrage hat zu lange gedauert. Bitte versuche es erneut."
            ),
            documentation: """
                Returned if the server could not respond before the deadline. The request may have taken effect, so repeat it \
                only if it is safe to repeat, with the same idempotency key.
                """
        ),
        ErrorDefinition(
            .serverMaintenance,
            family: .server,
            status: 503,
            summary: "Server under maintenance",
            userAction: "Check status page for updates",
            retry: .onlyAfterNamedDelay,
            recovery: .wait,
            message: LocalizedText(
                en: "We are doing maintenance. Please try again later.",
                es: "Estamos en mantenimiento. Por favor, intenta de nuevo más tarde.",
                he: "אנחנו מבצעים עבודות תחזוקה. נא לנסות שוב מאוחר יותר.",
                pt: "Estamos em manutenção. Por favor, tente novamente mais tarde.",
                fr: "Une maintenance est en cours. Veuillez réessayer plus tard.",
                de: "Wir führen gerade Wartungsarbeiten durch. Bitte versuche es später erneut."
            ),
            documentation: """
                Returned during planned maintenance. Repeat the call only if Retry-After fits the deadline; otherwise show the \
                message, and let the user decide.
                """
        ),
    ]
}
