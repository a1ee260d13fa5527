import ErrorContract

/// The texts of the web pages.
enum PageTexts {
    static let resetHeading = LocalizedText(en: "Reset Password", es: "Restablecer Contraseña")
    static let resetLead = LocalizedText(en: "Enter your new password", es: "Ingresa tu nueva contraseña")
    static let resetLeadNamed = LocalizedText(
        en: "Hello {name}, enter your new password",
        es: "Hola {name}, ingresa tu nueva contraseña"
    )
    static let newPassword = LocalizedText(en: "New password", es: "Nueva contraseña")
    static let confirmPassword = LocalizedText(en: "Confirm password", es: "Confirmar contraseña")
    static let confirm = LocalizedText(en: "Confirm", es: "Confirmar")
    static let show = LocalizedText(en: "Show", es: "Mostrar")
    static let hide = LocalizedText(en: "Hide", es: "Ocultar")
    static let weak = LocalizedText(en: "Weak password", es: "Contraseña débil")
    static let medium = LocalizedText(en: "Medium password", es: "Contraseña media")
    static let strong = LocalizedText(en: "Strong password", es: "Contraseña fuerte")
    static let match = LocalizedText(en: "The passwords match", es: "Las contraseñas coinciden")
    static let differ = LocalizedText(en: "The passwords do not match", es: "Las contraseñas no coinciden")
    static let empty = LocalizedText(en: "Please fill in all fields", es: "Por favor, completa todos los campos")
    static let rule = LocalizedText(en: "At least {count} characters", es: "Al menos {count} caracteres")
    static let openApp = LocalizedText(en: "Open in the app", es: "Abrir en la aplicación")

    static let successHeading = LocalizedText(en: "Success!", es: "¡Éxito!")
    static let success = LocalizedText(
        en: "Your password has been updated. Please sign in with your new password.",
        es: "Tu contraseña ha sido actualizada. Por favor, inicia sesión con tu nueva contraseña."
    )

    static let invalidHeading = LocalizedText(en: "Invalid Link", es: "Enlace Inválido")
    static let invalid = LocalizedText(
        en: "The password reset link is not valid.",
        es: "El enlace de restablecimiento de contraseña no es válido."
    )
    static let requestHeading = LocalizedText(en: "Request New", es: "Solicitar Nuevo")
    static let requestLead = LocalizedText(
        en: "Enter your email address, and we will send you a link to reset your password.",
        es: "Ingresa tu correo electrónico y te enviaremos un enlace para restablecer tu contraseña."
    )
    static let email = LocalizedText(en: "Email", es: "Correo electrónico")
    static let send = LocalizedText(en: "Send link", es: "Enviar enlace")
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
