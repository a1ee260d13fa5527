extension ErrorCatalogue {
    /// What an HTTP server itself has to say.
    static let request: [ErrorDefinition] = [
        ErrorDefinition(
            .requestMalformed,
            family: .request,
            status: 400,
            summary: "Request could not be read",
            userAction: "Send a well-formed request",
            recovery: .updateApp,
            message: LocalizedText(
                en: "The request could not be read.",
                es: "No se pudo leer la solicitud."
            )
        ),
        ErrorDefinition(
            .requestMethodNotAllowed,
            family: .request,
            status: 405,
            summary: "Method is not offered at this address",
            userAction: "Use one of the methods in the Allow header",
            recovery: .updateApp,
            message: LocalizedText(
                en: "This is not possible here.",
                es: "Esto no es posible aquí."
            )
        ),
        ErrorDefinition(
            .requestTimeout,
            family: .request,
            status: 408,
            summary: "Request was sent too slowly",
            userAction: "Check connection and retry",
            retry: .withBackoff,
            recovery: .retry,
            message: LocalizedText(
                en: "The request took too long. Please try again.",
                es: "La solicitud tardó demasiado. Por favor, intenta de nuevo."
            )
        ),
        ErrorDefinition(
            .requestConflict,
            family: .request,
            status: 409,
            summary: "Request with this idempotency key is still running",
            userAction: "Retry unchanged after the named delay",
            retry: .withBackoff,
            recovery: .wait,
            message: LocalizedText(
                en: "This request is still being worked on. Please wait.",
                es: "Esta solicitud aún se está procesando. Por favor, espera."
            )
        ),
        ErrorDefinition(
            .requestTooLarge,
            family: .request,
            status: 413,
            summary: "Request body exceeds the limit",
            userAction: "Send less data",
            recovery: .fixFields,
            message: LocalizedText(
                en: "That is too much data at once.",
                es: "Son demasiados datos a la vez."
            )
        ),
        ErrorDefinition(
            .requestUnsupportedMediaType,
            family: .request,
            status: 415,
            summary: "Content type is not supported",
            userAction: "Send application/json or application/x-www-form-urlencoded",
            recovery: .updateApp,
            message: LocalizedText(
                en: "This kind of data is not supported.",
                es: "Este tipo de datos no es compatible."
            )
        ),
        ErrorDefinition(
            .requestKeyReused,
            family: .request,
            status: 422,
            summary: "Idempotency key was used with another payload",
            userAction: "Use a new idempotency key",
            recovery: .retry,
            message: LocalizedText(
                en: "This request differs from the one sent before. Please try again.",
                es: "Esta solicitud difiere de la enviada antes. Por favor, intenta de nuevo."
            )
        ),
    ]
}
