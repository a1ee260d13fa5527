import ErrorContract

/// The texts of the mails.
enum MailTexts {
    static let greeting = LocalizedText(en: "Hello {name},", es: "Hola {name},")

    static let resetSubject = LocalizedText(en: "Reset your password - {app}", es: "Restablecer tu contraseña - {app}")
    static let resetPreview = LocalizedText(
        en: "Click to reset your password securely",
        es: "Haz clic para restablecer tu contraseña de forma segura"
    )
    static let resetRequested = LocalizedText(
        en: "We received a request to reset the password of your {app} account.",
        es: "Recibimos una solicitud para restablecer la contraseña de tu cuenta de {app}."
    )
    static let resetClick = LocalizedText(
        en: "Click the button below to reset your password securely:",
        es: "Haz clic en el botón de abajo para restablecer tu contraseña de forma segura:"
    )
    static let resetButton = LocalizedText(en: "Reset Password", es: "Restablecer Contraseña")
    static let resetExpiry = LocalizedText(en: "This link will expire in {wait}.", es: "Este enlace expirará en {wait}.")
    static let resetIgnore = LocalizedText(
        en: "If you did not request this change, you can safely ignore this email. Your password will not be changed.",
        es: "Si no solicitaste este cambio, puedes ignorar este correo de forma segura. Tu contraseña no será modificada."
    )
    static let regards = LocalizedText(en: "Regards,", es: "Saludos,")
    static let team = LocalizedText(en: "The {app} team", es: "El equipo de {app}")
    static let resetCopyLink = LocalizedText(
        en: "If the button does not work, copy and paste this link into your browser:",
        es: "Si el botón no funciona, copia y pega este enlace en tu navegador:"
    )
    static let securityNotice = LocalizedText(
        en: "Security notice: Never share this link with anyone. {app} will never ask for your password by email.",
        es:
            "Aviso de seguridad: Nunca compartas este enlace con nadie. {app} nunca te pedirá tu contraseña por correo electrónico."
    )

    static let changedSubject = LocalizedText(en: "Password updated - {app}", es: "Contraseña actualizada - {app}")
    static let changedBody = LocalizedText(
        en: "Your password has been updated successfully.",
        es: "Tu contraseña ha sido actualizada exitosamente."
    )
    static let changedNotMe = LocalizedText(
        en: "If this was not you, freeze your account at once:",
        es: "Si no fuiste tú, congela tu cuenta de inmediato:"
    )
}
