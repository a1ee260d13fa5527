extension ErrorCode {
    /// Request could not be read. Status 400.
    ///
    /// The client does not retry; the user updates the app.
    ///
    /// Returned if a body is not valid JSON or not a valid form, has a duplicate key, or is nested too deeply. The cause is a bug in the
    /// client, or a proxy between client and server that changes requests. The user can only update the app.
    public static let requestMalformed = Self("REQUEST_MALFORMED")
    /// Method is not offered at this address. Status 405.
    ///
    /// The client does not retry; the user updates the app.
    ///
    /// Returned if a path exists but does not support the method. The `Allow` header lists the supported methods. Check whether a redirect
    /// changed a POST into a GET.
    public static let requestMethodNotAllowed = Self("REQUEST_METHOD_NOT_ALLOWED")
    /// Request was sent too slowly. Status 408.
    ///
    /// The client retries with backoff; the user may retry.
    ///
    /// Returned if the client sent its request too slowly. If the server is too slow, it returns `SERVER_TIMEOUT` instead. The request had
    /// no effect, so it is safe to repeat it with backoff.
    public static let requestTimeout = Self("REQUEST_TIMEOUT")
    /// Request with this idempotency key is still running. Status 409.
    ///
    /// The client retries with backoff; the user waits.
    ///
    /// Returned if the server has already received a request with the same idempotency key. The member `state` of `details` describes the
    /// first request. If it is `running`, the server is still executing the first request. Repeat the request unchanged, with the same key,
    /// after the delay in the response. If it is `finished`, the server has executed the first request but has not stored its response. In
    /// this case, don't repeat the request.
    public static let requestConflict = Self("REQUEST_CONFLICT")
    /// Request body exceeds the limit. Status 413.
    ///
    /// The client does not retry; the user corrects the input.
    ///
    /// Returned if a body is larger than the server accepts. The server refuses the request before it has read the whole body, so it may
    /// close the connection.
    public static let requestTooLarge = Self("REQUEST_TOO_LARGE")
    /// Content type is not supported. Status 415.
    ///
    /// The client does not retry; the user updates the app.
    ///
    /// Returned if the `Content-Type` of a body is missing, or is not supported by the route. Check the client's headers, not the body.
    public static let requestUnsupportedMediaType = Self("REQUEST_UNSUPPORTED_MEDIA_TYPE")
    /// Idempotency key was used with another payload. Status 422.
    ///
    /// The client does not retry; the user may retry.
    ///
    /// Returned if an idempotency key is used again with another payload. A client must create a new key for each new request, and send a
    /// key again only with the same payload.
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
                Returned if a body is not valid JSON or not a valid form, has a duplicate key, or is nested too deeply. The \
                cause is the client's code, or a system between client and server; the user can only update the app.
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
                Returned if a path exists but does not support the method; the Allow header lists the supported ones. Check \
                for redirects, which change a POST into a GET.
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
                Returned if the client sent its request too slowly; for a slow server, SERVER_TIMEOUT is returned. The request \
                had no effect, so it is safe to repeat with backoff.
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
                Returned if a request with the same idempotency key was received before. With the detail `state: running` it \
                is still being executed: repeat it unchanged, with the same key, after the delay. With `state: finished` it \
                was executed, and its response is not stored: don't repeat it.
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
                Returned if a body is larger than the server accepts. The server refuses it before it has read the whole body, \
                so it may close the connection.
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
                Returned if the Content-Type of a body is missing, or is not supported by the route. Check the client's \
                headers, not the body.
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
                Returned if an idempotency key is used again with another payload. A client creates a new key for each new \
                request, and reuses a key only for repeats of the same bytes.
                """
        ),
    ]
}
