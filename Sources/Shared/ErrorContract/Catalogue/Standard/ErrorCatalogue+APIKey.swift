extension ErrorCode {
    /// API key not configured. Status 400.
    ///
    /// The client does not retry; the user changes the settings.
    ///
    /// Returned if a function needs a key for a third-party API and no key is configured. The error does not concern the session, so a
    /// client must not sign the user out.
    public static let apiKeyMissing = Self("API_KEY_MISSING")
    /// API key is invalid or incorrect. Status 401.
    ///
    /// The client does not retry; the user changes the settings.
    ///
    /// Returned if a third-party API refuses the configured key. This 401 does not concern the session. A client must not refresh the
    /// session, and must not sign the user out.
    public static let apiKeyInvalid = Self("API_KEY_INVALID")
    /// API key has expired. Status 401.
    ///
    /// The client does not retry; the user changes the settings.
    ///
    /// Returned if the configured key has expired. Like `API_KEY_INVALID`, this 401 does not concern the session. A client must not refresh
    /// the session, and must not sign the user out.
    public static let apiKeyExpired = Self("API_KEY_EXPIRED")
    /// API key usage quota exceeded. Status 429.
    ///
    /// The client retries only if the response contains a delay; the user changes the settings.
    ///
    /// Returned if the quota of the configured key is used up. Repeat the call only if the response contains a delay that ends before the
    /// deadline. Otherwise the user must change the plan of the third-party API.
    public static let apiKeyQuotaExceeded = Self("API_KEY_QUOTA_EXCEEDED")
}

extension ErrorCatalogue {
    /// Keys for third-party APIs.
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
                es: "Por favor, agrega una clave de API en los ajustes.",
                he: "נא להוסיף מפתח API בהגדרות.",
                pt: "Por favor, adicione uma chave de API nas configurações.",
                fr: "Veuillez ajouter une clé d’API dans les réglages.",
                de: "Bitte füge in den Einstellungen einen API-Schlüssel hinzu."
            ),
            documentation: """
                Returned if a function needs a key for a third-party API and none is configured. It does not concern the \
                session, so a client must not sign the user out.
                """
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
                es: "La clave de API no es válida. Por favor, revísala en los ajustes.",
                he: "מפתח ה־API אינו תקין. נא לבדוק אותו בהגדרות.",
                pt: "A chave de API não é válida. Por favor, verifique-a nas configurações.",
                fr: "La clé d’API n’est pas valide. Veuillez la vérifier dans les réglages.",
                de: "Der API-Schlüssel ist ungültig. Bitte überprüfe ihn in den Einstellungen."
            ),
            documentation: """
                Returned if a third-party API refuses the configured key. This 401 concerns another credential than the \
                session, so a client must neither refresh nor sign out.
                """
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
                es: "La clave de API ha expirado. Por favor, renuévala.",
                he: "תוקף מפתח ה־API פג. נא לחדש אותו.",
                pt: "A chave de API expirou. Por favor, renove-a.",
                fr: "La clé d’API a expiré. Veuillez la renouveler.",
                de: "Der API-Schlüssel ist abgelaufen. Bitte erneuere ihn."
            ),
            documentation: """
                Returned if the configured key has expired. Like API_KEY_INVALID, this 401 does not concern the session, so a \
                client must neither refresh nor sign out.
                """
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
                es: "La cuota de la clave de API está agotada.",
                he: "המכסה של מפתח ה־API נוצלה במלואה.",
                pt: "A cota da chave de API se esgotou.",
                fr: "Le quota de la clé d’API est épuisé.",
                de: "Das Kontingent des API-Schlüssels ist aufgebraucht."
            ),
            documentation: """
                Returned if the quota of the configured key is used up. Repeat the call only if the response contains a delay \
                that fits the deadline; otherwise the plan must be changed.
                """
        ),
    ]
}
