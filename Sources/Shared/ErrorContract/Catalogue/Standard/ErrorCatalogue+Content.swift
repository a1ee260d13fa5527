extension ErrorCode {
    /// Failed to generate content. Status 500.
    ///
    /// The client does not retry; the user may retry.
    ///
    /// Returned if content could not be generated. Check the key of the API that generates the content. Each generation costs money, so a
    /// client repeats the call only if the user requests it.
    public static let contentGenerationFailed = Self("CONTENT_GENERATION_FAILED")
    /// Content exceeds platform limit. Status 400.
    ///
    /// The client does not retry; the user corrects the input.
    ///
    /// Returned if content is longer than the platform allows. Platforms count characters differently. A client must not truncate the
    /// content.
    public static let contentTooLong = Self("CONTENT_TOO_LONG")
    /// Content format is invalid. Status 400.
    ///
    /// The client does not retry; the user corrects the input.
    ///
    /// Returned if the platform does not support the type or format of the content, such as an image in an unknown format. The platform
    /// would refuse the same content again.
    public static let contentInvalidFormat = Self("CONTENT_INVALID_FORMAT")
    /// Content failed moderation checks. Status 400.
    ///
    /// The client does not retry; the user corrects the input.
    ///
    /// Returned if a moderation check refused the content. The response does not name the rule, so that users can't circumvent it. The
    /// user must change the content.
    public static let contentModerationFailed = Self("CONTENT_MODERATION_FAILED")
}

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
                es: "No se pudo generar el contenido. Por favor, intenta de nuevo.",
                he: "לא ניתן היה ליצור את התוכן. נא לנסות שוב.",
                pt: "Não foi possível gerar o conteúdo. Por favor, tente novamente.",
                fr: "Le contenu n’a pas pu être créé. Veuillez réessayer.",
                de: "Der Inhalt konnte nicht erstellt werden. Bitte versuche es erneut."
            ),
            documentation: """
                Returned if content could not be generated. Check the key of the API that generates it. Each generation has a \
                cost, so a client repeats it only if the user requests it.
                """
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
                es: "El contenido es demasiado largo.",
                he: "התוכן ארוך מדי.",
                pt: "O conteúdo é muito longo.",
                fr: "Le contenu est trop long.",
                de: "Der Inhalt ist zu lang."
            ),
            documentation: """
                Returned if content is longer than the platform allows; platforms count characters differently. A client must \
                not truncate it.
                """
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
                es: "El formato del contenido no es válido.",
                he: "פורמט התוכן אינו תקין.",
                pt: "O formato do conteúdo não é válido.",
                fr: "Le format du contenu n’est pas valide.",
                de: "Das Format des Inhalts ist ungültig."
            ),
            documentation: """
                Returned if the platform does not support the type or format of the content, such as an image in an unknown \
                format. The same content will be refused again.
                """
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
                es: "El contenido no fue aceptado. Por favor, revísalo.",
                he: "התוכן לא אושר. נא לבדוק אותו.",
                pt: "O conteúdo não foi aceito. Por favor, revise-o.",
                fr: "Le contenu n’a pas été accepté. Veuillez le revoir.",
                de: "Der Inhalt wurde nicht akzeptiert. Bitte überprüfe ihn."
            ),
            documentation: """
                Returned if a moderation check refused the content. The response does not name the rule, so that users can't \
                circumvent it. The user must change the content.
                """
        ),
    ]
}
