import ErrorContract

/// The texts that only the web pages have; the others are the contract's.
enum PageTexts {
    static let show = LocalizedText(en: "Show", es: "Mostrar")
    static let hide = LocalizedText(en: "Hide", es: "Ocultar")
    static let match = LocalizedText(en: "The passwords match", es: "Las contraseñas coinciden")
    static let rule = LocalizedText(en: "At least {count} characters", es: "Al menos {count} caracteres")
    static let openApp = LocalizedText(en: "Open in the app", es: "Abrir en la aplicación")

    static let successHeading = LocalizedText(en: "Success!", es: "¡Éxito!")
    static let success = LocalizedText(
        en: "Your password has been updated. Please sign in with your new password.",
        es: "Tu contraseña ha sido actualizada. Por favor, inicia sesión con tu nueva contraseña."
    )

    static let requestLead = LocalizedText(
        en: "Enter your email address, and we will send you a link to reset your password.",
        es: "Ingresa tu correo electrónico y te enviaremos un enlace para restablecer tu contraseña."
    )
    static let sentHeading = LocalizedText(en: "Check your email", es: "Revisa tu correo")
    static let noscript = LocalizedText(
        en: "Coming from the link in a mail? This page needs JavaScript to read it.",
        es: "¿Vienes del enlace de un correo? Esta página necesita JavaScript para leerlo."
    )

    static let freezeHeading = LocalizedText(en: "Was this not you?", es: "¿No fuiste tú?")
    static let freezeLead = LocalizedText(
        en:
            "Hello {name}, your password was changed. If it was not you, freeze your account: nobody can sign in until you reset the password.",
        es:
            "Hola {name}, tu contraseña fue cambiada. Si no fuiste tú, congela tu cuenta: nadie podrá iniciar sesión hasta que restablezcas la contraseña."
    )
    static let freezeLeadUnnamed = LocalizedText(
        en: "Your password was changed. If it was not you, freeze your account: nobody can sign in until you reset the password.",
        es:
            "Tu contraseña fue cambiada. Si no fuiste tú, congela tu cuenta: nadie podrá iniciar sesión hasta que restablezcas la contraseña."
    )
    static let freeze = LocalizedText(en: "Freeze my account", es: "Congelar mi cuenta")
    static let frozenHeading = LocalizedText(en: "Your account is frozen", es: "Tu cuenta está congelada")
    static let frozen = LocalizedText(
        en: "All sessions have been ended. To use your account again, ask for a link and set a new password.",
        es:
            "Todas las sesiones han sido cerradas. Para volver a usar tu cuenta, solicita un enlace y define una nueva contraseña."
    )
}
