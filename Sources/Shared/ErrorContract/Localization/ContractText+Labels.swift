/// Labels of buttons and fields.
extension ContractText {
    /// Button that sends a form.
    public static let confirm = LocalizedText(
        en: "Confirm",
        es: "Confirmar",
        he: "אישור",
        pt: "Confirmar",
        fr: "Confirmer",
        de: "Bestätigen"
    )
    /// Button that cancels.
    public static let cancel = LocalizedText(
        en: "Cancel",
        es: "Cancelar",
        he: "ביטול",
        pt: "Cancelar",
        fr: "Annuler",
        de: "Abbrechen"
    )
    /// Button that acknowledges a message.
    public static let accept = LocalizedText(
        en: "OK",
        es: "OK",
        he: "אישור",
        pt: "OK",
        fr: "OK",
        de: "OK"
    )
    /// Button that retries.
    public static let retry = LocalizedText(
        en: "Try Again",
        es: "Reintentar",
        he: "ניסיון חוזר",
        pt: "Tentar novamente",
        fr: "Réessayer",
        de: "Erneut versuchen"
    )
    /// Button that checks whether a request took effect after its response was lost.
    public static let checkAgain = LocalizedText(
        en: "Check again",
        es: "Comprobar de nuevo",
        he: "בדיקה חוזרת",
        pt: "Verificar novamente",
        fr: "Vérifier à nouveau",
        de: "Erneut prüfen"
    )
    /// Button that signs in; also the title of the sign-in screen.
    public static let signIn = LocalizedText(
        en: "Sign In",
        es: "Iniciar sesión",
        he: "התחברות",
        pt: "Entrar",
        fr: "Se connecter",
        de: "Anmelden"
    )
    /// Button that requests a new reset link.
    public static let requestNewLink = LocalizedText(
        en: "Request New",
        es: "Solicitar Nuevo",
        he: "בקשת קישור חדש",
        pt: "Solicitar novo link",
        fr: "Demander un nouveau lien",
        de: "Neuen Link anfordern"
    )
    /// Button that contacts support.
    public static let contactSupport = LocalizedText(
        en: "Contact Support",
        es: "Contactar a soporte",
        he: "פנייה לתמיכה",
        pt: "Falar com o suporte",
        fr: "Contacter l’assistance",
        de: "Support kontaktieren"
    )
    /// Label of the code, request id and time that a user sends to support.
    public static let supportReference = LocalizedText(
        en: "Support reference",
        es: "Referencia para soporte",
        he: "אסמכתה לפנייה לתמיכה",
        pt: "Referência para o suporte",
        fr: "Référence pour l’assistance",
        de: "Referenz für den Support"
    )
    /// The line with the label, and with the placeholder `{reference}` for the reference.
    static let supportReferenceLine = LocalizedText(
        en: "Support reference: {reference}",
        es: "Referencia para soporte: {reference}",
        he: "אסמכתה לפנייה לתמיכה: {reference}",
        pt: "Referência para o suporte: {reference}",
        fr: "Référence pour l’assistance\u{A0}: {reference}",
        de: "Referenz für den Support: {reference}"
    )
    /// Button that opens the settings.
    public static let openSettings = LocalizedText(
        en: "Open Settings",
        es: "Abrir ajustes",
        he: "פתיחת ההגדרות",
        pt: "Abrir configurações",
        fr: "Ouvrir les réglages",
        de: "Einstellungen öffnen"
    )
    /// Button that installs a newer version of the app.
    public static let updateApp = LocalizedText(
        en: "Update App",
        es: "Actualizar la app",
        he: "עדכון האפליקציה",
        pt: "Atualizar o app",
        fr: "Mettre à jour l’application",
        de: "App aktualisieren"
    )

    /// Label of the address field.
    public static let emailLabel = LocalizedText(
        en: "Email",
        es: "Correo electrónico",
        he: "אימייל",
        pt: "E-mail",
        fr: "Adresse e-mail",
        de: "E-Mail-Adresse"
    )
    /// Label of the password field.
    public static let passwordLabel = LocalizedText(
        en: "Password",
        es: "Contraseña",
        he: "סיסמה",
        pt: "Senha",
        fr: "Mot de passe",
        de: "Passwort"
    )
    /// Button that makes a password readable.
    public static let showPassword = LocalizedText(
        en: "Show password",
        es: "Mostrar contraseña",
        he: "הצגת הסיסמה",
        pt: "Mostrar senha",
        fr: "Afficher le mot de passe",
        de: "Passwort anzeigen"
    )
    /// Button that opens the screen on which the user requests a reset link; also the title of this screen.
    public static let forgotPassword = LocalizedText(
        en: "Forgot your password?",
        es: "¿Olvidaste tu contraseña?",
        he: "שכחת את הסיסמה?",
        pt: "Esqueceu sua senha?",
        fr: "Mot de passe oublié\u{A0}?",
        de: "Passwort vergessen?"
    )
    /// Button that requests a reset link.
    public static let sendLink = LocalizedText(
        en: "Send Link",
        es: "Enviar enlace",
        he: "שליחת קישור",
        pt: "Enviar link",
        fr: "Envoyer le lien",
        de: "Link senden"
    )
}
