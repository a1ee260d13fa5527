/// Texts that the screens show before they send a request: for invalid fields, and while the user can't request another reset link.
extension ContractText {
    /// Text for a form with an empty field.
    public static let fieldsEmpty = LocalizedText(
        en: "Please fill in all fields",
        es: "Por favor, completa todos los campos",
        he: "נא למלא את כל השדות",
        pt: "Por favor, preencha todos os campos",
        fr: "Veuillez remplir tous les champs",
        de: "Bitte fülle alle Felder aus"
    )
    /// Title for a missing address.
    public static let emailMissingTitle = LocalizedText(
        en: "Email Required",
        es: "Correo requerido",
        he: "נדרשת כתובת אימייל",
        pt: "E-mail obrigatório",
        fr: "Adresse e-mail requise",
        de: "E-Mail-Adresse erforderlich"
    )
    /// Text for a missing address.
    public static let emailMissing = LocalizedText(
        en: "Please enter your email address",
        es: "Por favor, ingresa tu correo electrónico",
        he: "נא להזין את כתובת האימייל שלך",
        pt: "Por favor, informe seu e-mail",
        fr: "Veuillez saisir votre adresse e-mail",
        de: "Bitte gib deine E-Mail-Adresse ein"
    )
    /// Title for an invalid address.
    public static let emailMalformedTitle = LocalizedText(
        en: "Invalid Email",
        es: "Correo inválido",
        he: "כתובת אימייל לא תקינה",
        pt: "E-mail inválido",
        fr: "Adresse e-mail non valide",
        de: "Ungültige E-Mail-Adresse"
    )
    /// Text for an invalid address.
    public static let emailMalformed = LocalizedText(
        en: "Please enter a valid email address",
        es: "Por favor, ingresa un correo electrónico válido",
        he: "נא להזין כתובת אימייל תקינה",
        pt: "Por favor, informe um e-mail válido",
        fr: "Veuillez saisir une adresse e-mail valide",
        de: "Bitte gib eine gültige E-Mail-Adresse ein"
    )
    /// Title while the button that requests a reset link is disabled after a request.
    public static let resetCooldownTitle = LocalizedText(
        en: "Too Many Requests",
        es: "Demasiados intentos",
        he: "יותר מדי בקשות",
        pt: "Muitas solicitações",
        fr: "Trop de demandes",
        de: "Zu viele Anfragen"
    )

    /// Returns the text while the button that requests a reset link is disabled after a request.
    /// - Parameter seconds: The seconds until the button is enabled again, at most 60. The text always uses seconds.
    public static func resetCooldown(seconds: Int) -> LocalizedText {
        resetCooldown.filling("wait", with: WaitPhrase(count: seconds, unit: .seconds).text)
    }

    /// ``resetCooldown(seconds:)`` with an unfilled placeholder.
    static let resetCooldown = LocalizedText(
        en: "Please wait {wait} before requesting again",
        es: "Espera {wait} antes de reintentar",
        he: "נא להמתין {wait} לפני בקשה נוספת",
        pt: "Por favor, aguarde {wait} antes de solicitar novamente",
        fr: "Veuillez patienter {wait} avant de refaire une demande",
        de: "Bitte warte {wait}, bevor du erneut anfragst"
    )
}
