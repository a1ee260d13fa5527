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
                es: "No pudimos conectar con la plataforma. Por favor, vuelve a conectar tu cuenta."
            )
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
                es: "Por favor, vuelve a conectar tu cuenta de la red social."
            )
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
                es: "No se pudo publicar el contenido. Por favor, intenta de nuevo."
            )
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
                es: "La plataforma informó un error. Por favor, intenta de nuevo."
            )
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
                es: "Por favor, conecta primero tu cuenta de la red social."
            )
        ),
    ]
}
