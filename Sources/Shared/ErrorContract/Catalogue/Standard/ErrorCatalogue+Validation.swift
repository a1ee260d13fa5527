extension ErrorCode {
    /// Input data validation failed. Status 400.
    ///
    /// The client does not retry; the user corrects the input.
    ///
    /// Returned if a body has several problems of different kinds. `details.validation_errors` lists all problems, each with its field, a
    /// JSON pointer and a code. Show each problem at its field.
    public static let validationInvalidInput = Self("VALIDATION_INVALID_INPUT")
    /// Required field is missing. Status 400.
    ///
    /// The client does not retry; the user corrects the input.
    ///
    /// Returned if a required field is absent, null or empty. Check the spelling of the field's name, because a field with an unknown
    /// name counts as absent.
    public static let validationMissingField = Self("VALIDATION_MISSING_FIELD")
    /// Email format is invalid. Status 400.
    ///
    /// The client does not retry; the user corrects the input.
    ///
    /// Returned if a text can't be an email address. The response does not reveal whether the address exists or has an account.
    public static let validationInvalidEmail = Self("VALIDATION_INVALID_EMAIL")
    /// Data format is incorrect. Status 400.
    ///
    /// The client does not retry; the user corrects the input.
    ///
    /// Returned if a value has the wrong type, or contains characters that its field does not allow. The pointer in
    /// `details.validation_errors` identifies the value.
    public static let validationInvalidFormat = Self("VALIDATION_INVALID_FORMAT")
    /// Field exceeds maximum length. Status 400.
    ///
    /// The client does not retry; the user corrects the input.
    ///
    /// Returned if a text is longer than its field allows. A client must not truncate the text, because only the user can decide which part
    /// to remove.
    public static let validationFieldTooLong = Self("VALIDATION_FIELD_TOO_LONG")
    /// Field below minimum length. Status 400.
    ///
    /// The client does not retry; the user corrects the input.
    ///
    /// Returned if a text is shorter than its field allows. If a password is too short, the server returns `AUTH_WEAK_PASSWORD` instead.
    public static let validationFieldTooShort = Self("VALIDATION_FIELD_TOO_SHORT")
    /// Date format or value is invalid. Status 400.
    ///
    /// The client does not retry; the user corrects the input.
    ///
    /// Returned if a date does not exist, such as February 30, or does not have the format of ISO 8601. Check that the client does not
    /// format the date for the user's region.
    public static let validationInvalidDate = Self("VALIDATION_INVALID_DATE")
    /// URL format is invalid. Status 400.
    ///
    /// The client does not retry; the user corrects the input.
    ///
    /// Returned if a text is not an absolute http or https address. The server does not fetch the address to check it.
    public static let validationInvalidURL = Self("VALIDATION_INVALID_URL")
}

