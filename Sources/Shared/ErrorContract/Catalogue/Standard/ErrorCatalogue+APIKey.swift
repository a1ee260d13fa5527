extension ErrorCode {
    /// API key not configured. Status 400.
    public static let apiKeyMissing = Self("API_KEY_MISSING")
    /// API key is invalid or incorrect. Status 401.
    public static let apiKeyInvalid = Self("API_KEY_INVALID")
    /// API key has expired. Status 401.
    public static let apiKeyExpired = Self("API_KEY_EXPIRED")
    /// API key usage quota exceeded. Status 429.
    public static let apiKeyQuotaExceeded = Self("API_KEY_QUOTA_EXCEEDED")
}

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
                es: "Por favor, agrega una clave de API en los ajustes.",
                he: "נא להוסיף מפתח API בהגדרות.",
                pt: "Por favor, adicione uma chave de API nas configurações.",
                fr: "Veuillez ajouter une clé d’API dans les réglages.",
                de: "Bitte füge in den Einstellungen einen API-Schlüssel hinzu."
            ),
            documentation: """
                Said when a function needs a key for a third-party interface and none is configured. It is not about the \
                session: nobody is signed out because of it.
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
                Said when a third-party interface refuses the configured key. It is a 401 about another credential than the \
                session: a client must neither refresh nor sign out.
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
                Said when the configured key was good and has run out. Like API_KEY_INVALID it is a 401 that must neither \
                refresh nor end a session.
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
                Said when the plan behind the configured key has nothing left. Repeat only if the answer names a delay that \
                fits; otherwise the plan has to be changed.
                """
        ),
    ]
}
