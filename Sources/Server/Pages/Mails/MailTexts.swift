import ErrorContract

/// The texts of emails, in the six supported languages. ``MailWording`` selects the texts of a kind of email. ``MailWriter`` and
/// ``MailTemplates`` fill the placeholders, such as `{app}` and `{name}`.
enum MailTexts {
    /// The first line of emails to a user with a verified address. `{name}` is the first name.
    static let greeting = LocalizedText(
        en: "Hello {name},",
        es: "Hola {name},",
        he: "שלום {name},",
        pt: "Olá, {name},",
        fr: "Bonjour {name},",
        de: "Hallo {name},"
    )

    /// The first line of emails to an address that is not verified.
    static let greetingUnnamed = LocalizedText(
        en: "Hello,",
        es: "Hola,",
        he: "שלום,",
        pt: "Olá,",
        fr: "Bonjour,",
        de: "Hallo,"
    )

    /// The subject of the reset email.
    static let resetSubject = LocalizedText(
        en: "Reset your password - {app}",
        es: "Restablecer tu contraseña - {app}",
        he: "איפוס הסיסמה שלך - {app}",
        pt: "Redefinir sua senha - {app}",
        fr: "Réinitialiser votre mot de passe - {app}",
        de: "Dein Passwort zurücksetzen - {app}"
    )
    /// The text that mail programs show after the subject of the reset email.
    static let resetPreview = LocalizedText(
        en: "Click to reset your password securely",
        es: "Haz clic para restablecer tu contraseña de forma segura",
        he: "יש ללחוץ כדי לאפס את הסיסמה באופן מאובטח",
        pt: "Clique para redefinir sua senha com segurança",
        fr: "Cliquez pour réinitialiser votre mot de passe en toute sécurité",
        de: "Klicke, um dein Passwort sicher zurückzusetzen"
    )
    /// The first paragraph of the reset email.
    static let resetRequested = LocalizedText(
        en: "We received a request to reset the password of your {app} account.",
        es: "Recibimos una solicitud para restablecer la contraseña de tu cuenta de {app}.",
        he: "קיבלנו בקשה לאיפוס הסיסמה של החשבון שלך ב־{app}.",
        pt: "Recebemos uma solicitação para redefinir a senha da sua conta {app}.",
        fr: "Nous avons reçu une demande de réinitialisation du mot de passe de votre compte {app}.",
        de: "Wir haben eine Anfrage erhalten, das Passwort deines Kontos bei {app} zurückzusetzen."
    )
    /// The paragraph above the button of the reset email.
    static let resetClick = LocalizedText(
        en: "Click the button below to reset your password securely:",
        es: "Haz clic en el botón de abajo para restablecer tu contraseña de forma segura:",
        he: "כדי לאפס את הסיסמה באופן מאובטח, יש ללחוץ על הכפתור שלמטה:",
        pt: "Clique no botão abaixo para redefinir sua senha com segurança:",
        fr: "Cliquez sur le bouton ci-dessous pour réinitialiser votre mot de passe en toute sécurité\u{A0}:",
        de: "Klicke auf die Schaltfläche unten, um dein Passwort sicher zurückzusetzen:"
    )
    /// The line above the link in the text part, which has no buttons. `{label}` is the label of the button.
    static let buttonLine = LocalizedText(
        en: "{label}:",
        es: "{label}:",
        he: "{label}:",
        pt: "{label}:",
        fr: "{label}\u{A0}:",
        de: "{label}:"
    )
    /// The paragraph below the button. `{wait}` is the lifetime of the link.
    static let linkExpiry = LocalizedText(
        en: "This link will expire in {wait}.",
        es: "Este enlace expirará en {wait}.",
        he: "תוקף הקישור הזה יפוג בעוד {wait}.",
        pt: "Este link expirará em {wait}.",
        fr: "Ce lien expirera dans {wait}.",
        de: "Dieser Link läuft in {wait} ab."
    )
    /// The advice for a recipient who did not request the email.
    static let resetIgnore = LocalizedText(
        en: "If you did not request this change, you can safely ignore this email. Your password will not be changed.",
        es: "Si no solicitaste este cambio, puedes ignorar este correo de forma segura. Tu contraseña no será modificada.",
        he: "אם לא ביקשת את השינוי הזה, אפשר להתעלם מההודעה הזו ללא חשש. הסיסמה שלך לא תשתנה.",
        pt: "Se você não solicitou esta alteração, pode ignorar este e-mail com segurança. Sua senha não será alterada.",
        fr:
            "Si vous n’avez pas demandé ce changement, vous pouvez ignorer cet e-mail en toute sécurité. Votre mot de passe ne sera pas modifié.",
        de:
            "Wenn du diese Änderung nicht angefordert hast, kannst du diese E-Mail einfach ignorieren. Dein Passwort wird nicht geändert."
    )
    /// The first line of the closing of all emails.
    static let regards = LocalizedText(
        en: "Regards,",
        es: "Saludos,",
        he: "בברכה,",
        pt: "Atenciosamente,",
        fr: "Cordialement,",
        de: "Viele Grüße"
    )
    /// The second line of the closing of all emails.
    static let team = LocalizedText(
        en: "The {app} team",
        es: "El equipo de {app}",
        he: "צוות {app}",
        pt: "Equipe {app}",
        fr: "L’équipe {app}",
        de: "Das Team von {app}"
    )
    /// The footnote above the address of the link.
    static let copyLink = LocalizedText(
        en: "If the button does not work, copy and paste this link into your browser:",
        es: "Si el botón no funciona, copia y pega este enlace en tu navegador:",
        he: "אם הכפתור אינו פועל, אפשר להעתיק את הקישור הזה ולהדביק אותו בדפדפן:",
        pt: "Se o botão não funcionar, copie e cole este link no seu navegador:",
        fr: "Si le bouton ne fonctionne pas, copiez et collez ce lien dans votre navigateur\u{A0}:",
        de: "Falls die Schaltfläche nicht funktioniert, kopiere diesen Link und füge ihn in deinen Browser ein:"
    )
    /// The last footnote of emails with a button.
    static let securityNotice = LocalizedText(
        en: "Security notice: Never share this link with anyone. {app} will never ask for your password by email.",
        es:
            "Aviso de seguridad: Nunca compartas este enlace con nadie. {app} nunca te pedirá tu contraseña por correo electrónico.",
        he: "הודעת אבטחה: לעולם אין לשתף את הקישור הזה עם אף אחד. ב־{app} לעולם לא יבקשו ממך את הסיסמה באימייל.",
        pt: "Aviso de segurança: nunca compartilhe este link com ninguém. {app} nunca pedirá sua senha por e-mail.",
        fr:
            "Avis de sécurité\u{A0}: ne partagez jamais ce lien avec qui que ce soit. {app} ne vous demandera jamais votre mot de passe par e-mail.",
        de:
            "Sicherheitshinweis: Teile diesen Link niemals mit anderen. {app} wird dich niemals per E-Mail nach deinem Passwort fragen."
    )

