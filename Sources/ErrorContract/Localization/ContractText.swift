/// The texts of the contract that do not belong to one code.
public enum ContractText {
    /// Title over a refusal for too many attempts.
    public static let tooManyAttemptsTitle = LocalizedText(en: "Too many attempts", es: "Demasiados intentos")

    /// Reset requests refused by a limit.
    /// - Parameter wait: The time until the next one is admitted, or `nil` if unknown.
    public static func resetLimited(wait: Duration?) -> LocalizedText {
        guard let wait else {
            return LocalizedText(
                en: "You have tried to reset your password too many times. Please try again later.",
                es: "Has intentado restablecer tu contraseña demasiadas veces. Por favor, intenta de nuevo más tarde."
            )
        }
        return LocalizedText(
            en: "You have tried to reset your password too many times. Please try again in {wait}.",
            es: "Has intentado restablecer tu contraseña demasiadas veces. Por favor, intenta de nuevo en {wait}."
        ).filling(wait: wait)
    }

    /// Any other request refused by a limit of the server.
    /// - Parameter wait: The time until the next one is admitted, or `nil` if unknown.
    public static func limited(wait: Duration?) -> LocalizedText {
        guard let wait else {
            return LocalizedText(
                en: "Too many attempts. Try again later.",
                es: "Demasiados intentos. Intenta de nuevo más tarde."
            )
        }
        return LocalizedText(
            en: "Too many requests. Please try again in {wait}.",
            es: "Demasiadas solicitudes. Intenta de nuevo en {wait}."
        ).filling(wait: wait)
    }

    /// A request held back by the client itself.
    public static func throttled(wait: Duration?) -> LocalizedText {
        guard let wait else { return waitShort }
        return LocalizedText(
            en: "Too many requests. Please wait {wait} before trying again.",
            es: "Demasiadas solicitudes. Espera {wait} antes de intentar de nuevo."
        ).filling(wait: wait)
    }

    /// The short form, where space is tight.
    public static let waitShort = LocalizedText(
        en: "Please wait before trying again.",
        es: "Por favor, espera antes de intentar de nuevo."
    )
    /// The answer to a reset request, whether or not there is an account.
    public static let resetRequested = LocalizedText(
        en: "If an account exists for this email, you will receive a link to reset your password.",
        es: "Si existe una cuenta con este correo, recibirás un enlace para restablecer tu contraseña."
    )
    /// A reset token that is unknown, expired or used.
    public static let tokenInvalid = LocalizedText(en: "Invalid or expired token", es: "Token inválido o expirado")
    /// The answer to a confirmed reset.
    public static let passwordChanged = LocalizedText(
        en: "Password updated successfully",
        es: "Contraseña actualizada exitosamente"
    )
    /// A password under the minimum.
    public static func passwordTooShort(minimum: Int) -> LocalizedText {
        LocalizedText(
            en: "The password must have at least \(minimum) characters",
            es: "La contraseña debe tener al menos \(minimum) caracteres"
        )
    }
    /// A password over the maximum.
    public static func passwordTooLong(maximum: Int) -> LocalizedText {
        LocalizedText(
            en: "The password must have at most \(maximum) characters",
            es: "La contraseña debe tener como máximo \(maximum) caracteres"
        )
    }
    /// A password of letters or digits alone, where the policy asks for both.
    public static let passwordNeedsLettersAndDigits = LocalizedText(
        en: "The password must contain letters and numbers",
        es: "La contraseña debe contener letras y números"
    )
    /// A password that is the address or the name.
    public static let passwordResemblesAccount = LocalizedText(
        en: "The password must not be your email address or your name",
        es: "La contraseña no puede ser tu correo ni tu nombre"
    )
    /// Title of an ended session.
    public static let sessionExpiredTitle = LocalizedText(en: "Session Expired", es: "Sesión expirada")
    /// Text of an ended session.
    public static let sessionExpired = LocalizedText(en: "Please sign in again.", es: "Por favor, inicia sesión de nuevo.")
    /// Title over anything else.
    public static let errorTitle = LocalizedText(en: "Error", es: "Error")
    /// Anything unknown.
    public static let unknownError = LocalizedText(
        en: "An error occurred. Please try again.",
        es: "Ocurrió un error. Por favor, intenta de nuevo."
    )
    /// No connection, or a lost one.
    public static let network = LocalizedText(en: "Check your internet connection", es: "Revisa tu conexión a internet")
    /// A failure of the server.
    public static let server = LocalizedText(
        en: "Something went wrong. Please try again.",
        es: "Algo salió mal. Por favor, intenta de nuevo."
    )
    /// Title over a refused password.
    public static let weakPasswordTitle = LocalizedText(en: "Weak Password", es: "Contraseña Débil")
    /// Title over a dead reset link.
    public static let linkExpiredTitle = LocalizedText(en: "Link Expired", es: "Enlace Expirado")
    /// Text over a dead reset link.
    public static let linkExpired = LocalizedText(
        en: "This reset link has expired. Please request a new one.",
        es: "Este enlace de restablecimiento ha expirado. Por favor, solicita uno nuevo."
    )
}

extension LocalizedText {
    /// The text with `{wait}` put in words.
    func filling(wait: Duration) -> LocalizedText {
        let phrase = WaitPhrase(wait).text
        return mapping { language, text in text.replacing("{wait}", with: phrase.text(in: language)) }
    }
}
