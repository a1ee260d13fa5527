/// What stands on buttons and beside fields.
extension ContractText {
    /// Sends a form.
    public static let confirm = LocalizedText(en: "Confirm", es: "Confirmar")
    /// Leaves without doing anything.
    public static let cancel = LocalizedText(en: "Cancel", es: "Cancelar")
    /// Takes note.
    public static let accept = LocalizedText(en: "OK", es: "Aceptar")
    /// Repeats.
    public static let retry = LocalizedText(en: "Try Again", es: "Reintentar")
    /// Signs in; also the title of that screen.
    public static let signIn = LocalizedText(en: "Sign In", es: "Iniciar sesión")
    /// Asks for a new reset link.
    public static let requestNewLink = LocalizedText(en: "Request New", es: "Solicitar Nuevo")
    /// Writes to support.
    public static let contactSupport = LocalizedText(en: "Contact Support", es: "Contactar a soporte")
    /// Opens the settings.
    public static let openSettings = LocalizedText(en: "Open Settings", es: "Abrir ajustes")
    /// Gets a newer version of the app.
    public static let updateApp = LocalizedText(en: "Update App", es: "Actualizar la app")

    /// Label of the address field.
    public static let emailLabel = LocalizedText(en: "Email", es: "Correo electrónico")
    /// Label of the password field.
    public static let passwordLabel = LocalizedText(en: "Password", es: "Contraseña")
    /// Makes a password readable.
    public static let showPassword = LocalizedText(en: "Show password", es: "Mostrar contraseña")
    /// Leads to the request for a reset link; also the title of that screen.
    public static let forgotPassword = LocalizedText(en: "Forgot your password?", es: "¿Olvidaste tu contraseña?")
    /// Asks for a reset link.
    public static let sendLink = LocalizedText(en: "Send Link", es: "Enviar enlace")
}
