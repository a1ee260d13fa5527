import AccountContract
import AccountCore
import ErrorContract
import Pages
import Testing

@Suite struct MailTextTests {
    private static let link = "https://app.example.com/reset-password?token=AbC-_123&email=Ana%2Btest%40example.com"

    /// The paragraphs of the reset mail as the specification lists them.
    private static let resetParagraphs: [Language: [String]] = [
        .spanish: [
            "Haz clic para restablecer tu contraseña de forma segura", "Hola Ana,",
            "Recibimos una solicitud para restablecer la contraseña de tu cuenta de Ñandú.",
            "Haz clic en el botón de abajo para restablecer tu contraseña de forma segura:", "Restablecer Contraseña",
            "Este enlace expirará en 1 hora.",
            "Si no solicitaste este cambio, puedes ignorar este correo de forma segura. Tu contraseña no será modificada.",
            "Saludos,", "El equipo de Ñandú", "Si el botón no funciona, copia y pega este enlace en tu navegador:", link,
            "Aviso de seguridad: Nunca compartas este enlace con nadie. "
                + "Ñandú nunca te pedirá tu contraseña por correo electrónico.",
        ],
        .english: [
            "Click to reset your password securely", "Hello Ana,",
            "We received a request to reset the password of your Ñandú account.",
            "Click the button below to reset your password securely:", "Reset Password", "This link will expire in 1 hour.",
            "If you did not request this change, you can safely ignore this email. Your password will not be changed.",
            "Regards,", "The Ñandú team", "If the button does not work, copy and paste this link into your browser:", link,
            "Security notice: Never share this link with anyone. Ñandú will never ask for your password by email.",
        ],
    ]

    @Test("The reset email contains the specified texts in order", arguments: [Language.spanish, .english])
    func reset(_ language: Language) throws {
        let mail = try makeTemplates().sampleReset(language: language)
        let paragraphs = try #require(Self.resetParagraphs[language])
        #expect(visibleText(mail.html) == (paragraphs).joined(separator: " "), "nothing is added, nothing left out")
        #expect(inOrder(Array(paragraphs.dropFirst()), in: mail.text), "the text part has no preview")
        #expect(mail.language == language)
        #expect(mail.html.contains(#"<html lang="\#(language)">"#))
    }

    @Test("The confirmation email contains the specified texts", arguments: [Language.spanish, .english])
    func changed(_ language: Language) throws {
        let mail = try makeTemplates().sampleChanged(language: language)
        let link = "https://app.example.com/reset-password/not-me?token=freeze-token"
        let paragraphs =
            language == .spanish
            ? [
                "Hola Ana,", "Tu contraseña ha sido actualizada exitosamente.", "Saludos,", "El equipo de Ñandú",
                "Si no fuiste tú, congela tu cuenta de inmediato:", link,
            ]
            : [
                "Hello Ana,", "Your password has been updated successfully.", "Regards,", "The Ñandú team",
                "If this was not you, lock your account at once:", link,
            ]
        #expect(visibleText(mail.html) == paragraphs.joined(separator: " "))
        #expect(mail.text.split(separator: "\n").map(String.init) == paragraphs)
        #expect(mail.language == language)
    }

    @Test(
        "Subjects contain the name of the app",
        arguments: [
            (Language.spanish, "Restablecer tu contraseña - Ñandú", "Contraseña actualizada - Ñandú"),
            (.english, "Reset your password - Ñandú", "Password updated - Ñandú"),
            (Language("es-mx"), "Restablecer tu contraseña - Ñandú", "Contraseña actualizada - Ñandú"),
            (Language("iw-IL"), "איפוס הסיסמה שלך - Ñandú", "הסיסמה עודכנה - Ñandú"),
            (Language("pt-BR"), "Redefinir sua senha - Ñandú", "Senha atualizada - Ñandú"),
            (.french, "Réinitialiser votre mot de passe - Ñandú", "Mot de passe mis à jour - Ñandú"),
            (Language("de-AT"), "Dein Passwort zurücksetzen - Ñandú", "Passwort geändert - Ñandú"),
            (Language("it"), "Reset your password - Ñandú", "Password updated - Ñandú"),
        ]
    )
    func subjects(_ language: Language, reset: String, changed: String) throws {
        let templates = try makeTemplates()
        #expect(try templates.sampleReset(language: language).subject == reset)
        #expect(try templates.sampleChanged(language: language).subject == changed)
    }

