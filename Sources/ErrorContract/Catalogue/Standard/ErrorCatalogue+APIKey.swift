extension ErrorCatalogue {
    /// Keys for third-party interfaces.
    static let apiKey: [ErrorDefinition] = [
        ErrorDefinition(
            .apiKeyMissing,
            family: .apiKey,
            status: 400,
            summary: "API key not configured",
            userAction: "Add API key in settings",
            recovery: .openSettings,
            message: LocalizedText(
                en: "Please add an API key in the settings.",
                es: "Por favor, agrega una clave de API en los ajustes."
            )
        ),
        ErrorDefinition(
            .apiKeyInvalid,
            family: .apiKey,
            status: 401,
            summary: "API key is invalid or incorrect",
            userAction: "Check API key and update",
            recovery: .openSettings,
            message: LocalizedText(
                en: "The API key is not valid. Please check it in the settings.",
                es: "La clave de API no es válida. Por favor, revísala en los ajustes."
            )
        ),
        ErrorDefinition(
            .apiKeyExpired,
            family: .apiKey,
            status: 401,
            summary: "API key has expired",
            userAction: "Renew API key",
            recovery: .openSettings,
            message: LocalizedText(
                en: "The API key has expired. Please renew it.",
                es: "La clave de API ha expirado. Por favor, renuévala."
            )
        ),
        ErrorDefinition(
            .apiKeyQuotaExceeded,
            family: .apiKey,
            status: 429,
            summary: "API key usage quota exceeded",
            userAction: "Wait for reset or upgrade API plan",
            retry: .onlyAfterNamedDelay,
            recovery: .openSettings,
            message: LocalizedText(
                en: "The quota of the API key is used up.",
                es: "La cuota de la clave de API está agotada."
            )
        ),
    ]
}
