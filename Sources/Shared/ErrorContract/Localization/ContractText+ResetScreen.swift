/// Texts of the screen that a reset link opens.
extension ContractText {
    /// The screen's title.
    public static let resetTitle = LocalizedText(
        en: "Reset Password",
        es: "Restablecer Contraseña",
        he: "איפוס סיסמה",
        pt: "Redefinir senha",
        fr: "Réinitialiser le mot de passe",
        de: "Passwort zurücksetzen"
    )

    /// Returns the text above the fields, which greets the user.
    /// - Parameter name: The user's first name, or `nil` if it is unknown.
    public static func resetGreeting(name: String?) -> LocalizedText {
        name.map { resetGreetingNamed.filling("name", with: $0) } ?? resetGreetingUnnamed
    }

    /// ``resetGreeting(name:)`` with a known name.
    static let resetGreetingNamed = LocalizedText(
        en: "Hello {name}, enter your new password",
        es: "Hola {name}, ingresa tu nueva contraseña",
        he: "שלום {name}, נא להזין סיסמה חדשה",
        pt: "Olá, {name}, digite sua nova senha",
        fr: "Bonjour {name}, saisissez votre nouveau mot de passe",
        de: "Hallo {name}, gib dein neues Passwort ein"
    )
    /// ``resetGreeting(name:)`` without a name.
    static let resetGreetingUnnamed = LocalizedText(
        en: "Enter your new password",
        es: "Ingresa tu nueva contraseña",
        he: "נא להזין סיסמה חדשה",
        pt: "Digite sua nova senha",
        fr: "Saisissez votre nouveau mot de passe",
        de: "Gib dein neues Passwort ein"
    )

    /// Label of the first field.
    public static let newPassword = LocalizedText(
        en: "New password",
        es: "Nueva contraseña",
        he: "סיסמה חדשה",
        pt: "Nova senha",
        fr: "Nouveau mot de passe",
        de: "Neues Passwort"
    )
    /// Label of the second field.
    public static let confirmPassword = LocalizedText(
        en: "Confirm password",
        es: "Confirmar contraseña",
        he: "אימות סיסמה",
        pt: "Confirmar senha",
        fr: "Confirmer le mot de passe",
        de: "Passwort bestätigen"
    )
    /// Text if the two passwords differ.
    public static let passwordsDiffer = LocalizedText(
        en: "The passwords do not match",
        es: "Las contraseñas no coinciden",
        he: "הסיסמאות אינן תואמות",
        pt: "As senhas não coincidem",
        fr: "Les mots de passe ne correspondent pas",
        de: "Die Passwörter stimmen nicht überein"
    )
    /// Title for an unreadable link.
    public static let linkInvalidTitle = LocalizedText(
        en: "Invalid Link",
        es: "Enlace Inválido",
        he: "קישור לא תקין",
        pt: "Link inválido",
        fr: "Lien non valide",
        de: "Ungültiger Link"
    )
    /// Text for an unreadable link.
    public static let linkInvalid = LocalizedText(
        en: "The password reset link is not valid.",
        es: "El enlace de restablecimiento de contraseña no es válido.",
        he: "הקישור לאיפוס הסיסמה אינו תקין.",
        pt: "O link de redefinição de senha não é válido.",
        fr: "Le lien de réinitialisation du mot de passe n’est pas valide.",
        de: "Der Link zum Zurücksetzen des Passworts ist ungültig."
    )
    /// Text after the new password is set.
    public static let resetSucceeded = LocalizedText(
        en: "Success! Your password has been updated. Please sign in with your new password.",
        es: "¡Éxito! Tu contraseña ha sido actualizada. Por favor, inicia sesión con tu nueva contraseña.",
        he: "הפעולה הצליחה! הסיסמה שלך עודכנה. נא להתחבר עם הסיסמה החדשה.",
        pt: "Sucesso! Sua senha foi atualizada. Por favor, entre com sua nova senha.",
        fr: "C’est fait\u{A0}! Votre mot de passe a été mis à jour. Veuillez vous connecter avec votre nouveau mot de passe.",
        de: "Geschafft! Dein Passwort wurde geändert. Bitte melde dich mit deinem neuen Passwort an."
    )
    /// Text if the server refused the link after the response to an earlier attempt was lost. The new password is probably set.
    public static let resetProbablySucceeded = LocalizedText(
        en: "Try signing in with your new password",
        es: "Intenta iniciar sesión con tu nueva contraseña",
        he: "נא לנסות להתחבר עם הסיסמה החדשה",
        pt: "Tente entrar com sua nova senha",
        fr: "Essayez de vous connecter avec votre nouveau mot de passe",
        de: "Versuche, dich mit deinem neuen Passwort anzumelden"
    )
}