    @Test(
        "Shows the lifetime of a link with the right plural, rounded up",
        arguments: [
            (3_600, "1 hora", "1 hour"), (7_200, "2 horas", "2 hours"), (86_400, "24 horas", "24 hours"),
            (5_400, "2 horas", "2 hours"), (1_800, "30 minutos", "30 minutes"), (60, "1 minuto", "1 minute"),
            (30, "30 segundos", "30 seconds"),
        ]
    )
    func lifetime(_ seconds: Int, spanish: String, english: String) throws {
        let templates = try makeTemplates(lifetime: .seconds(seconds))
        for (language, sentence) in [
            (Language.spanish, "Este enlace expirará en \(spanish)."), (.english, "This link will expire in \(english)."),
        ] {
            let mail = try templates.sampleReset(language: language)
            #expect(visibleText(mail.html).contains(sentence))
            #expect(mail.text.contains(sentence))
        }
    }

    @Test("Subject and preview can be replaced only in the reset email")
    func overrides() throws {
        let templates = try makeTemplates(subject: "¿Olvidaste tu contraseña?", preview: "Un <clic> & listo")
        let mail = try templates.sampleReset()
        #expect(mail.subject == "¿Olvidaste tu contraseña?")
        #expect(visibleText(mail.html).hasPrefix("Un <clic> & listo Hola Ana,"))
        #expect(!mail.html.contains("Haz clic para restablecer"))
        #expect(mail.html.contains("<title>¿Olvidaste tu contraseña?</title>"))
        #expect(try templates.sampleChanged().subject == "Contraseña actualizada - Ñandú")
    }

    @Test("Emails are from the configured sender and go to the stored address")
    func envelope() throws {
        let mail = try makeTemplates().sampleReset()
        #expect(mail.sender == "Ñandú <noreply@example.com>")
        #expect(mail.recipient.text == "Ana+test@example.com")
    }

    @Test(
        "An email declares the language that it is written in, not the requested one",
        arguments: [("es-MX", "es"), ("iw", "he"), ("pt-PT", "pt"), ("it", "en"), ("ar", "en"), ("", "en")]
    )
    func written(asked: String, spoken: String) throws {
        let templates = try makeTemplates()
        for mail in [
            try templates.sampleReset(language: Language(asked)), try templates.sampleChanged(language: Language(asked)),
        ] {
            #expect(mail.language.rawValue == spoken)
            #expect(mail.html.contains("<html lang=\"\(spoken)\""))
        }
    }

    @Test("No placeholder and no tag of the template remains", arguments: Language.supported, MailKind.allCases)
    func leftovers(_ language: Language, kind: MailKind) throws {
        let templates = try makeTemplates()
        for mail in [
            try templates.sample(kind, language: language),
            try templates.sample(kind, name: nil, device: nil, language: language),
        ] {
            for part in [mail.subject, mail.text, mail.html] {
                #expect(!part.contains("{") && !part.contains("}"))
                #expect(!part.contains("LocalizedText") && !part.contains("Optional("))
            }
        }
    }

    @Test("The text part is plain: no tag, no entity, no empty lines at its ends", arguments: MailKind.allCases)
    func plainText(_ kind: MailKind) throws {
        let text = try makeTemplates().sample(kind).text
        #expect(!text.contains("<") && !text.contains("&amp;") && !text.contains("\n\n\n"))
        #expect(text.hasPrefix("Hola Ana,\n\n"))
        #expect(text.hasSuffix("\n") && !text.hasSuffix("\n\n"))
    }
}
