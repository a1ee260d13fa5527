/// The texts of the contract that do not belong to one code.
public enum ContractText {
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
    /// Title over a dead reset link.
    public static let linkExpiredTitle = LocalizedText(en: "Link Expired", es: "Enlace Expirado")
    /// Text over a dead reset link.
    public static let linkExpired = LocalizedText(
        en: "This reset link has expired. Please request a new one.",
        es: "Este enlace de restablecimiento ha expirado. Por favor, solicita uno nuevo."
    )
}
