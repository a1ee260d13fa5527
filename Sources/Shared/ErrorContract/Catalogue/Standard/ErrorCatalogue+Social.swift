extension ErrorCode {
    /// Failed to connect to social media platform. Status 500.
    ///
    /// The client does not retry; the user changes the settings.
    ///
    /// Returned if a platform could not be reached or refused the connection. First check the platform's status, then the connected
    /// account.
    public static let socialConnectionFailed = Self("SOCIAL_CONNECTION_FAILED")
    /// Social media access token expired. Status 401.
    ///
    /// The client does not retry; the user changes the settings.
    ///
    /// Returned if the platform's token for a connected account has expired. This 401 does not concern the session. A client must not
    /// refresh the session, and must not sign the user out.
    public static let socialTokenExpired = Self("SOCIAL_TOKEN_EXPIRED")
    /// Failed to publish content to platform. Status 500.
    ///
    /// The client does not retry; the user may retry.
    ///
    /// Returned if a platform accepted a post but did not publish it. The post may still appear, so check the platform before you post
    /// again. Repeat the call only if the user requests it.
    public static let socialPublishFailed = Self("SOCIAL_PUBLISH_FAILED")
    /// Social media platform returned an error. Status 500.
    ///
    /// The client does not retry; the user may retry.
    ///
    /// Returned if a platform responded with an error. The `details` of the response contain the platform's error for developers. Don't
    /// show the platform's text to the user.
    public static let socialPlatformError = Self("SOCIAL_PLATFORM_ERROR")
    /// Social media account not connected. Status 400.
    ///
    /// The client does not retry; the user changes the settings.
    ///
    /// Returned if a request needs an account on a platform, but the user has not connected an account of this platform. Open the settings
    /// for the user.
    public static let socialNotConnected = Self("SOCIAL_NOT_CONNECTED")
}

extension ErrorCatalogue {
    /// Connections to social platforms.
    static let social: [ErrorDefinition] = [
        ErrorDefinition(
            .socialConnectionFailed,
            family: .social,
            status: 500,
            summary: "Failed to connect to social media platform",
            userAction: "Try reconnecting your account",
            recovery: .openSettings,
            message: LocalizedText(
                en: "We could not connect to the platform. Please reconnect your account.",
                es: "No pudimos conectar con la plataforma. Por favor, vuelve a conectar tu cuenta.",
                he: "לא הצלחנו להתחבר לפלטפורמה. נא לקשר מחדש את החשבון שלך.",
                pt: "Não foi possível conectar à plataforma. Por favor, reconecte sua conta.",
                fr: "Nous n’avons pas pu nous connecter à la plateforme. Veuillez reconnecter votre compte.",
                de: "Wir konnten keine Verbindung zur Plattform herstellen. Bitte verbinde dein Konto erneut."
            ),
            documentation: """
                Returned if a platform could not be reached or refused the connection. Check the platform's status first, then \
                the connected account.
                """
        ),
        ErrorDefinition(
            .socialTokenExpired,
            family: .social,
            status: 401,
            summary: "Social media access token expired",
            userAction: "Reconnect your social media account",
            recovery: .openSettings,
            message: LocalizedText(
                en: "Please reconnect your social media account.",
                es: "Por favor, vuelve a conectar tu cuenta de la red social.",
                he: "נא לקשר מחדש את החשבון שלך ברשת החברתית.",
                pt: "Por favor, reconecte sua conta da rede social.",
                fr: "Veuillez reconnecter votre compte de réseau social.",
                de: "Bitte verbinde dein Social-Media-Konto erneut."
            ),
            documentation: """
                Returned if the platform's token for a connected account has expired. This 401 concerns another credential \
                than the session, so a client must neither refresh nor sign out.
                """
        ),
        ErrorDefinition(
            .socialPublishFailed,
            family: .social,
            status: 500,
            summary: "Failed to publish content to platform",
            userAction: "Check platform status and retry",
            recovery: .retry,
            message: LocalizedText(
                en: "The content could not be published. Please try again.",
                es: "No se pudo publicar el contenido. Por favor, intenta de nuevo.",
                he: "לא ניתן היה לפרסם את התוכן. נא לנסות שוב.",
                pt: "Não foi possível publicar o conteúdo. Por favor, tente novamente.",
                fr: "Le contenu n’a pas pu être publié. Veuillez réessayer.",
                de: "Der Inhalt konnte nicht veröffentlicht werden. Bitte versuche es erneut."
            ),
            documentation: """
                Returned if a platform accepted a post and did not publish it. The post may still appear, so check before you \
                post again, and never repeat the call unless the user requests it.
                """
        ),
        ErrorDefinition(
            .socialPlatformError,
            family: .social,
            status: 500,
            summary: "Social media platform returned an error",
            userAction: "Check platform-specific error in details",
            recovery: .retry,
            message: LocalizedText(
                en: "The platform reported an error. Please try again.",
                es: "La plataforma informó un error. Por favor, intenta de nuevo.",
                he: "הפלטפורמה דיווחה על שגיאה. נא לנסות שוב.",
                pt: "A plataforma informou um erro. Por favor, tente novamente.",
                fr: "La plateforme a signalé une erreur. Veuillez réessayer.",
                de: "Die Plattform hat einen Fehler gemeldet. Bitte versuche es erneut."
            ),
            documentation: """
                Returned if a platform responded with its own error, which details contains for developers. Don't show the \
                platform's text to the user.
                """
        ),
        ErrorDefinition(
            .socialNotConnected,
            family: .social,
            status: 400,
            summary: "Social media account not connected",
            userAction: "Connect your social media account first",
            recovery: .openSettings,
            message: LocalizedText(
                en: "Please connect your social media account first.",
                es: "Por favor, conecta primero tu cuenta de la red social.",
                he: "נא לקשר תחילה את החשבון שלך ברשת החברתית.",
                pt: "Por favor, conecte primeiro sua conta da rede social.",
                fr: "Veuillez d’abord connecter votre compte de réseau social.",
                de: "Bitte verbinde zuerst dein Social-Media-Konto."
            ),
            documentation: """
                Returned if a request needs an account on a platform for which none is connected. Open the settings for the \
                user.
                """
        ),
    ]
}
