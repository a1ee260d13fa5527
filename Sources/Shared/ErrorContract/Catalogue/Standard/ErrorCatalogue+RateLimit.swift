extension ErrorCode {
    /// Too many requests in short time period. Status 429.
    public static let rateLimitExceeded = Self("RATE_LIMIT_EXCEEDED")
    /// Request rate exceeded. Status 429.
    public static let rateLimitTooManyRequests = Self("RATE_LIMIT_TOO_MANY_REQUESTS")
    /// Daily/monthly quota exceeded. Status 429.
    public static let rateLimitQuotaExceeded = Self("RATE_LIMIT_QUOTA_EXCEEDED")
    /// Too many requests from this device. Status 429.
    public static let rateLimitDeviceLimit = Self("RATE_LIMIT_DEVICE_LIMIT")
    /// API key quota exceeded. Status 429.
    public static let rateLimitAPILimit = Self("RATE_LIMIT_API_LIMIT")
}

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
                es: "Demasiados intentos. Intenta de nuevo más tarde.",
                he: "יותר מדי ניסיונות. ניתן לנסות שוב מאוחר יותר.",
                pt: "Muitas tentativas. Tente novamente mais tarde.",
                fr: "Trop de tentatives. Réessayez plus tard.",
                de: "Zu viele Versuche. Versuche es später erneut."
            ),
            documentation: """
                Said by a limit of the server; details.retry_after and Retry-After name the same wait, in whole seconds. \
                Wait as told, if the wait fits the caller's deadline; a client must not come back earlier, and must not \
                spread the load over other connections. If details.reset_password is true, the device that confirms a \
                password reset can sign in before that.
                """
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
                es: "Demasiados intentos. Intenta de nuevo más tarde.",
                he: "יותר מדי ניסיונות. ניתן לנסות שוב מאוחר יותר.",
                pt: "Muitas tentativas. Tente novamente mais tarde.",
                fr: "Trop de tentatives. Réessayez plus tard.",
                de: "Zu viele Versuche. Versuche es später erneut."
            ),
            documentation: """
                Said like RATE_LIMIT_EXCEEDED, by limits that count requests rather than attempts. Clients treat the two \
                alike. Look at loops that poll, and at retries that have no backoff.
                """
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
                es: "Alcanzaste tu cuota. Intenta de nuevo más tarde o cambia tu plan.",
                he: "ניצלת את כל המכסה שלך. ניתן לנסות שוב מאוחר יותר או לשנות את התוכנית.",
                pt: "Você atingiu sua cota. Tente novamente mais tarde ou mude de plano.",
                fr: "Vous avez atteint votre quota. Réessayez plus tard ou changez de formule.",
                de: "Dein Kontingent ist erschöpft. Versuche es später erneut oder wechsle den Tarif."
            ),
            documentation: """
                Said when the quota of a day or a month is used up. A client repeats nothing by itself unless the answer \
                names a delay that fits, which it rarely does.
                """
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
                es: "Demasiadas solicitudes desde este dispositivo. Intenta de nuevo más tarde.",
                he: "יותר מדי בקשות מהמכשיר הזה. ניתן לנסות שוב מאוחר יותר.",
                pt: "Muitas solicitações deste dispositivo. Tente novamente mais tarde.",
                fr: "Trop de demandes depuis cet appareil. Réessayez plus tard.",
                de: "Zu viele Anfragen von diesem Gerät. Versuche es später erneut."
            ),
            documentation: """
                Said when one device asks too often, whoever is signed in on it. Wait as told; signing out or in does not \
                help.
                """
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
                es: "Se alcanzó el límite de la clave de API.",
                he: "הושגה המגבלה של מפתח ה־API.",
                pt: "O limite da chave de API foi atingido.",
                fr: "La limite de la clé d’API est atteinte.",
                de: "Das Limit des API-Schlüssels ist erreicht."
            ),
            documentation: """
                Said when a key for a third-party interface has reached its rate. The key is good, so it must not be thrown \
                away; repeat only if the answer names a delay that fits.
                """
        ),
    ]
}
