package import ErrorContract

/// The texts of the screens that no other part of the library has.
package enum ScreenText {
    /// The button of an alert that copies the reference for support.
    package static let copyReference = LocalizedText(
        en: "Copy Reference",
        es: "Copiar referencia",
        he: "העתקת הפרטים לתמיכה",
        pt: "Copiar referência",
        fr: "Copier la référence",
        de: "Referenz kopieren"
    )

    // The progress of work: the buttons show it, and VoiceOver speaks it.
    static let signingIn = LocalizedText(
        en: "Signing in…",
        es: "Iniciando sesión…",
        he: "מתבצעת התחברות…",
        pt: "Entrando…",
        fr: "Connexion…",
        de: "Anmeldung läuft…"
    )
    static let sendingLink = LocalizedText(
        en: "Sending the link…",
        es: "Enviando el enlace…",
        he: "הקישור נשלח…",
        pt: "Enviando o link…",
        fr: "Envoi du lien…",
        de: "Link wird gesendet…"
    )
    static let checkingLink = LocalizedText(
        en: "Checking the link…",
        es: "Comprobando el enlace…",
        he: "הקישור נבדק…",
        pt: "Verificando o link…",
        fr: "Vérification du lien…",
        de: "Link wird geprüft…"
    )
    static let savingPassword = LocalizedText(
        en: "Saving the password…",
        es: "Guardando la contraseña…",
        he: "הסיסמה נשמרת…",
        pt: "Salvando a senha…",
        fr: "Enregistrement du mot de passe…",
        de: "Passwort wird gespeichert…"
    )
}