extension ErrorCatalogue {
    /// Input without the required shape.
    static let validation: [ErrorDefinition] = [
        ErrorDefinition(
            .validationInvalidInput,
            family: .validation,
            status: 400,
            summary: "Input data validation failed",
            userAction: "Check input format and try again",
            recovery: .fixFields,
            message: LocalizedText(
                en: "Please check the highlighted fields.",
                es: "Por favor, revisa los campos marcados.",
                he: "נא לבדוק את השדות המסומנים.",
                pt: "Por favor, verifique os campos destacados.",
                fr: "Veuillez vérifier les champs signalés.",
                de: "Bitte überprüfe die markierten Felder."
            ),
            documentation: """
                Returned if a body has several problems of different kinds; details.validation_errors lists all of them, each \
                with its field, a JSON pointer and a code. Show each problem at its field.
                """
        ),
        ErrorDefinition(
            .validationMissingField,
            family: .validation,
            status: 400,
            summary: "Required field is missing",
            userAction: "Provide all required fields",
            recovery: .fixFields,
            message: LocalizedText(
                en: "This field is required.",
                es: "Este campo es obligatorio.",
                he: "שדה זה הוא שדה חובה.",
                pt: "Este campo é obrigatório.",
                fr: "Ce champ est obligatoire.",
                de: "Dieses Feld ist erforderlich."
            ),
            documentation: """
                Returned if a required field is absent, null or empty. Check the spelling of the field's name, because a field \
                with an unknown name counts as absent.
                """
        ),
        ErrorDefinition(
            .validationInvalidEmail,
            family: .validation,
            status: 400,
            summary: "Email format is invalid",
            userAction: "Enter valid email address",
            recovery: .fixFields,
            message: ContractText.emailMalformed,
            documentation: """
                Returned if a text can't be an email address. It does not reveal whether the address exists or has an account.
                """
        ),
        ErrorDefinition(
            .validationInvalidFormat,
            family: .validation,
            status: 400,
            summary: "Data format is incorrect",
            userAction: "Check format requirements",
            recovery: .fixFields,
            message: LocalizedText(
                en: "The format is not valid.",
                es: "El formato no es válido.",
                he: "הפורמט אינו תקין.",
                pt: "O formato não é válido.",
                fr: "Le format n’est pas valide.",
                de: "Das Format ist ungültig."
            ),
            documentation: """
                Returned if a value has the wrong type, or contains characters that its field does not allow. The pointer in \
                details.validation_errors identifies the value.
                """
        ),
        ErrorDefinition(
            .validationFieldTooLong,
            family: .validation,
            status: 400,
            summary: "Field exceeds maximum length",
            userAction: "Reduce field length",
            recovery: .fixFields,
            message: LocalizedText(
                en: "This text is too long.",
                es: "Este texto es demasiado largo.",
                he: "הטקסט הזה ארוך מדי.",
                pt: "Este texto é muito longo.",
                fr: "Ce texte est trop long.",
                de: "Dieser Text ist zu lang."
            ),
            documentation: """
                Returned if a text is longer than its field allows. A client must not truncate it: the user decides what to \
                remove.
                """
        ),
        ErrorDefinition(
            .validationFieldTooShort,
            family: .validation,
            status: 400,
            summary: "Field below minimum length",
            userAction: "Increase field length",
            recovery: .fixFields,
            message: LocalizedText(
                en: "This text is too short.",
                es: "Este texto es demasiado corto.",
                he: "הטקסט הזה קצר מדי.",
                pt: "Este texto é muito curto.",
                fr: "Ce texte est trop court.",
                de: "Dieser Text ist zu kurz."
            ),
            documentation: """
                Returned if a text is shorter than its field allows. For a password that is too short, AUTH_WEAK_PASSWORD is \
                returned instead.
                """
        ),
        ErrorDefinition(
            .validationInvalidDate,
            family: .validation,
            status: 400,
            summary: "Date format or value is invalid",
            userAction: "Provide valid date",
            recovery: .fixFields,
            message: LocalizedText(
                en: "Please enter a valid date.",
                es: "Por favor, ingresa una fecha válida.",
                he: "נא להזין תאריך תקין.",
                pt: "Por favor, informe uma data válida.",
                fr: "Veuillez saisir une date valide.",
                de: "Bitte gib ein gültiges Datum ein."
            ),
            documentation: """
                Returned if a date does not exist, such as February 30, or is not in the format of ISO 8601. Check how the \
                client formats dates in the user's region.
                """
        ),
        ErrorDefinition(
            .validationInvalidURL,
            family: .validation,
            status: 400,
            summary: "URL format is invalid",
            userAction: "Enter valid URL",
            recovery: .fixFields,
            message: LocalizedText(
                en: "Please enter a valid web address.",
                es: "Por favor, ingresa una dirección web válida.",
                he: "נא להזין כתובת אינטרנט תקינה.",
                pt: "Por favor, informe um endereço web válido.",
                fr: "Veuillez saisir une adresse web valide.",
                de: "Bitte gib eine gültige Webadresse ein."
            ),
            documentation: """
                Returned if a text is not an absolute http or https address. The server does not fetch the address to check \
                it.
                """
        ),
    ]
}
