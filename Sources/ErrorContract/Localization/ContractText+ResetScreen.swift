/// What the screen behind a reset link says.
extension ContractText {
    /// The screen's title.
    public static let resetTitle = LocalizedText(en: "Reset Password", es: "Restablecer Contraseña")

    /// The line over the fields.
    /// - Parameter name: The person's first name, or `nil` if it is not known.
    public static func resetGreeting(name: String?) -> LocalizedText {
        name.map { resetGreetingNamed.filling("name", with: $0) } ?? resetGreetingUnnamed
    }

    static let resetGreetingNamed = LocalizedText(
        en: "Hello {name}, enter your new password",
        es: "Hola {name}, ingresa tu nueva contraseña"
    )
    static let resetGreetingUnnamed = LocalizedText(en: "Enter your new password", es: "Ingresa tu nueva contraseña")

    /// Label of the first field.
    public static let newPassword = LocalizedText(en: "New password", es: "Nueva contraseña")
    /// Label of the second field.
    public static let confirmPassword = LocalizedText(en: "Confirm password", es: "Confirmar contraseña")
    /// The two fields are not the same.
    public static let passwordsDiffer = LocalizedText(
        en: "The passwords do not match",
        es: "Las contraseñas no coinciden"
    )
    /// Title over a link that could not be read.
    public static let linkInvalidTitle = LocalizedText(en: "Invalid Link", es: "Enlace Inválido")
    /// Text over a link that could not be read.
    public static let linkInvalid = LocalizedText(
        en: "The password reset link is not valid.",
        es: "El enlace de restablecimiento de contraseña no es válido."
    )
    /// The new password is set.
    public static let resetSucceeded = LocalizedText(
        en: "Success! Your password has been updated. Please sign in with your new password.",
        es: "¡Éxito! Tu contraseña ha sido actualizada. Por favor, inicia sesión con tu nueva contraseña."
    )
}
