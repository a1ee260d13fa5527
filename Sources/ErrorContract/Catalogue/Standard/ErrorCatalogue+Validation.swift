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
                es: "Por favor, revisa los campos marcados."
            )
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
                es: "Este campo es obligatorio."
            )
        ),
        ErrorDefinition(
            .validationInvalidEmail,
            family: .validation,
            status: 400,
            summary: "Email format is invalid",
            userAction: "Enter valid email address",
            recovery: .fixFields,
            message: LocalizedText(
                en: "Please enter a valid email address",
                es: "Por favor, ingresa un correo electrónico válido"
            )
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
                es: "El formato no es válido."
            )
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
                es: "Este texto es demasiado largo."
            )
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
                es: "Este texto es demasiado corto."
            )
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
                es: "Por favor, ingresa una fecha válida."
            )
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
                es: "Por favor, ingresa una dirección web válida."
            )
        ),
    ]
}