    /// The subject of the email that confirms a new password.
    static let changedSubject = LocalizedText(
        en: "Password updated - {app}",
        es: "Contraseña actualizada - {app}",
        he: "הסיסמה עודכנה - {app}",
        pt: "Senha atualizada - {app}",
        fr: "Mot de passe mis à jour - {app}",
        de: "Passwort geändert - {app}"
    )
    /// The paragraph of the email that confirms a new password.
    static let changedBody = LocalizedText(
        en: "Your password has been updated successfully.",
        es: "Tu contraseña ha sido actualizada exitosamente.",
        he: "הסיסמה שלך עודכנה בהצלחה.",
        pt: "Sua senha foi atualizada com sucesso.",
        fr: "Votre mot de passe a été mis à jour avec succès.",
        de: "Dein Passwort wurde erfolgreich geändert."
    )
    /// The footnote of the email that confirms a new password, above the link that locks the account.
    static let changedNotMe = LocalizedText(
        en: "If this was not you, lock your account at once:",
        es: "Si no fuiste tú, congela tu cuenta de inmediato:",
        he: "אם לא ביצעת את השינוי, יש להקפיא את החשבון מיד:",
        pt: "Se não foi você, congele sua conta imediatamente:",
        fr: "Si ce n’était pas vous, gelez immédiatement votre compte\u{A0}:",
        de: "Wenn du das nicht warst, friere dein Konto sofort ein:"
    )
}
