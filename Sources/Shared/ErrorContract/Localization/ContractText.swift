/// The texts of this library that do not belong to a single error code. Each text exists in all languages in ``Language/supported``.
///
/// Servers, screens and emails use these texts, so that a user reads the same words everywhere. With ``Translations``, an app can replace a
/// text or add a language.
public enum ContractText {
    /// The response to a request for a reset link. It is the same whether or not the account exists.
    public static let resetRequested = LocalizedText(
        en: "If an account exists for this email, you will receive a link to reset your password.",
        es: "Si existe una cuenta con este correo, recibirás un enlace para restablecer tu contraseña.",
        he: "אם קיים חשבון עם כתובת האימייל הזו, יישלח אליה קישור לאיפוס הסיסמה.",
        pt: "Se existir uma conta com este e-mail, você receberá um link para redefinir sua senha.",
        fr: "Si un compte existe pour cette adresse e-mail, vous recevrez un lien pour réinitialiser votre mot de passe.",
        de: "Wenn es zu dieser E-Mail-Adresse ein Konto gibt, erhältst du einen Link, um dein Passwort zurückzusetzen."
    )
    /// Text for a reset token that is unknown, expired or used.
    public static let tokenInvalid = LocalizedText(
        en: "Invalid or expired token",
        es: "Token inválido o expirado",
        he: "האסימון אינו תקף או שפג תוקפו",
        pt: "Token inválido ou expirado",
        fr: "Jeton invalide ou expiré",
        de: "Token ungültig oder abgelaufen"
    )
    /// The response after the user set a new password with a reset link.
    public static let passwordChanged = LocalizedText(
        en: "Password updated successfully",
        es: "Contraseña actualizada exitosamente",
        he: "הסיסמה עודכנה בהצלחה",
        pt: "Senha atualizada com sucesso",
        fr: "Mot de passe mis à jour avec succès",
        de: "Passwort erfolgreich geändert"
    )
    /// Title for an expired session.
    public static let sessionExpiredTitle = LocalizedText(
        en: "Session Expired",
        es: "Sesión expirada",
        he: "פג תוקף החיבור",
        pt: "Sessão expirada",
        fr: "Session expirée",
        de: "Sitzung abgelaufen"
    )
    /// Text for an expired session.
    public static let sessionExpired = LocalizedText(
        en: "Please sign in again.",
        es: "Por favor, inicia sesión de nuevo.",
        he: "נא להתחבר שוב.",
        pt: "Por favor, entre novamente.",
        fr: "Veuillez vous reconnecter.",
        de: "Bitte melde dich erneut an."
    )
    /// Title for an error without a more specific title.
    public static let errorTitle = LocalizedText(
        en: "Error",
        es: "Error",
        he: "שגיאה",
        pt: "Erro",
        fr: "Erreur",
        de: "Fehler"
    )
    /// Text for an unknown error.
    public static let unknownError = LocalizedText(
        en: "An error occurred. Please try again.",
        es: "Ocurrió un error. Por favor, intenta de nuevo.",
        he: "אירעה שגיאה. נא לנסות שוב.",
        pt: "Ocorreu um erro. Por favor, tente novamente.",
        fr: "Une erreur s’est produite. Veuillez réessayer.",
        de: "Ein Fehler ist aufgetreten. Bitte versuche es erneut."
    )
    /// Text if the device has no connection, or has lost it.
    public static let network = LocalizedText(
        en: "Check your internet connection",
        es: "Revisa tu conexión a internet",
        he: "נא לבדוק את החיבור לאינטרנט",
        pt: "Verifique sua conexão com a internet",
        fr: "Vérifiez votre connexion à Internet",
        de: "Überprüfe deine Internetverbindung"
    )
    /// Text for a failure of the server.
    public static let server = LocalizedText(
        en: "Something went wrong. Please try again.",
        es: "Algo salió mal. Por favor, intenta de nuevo.",
        he: "משהו השתבש. נא לנסות שוב.",
        pt: "Algo deu errado. Por favor, tente novamente.",
        fr: "Un problème est survenu. Veuillez réessayer.",
        de: "Etwas ist schiefgelaufen. Bitte versuche es erneut."
    )
    /// Title for an expired or used reset link.
    public static let linkExpiredTitle = LocalizedText(
        en: "Link Expired",
        es: "Enlace Expirado",
        he: "פג תוקף הקישור",
        pt: "Link expirado",
        fr: "Lien expiré",
        de: "Link abgelaufen"
    )
    /// Text for an expired or used reset link.
    public static let linkExpired = LocalizedText(
        en: "This reset link has expired. Please request a new one.",
        es: "Este enlace de restablecimiento ha expirado. Por favor, solicita uno nuevo.",
        he: "תוקף קישור האיפוס פג. נא לבקש קישור חדש.",
        pt: "Este link de redefinição expirou. Por favor, solicite um novo.",
        fr: "Ce lien de réinitialisation a expiré. Veuillez en demander un nouveau.",
        de: "Dieser Link zum Zurücksetzen ist abgelaufen. Bitte fordere einen neuen an."
    )
}

extension ContractText {
    /// All texts that do not belong to a single error code, with unfilled placeholders.
    static let all: [LocalizedText] = [limits, passwords, accounts, accountScreens, screens, labels, fields, general]
        .flatMap(\.self)

    private static let limits = [
        tooManyAttemptsTitle, resetLimitedWait, resetLimitedLater, limitedWait, limitedLater,
        signInLimitedWait, signInLimitedLater, throttledWait, waitShort,
        unavailableWait, unavailableLater, tryAgainWait, resetCooldownTitle, resetCooldown, WaitPhrase.seconds,
        WaitPhrase.minutes, WaitPhrase.hours,
    ]
    private static let passwords = [
        weakPasswordTitle, passwordTooShort, passwordTooLong, passwordNeedsLettersAndDigits, passwordResemblesAccount,
        passwordCommon,
        strengthWeak, strengthMedium, strengthStrong, passwordsDiffer, passwordChanged,
    ]
    private static let accounts = [nextStepSent, emailVerified, emailChanged, emailRestored, accountRestored, accountDeleted]
    private static let screens = [
        fieldsEmpty, emailMissingTitle, emailMissing, emailMalformedTitle, emailMalformed, resetTitle, resetGreetingNamed,
        resetGreetingUnnamed, linkInvalidTitle, linkInvalid, linkExpiredTitle, linkExpired, resetSucceeded,
        resetProbablySucceeded,
        resetRequested, tokenInvalid,
    ]
    private static let labels = [
        confirm, cancel, accept, retry, checkAgain, signIn, requestNewLink, contactSupport, supportReference,
        supportReferenceLine, openSettings, updateApp, emailLabel,
        passwordLabel, showPassword, forgotPassword, sendLink, newPassword, confirmPassword,
    ]
    private static let fields = [valueTaken, valueOutOfRange, valueInvalid]
    private static let general = [sessionExpiredTitle, sessionExpired, errorTitle, unknownError, network, server]
}
