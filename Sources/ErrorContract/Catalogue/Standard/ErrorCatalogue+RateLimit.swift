extension ErrorCatalogue {
    /// Too many requests.
    static let rateLimit: [ErrorDefinition] = [
        ErrorDefinition(
            .rateLimitExceeded,
            family: .rateLimit,
            status: 429,
            summary: "Too many requests in short time period",
            userAction: "Wait before retrying (see retry_after field)",
            retry: .afterDelay,
            recovery: .wait,
            message: LocalizedText(
                en: "Too many attempts. Try again later.",
                es: "Demasiados intentos. Intenta de nuevo más tarde."
            )
        ),
        ErrorDefinition(
            .rateLimitTooManyRequests,
            family: .rateLimit,
            status: 429,
            summary: "Request rate exceeded",
            userAction: "Slow down request rate",
            retry: .afterDelay,
            recovery: .wait,
            message: LocalizedText(
                en: "Too many attempts. Try again later.",
                es: "Demasiados intentos. Intenta de nuevo más tarde."
            )
        ),
        ErrorDefinition(
            .rateLimitQuotaExceeded,
            family: .rateLimit,
            status: 429,
            summary: "Daily/monthly quota exceeded",
            userAction: "Wait for quota reset or upgrade plan",
            retry: .onlyAfterNamedDelay,
            recovery: .wait,
            message: LocalizedText(
                en: "You have reached your quota. Try again later or change your plan.",
                es: "Alcanzaste tu cuota. Intenta de nuevo más tarde o cambia tu plan."
            )
        ),
        ErrorDefinition(
            .rateLimitDeviceLimit,
            family: .rateLimit,
            status: 429,
            summary: "Too many requests from this device",
            userAction: "Wait before retrying",
            retry: .afterDelay,
            recovery: .wait,
            message: LocalizedText(
                en: "Too many requests from this device. Try again later.",
                es: "Demasiadas solicitudes desde este dispositivo. Intenta de nuevo más tarde."
            )
        ),
        ErrorDefinition(
            .rateLimitAPILimit,
            family: .rateLimit,
            status: 429,
            summary: "API key quota exceeded",
            userAction: "Check API key status or upgrade",
            retry: .onlyAfterNamedDelay,
            recovery: .openSettings,
            message: LocalizedText(
                en: "The limit of the API key is reached.",
                es: "Se alcanzó el límite de la clave de API."
            )
        ),
    ]
}
