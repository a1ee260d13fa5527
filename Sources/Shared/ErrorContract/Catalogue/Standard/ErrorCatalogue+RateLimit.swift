extension ErrorCode {
    /// Too many requests in short time period. Status 429.
    ///
    /// The client retries after the delay of the response; the user waits.
    ///
    /// Returned if a limit of the server is exceeded. `details.retry_after` and `Retry-After` contain the same delay, in whole seconds. If
    /// the delay ends before the call's deadline, a client waits and then retries. It must not retry earlier, not even over another
    /// connection. If `details.reset_password` is true, the user can reset the password to sign in before the delay ends.
    public static let rateLimitExceeded = Self("RATE_LIMIT_EXCEEDED")
    /// Request rate exceeded. Status 429.
    ///
    /// The client retries after the delay of the response; the user waits.
    ///
    /// Returned by limits on the number of requests. Limits on the number of attempts, such as sign-ins, return `RATE_LIMIT_EXCEEDED`.
    /// Clients treat both codes in the same way. Check for loops that poll, and for retries without backoff.
    public static let rateLimitTooManyRequests = Self("RATE_LIMIT_TOO_MANY_REQUESTS")
    /// Daily/monthly quota exceeded. Status 429.
    ///
    /// The client retries only if the response contains a delay; the user waits.
    ///
    /// Returned if the quota of a day or a month is used up. A client repeats the call only if the response contains a delay that ends
    /// before the call's deadline. Such a short delay is rare.
    public static let rateLimitQuotaExceeded = Self("RATE_LIMIT_QUOTA_EXCEEDED")
    /// Too many requests from this device. Status 429.
    ///
    /// The client retries after the delay of the response; the user waits.
    ///
    /// Returned if one device sends too many requests. The requests of all users on the device count together. Wait for the delay. A new
    /// sign-in does not reset the limit.
    public static let rateLimitDeviceLimit = Self("RATE_LIMIT_DEVICE_LIMIT")
    /// API key quota exceeded. Status 429.
    ///
    /// The client retries only if the response contains a delay; the user changes the settings.
    ///
    /// Returned if a key for a third-party API has reached its rate limit. The key is still valid, so don't remove it. Repeat the call only
    /// if the response contains a delay that ends before the deadline.
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
            message: ContractText.limitedLater,
            documentation: """
                Returned if a limit of the server is exceeded; details.retry_after and Retry-After contain the same delay, in \
                whole seconds. A client waits for this delay if it fits its deadline; it must not return earlier or use other \
                connections. If details.reset_password is true, a device can sign in earlier by confirming a password reset.
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
            message: ContractText.limitedLater,
            documentation: """
                Returned like RATE_LIMIT_EXCEEDED, by limits that count requests instead of attempts. Clients treat both codes \
                alike. Check for loops that poll, and for retries without backoff.
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
                Returned if the quota of a day or a month is used up. A client does not repeat the call, unless the response \
                contains a delay that fits its deadline, which is rare.
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
                Returned if one device sends too many requests, for all users who sign in on it together. Wait for the delay; \
                to sign out and in again has no effect.
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
                Returned if a key for a third-party API has reached its rate limit. The key is valid, so don't discard it. \
                Repeat the call only if the response contains a delay that fits the deadline.
                """
        ),
    ]
}
