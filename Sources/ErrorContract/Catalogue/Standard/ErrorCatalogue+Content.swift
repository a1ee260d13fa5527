extension ErrorCatalogue {
    /// Generated and published content.
    static let content: [ErrorDefinition] = [
        ErrorDefinition(
            .contentGenerationFailed,
            family: .content,
            status: 500,
            summary: "Failed to generate content",
            userAction: "Check API key and retry",
            recovery: .retry,
            message: LocalizedText(
                en: "The content could not be made. Please try again.",
                es: "No se pudo generar el contenido. Por favor, intenta de nuevo."
            )
        ),
        ErrorDefinition(
            .contentTooLong,
            family: .content,
            status: 400,
            summary: "Content exceeds platform limit",
            userAction: "Reduce content length",
            recovery: .fixFields,
            message: LocalizedText(
                en: "The content is too long.",
                es: "El contenido es demasiado largo."
            )
        ),
        ErrorDefinition(
            .contentInvalidFormat,
            family: .content,
            status: 400,
            summary: "Content format is invalid",
            userAction: "Check format requirements",
            recovery: .fixFields,
            message: LocalizedText(
                en: "The format of the content is not valid.",
                es: "El formato del contenido no es válido."
            )
        ),
        ErrorDefinition(
            .contentModerationFailed,
            family: .content,
            status: 400,
            summary: "Content failed moderation checks",
            userAction: "Review and modify content",
            recovery: .fixFields,
            message: LocalizedText(
                en: "The content was not accepted. Please review it.",
                es: "El contenido no fue aceptado. Por favor, revísalo."
            )
        ),
    ]
}
