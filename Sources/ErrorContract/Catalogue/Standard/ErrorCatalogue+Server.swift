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
            message: LocalizedText(
                en: "Something went wrong. Please try again.",
                es: "Algo salió mal. Por favor, intenta de nuevo."
            )
        ),
        ErrorDefinition(
            .serverDatabaseError,
            family: .server,
            status: 500,
            summary: "Database operation failed",
            userAction: "Try again later",
            retry: .withBackoff,
            recovery: .retry,
            message: LocalizedText(
                en: "Something went wrong. Please try again.",
                es: "Algo salió mal. Por favor, intenta de nuevo."
            )
        ),
        ErrorDefinition(
            .serverNetworkError,
            family: .server,
            status: 500,
            summary: "Network communication error",
            userAction: "Check connection and retry",
            retry: .withBackoff,
            recovery: .retry,
            message: LocalizedText(
                en: "Something went wrong. Please try again.",
                es: "Algo salió mal. Por favor, intenta de nuevo."
            )
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
                es: "El servicio está ocupado. Por favor, intenta de nuevo en unos minutos."
            )
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
                es: "La solicitud tardó demasiado. Por favor, intenta de nuevo."
            )
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
                es: "Estamos en mantenimiento. Por favor, intenta de nuevo más tarde."
            )
        ),
    ]
}
