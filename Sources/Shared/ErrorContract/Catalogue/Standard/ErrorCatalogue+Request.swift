extension ErrorCode {
    /// Request could not be read. Status 400.
    public static let requestMalformed = Self("REQUEST_MALFORMED")
    /// Method is not offered at this address. Status 405.
    public static let requestMethodNotAllowed = Self("REQUEST_METHOD_NOT_ALLOWED")
    /// Request was sent too slowly. Status 408.
    public static let requestTimeout = Self("REQUEST_TIMEOUT")
    /// Request with this idempotency key is still running. Status 409.
    public static let requestConflict = Self("REQUEST_CONFLICT")
    /// Request body exceeds the limit. Status 413.
    public static let requestTooLarge = Self("REQUEST_TOO_LARGE")
    /// Content type is not supported. Status 415.
    public static let requestUnsupportedMediaType = Self("REQUEST_UNSUPPORTED_MEDIA_TYPE")
    /// Idempotency key was used with another payload. Status 422.
    public static let requestKeyReused = Self("REQUEST_KEY_REUSED")
}

extension ErrorCatalogue {
    /// Requests that the HTTP server can't process.
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
                es: "No se pudo leer la solicitud.",
                he: "לא ניתן היה לקרוא את הבקשה.",
                pt: "Não foi possível ler a solicitação.",
                fr: "La demande n’a pas pu être lue.",
                de: "Die Anfrage konnte nicht gelesen werden."
            ),
            documentation: """
                Said when a body is no JSON or no form, has a key twice, or is nested too deep. It is a fault of the \
                client's code, or of something on the way: the person can only update the app.
                """
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
                es: "Esto no es posible aquí.",
                he: "פעולה זו אינה אפשרית כאן.",
                pt: "Isto não é possível aqui.",
                fr: "Cette action n’est pas possible ici.",
                de: "Das ist hier nicht möglich."
            ),
            documentation: """
                Said when a path is there but not for this method; the Allow header lists those that are. Look at redirects, \
                which turn a POST into a GET.
                """
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
                es: "La solicitud tardó demasiado. Por favor, intenta de nuevo.",
                he: "הבקשה נמשכה זמן רב מדי. נא לנסות שוב.",
                pt: "A solicitação demorou demais. Por favor, tente novamente.",
                fr: "La demande a pris trop de temps. Veuillez réessayer.",
                de: "Die Anfrage hat zu lange gedauert. Bitte versuche es erneut."
            ),
            documentation: """
                Said when the client was too slow to send its request; the server's own slowness is SERVER_TIMEOUT. Nothing \
                was done, so it is safe to repeat with backoff.
                """
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
                es: "Esta solicitud aún se está procesando. Por favor, espera.",
                he: "הבקשה הזו עדיין בטיפול. נא להמתין.",
                pt: "Esta solicitação ainda está sendo processada. Por favor, aguarde.",
                fr: "Cette demande est encore en cours de traitement. Veuillez patienter.",
                de: "Diese Anfrage wird noch bearbeitet. Bitte warte."
            ),
            documentation: """
                Said when a request with the same idempotency key was received before. With the detail `state: running` it is \
                still being worked on: repeat it unchanged, with the same key, after the named delay. With `state: finished` \
                it was done, and its response is not stored: don't repeat it.
                """
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
                es: "Son demasiados datos a la vez.",
                he: "יותר מדי נתונים בבת אחת.",
                pt: "São dados demais de uma só vez.",
                fr: "Cela fait trop de données à la fois.",
                de: "Das sind zu viele Daten auf einmal."
            ),
            documentation: """
                Said when a body is larger than the server reads. It is refused before it is read to its end, so the \
                connection may be closed.
                """
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
                es: "Este tipo de datos no es compatible.",
                he: "סוג הנתונים הזה אינו נתמך.",
                pt: "Este tipo de dados não é compatível.",
                fr: "Ce type de données n’est pas pris en charge.",
                de: "Diese Art von Daten wird nicht unterstützt."
            ),
            documentation: """
                Said when the Content-Type of a body is missing or is none that the route reads. Look at the client's \
                headers rather than at the body.
                """
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
                es: "Esta solicitud difiere de la enviada antes. Por favor, intenta de nuevo.",
                he: "הבקשה הזו שונה מהבקשה שנשלחה קודם. נא לנסות שוב.",
                pt: "Esta solicitação é diferente da enviada antes. Por favor, tente novamente.",
                fr: "Cette demande diffère de celle envoyée auparavant. Veuillez réessayer.",
                de: "Diese Anfrage unterscheidet sich von der zuvor gesendeten. Bitte versuche es erneut."
            ),
            documentation: """
                Said when an idempotency key comes a second time with another payload. A client makes a new key for each new \
                request, and keeps a key only for repeats of the same bytes.
                """
        ),
    ]
}
