import AccountKit
import ErrorContract
import HoldfastTesting

extension MessageRow {
    static let links = [
        MessageRow(
            "link invalid",
            es: "Enlace Inválido",
            "El enlace de restablecimiento de contraseña no es válido.",
            en: "Invalid Link",
            "The password reset link is not valid."
        ) { language in
            let model = ResetPasswordModel(link: nil, client: try ScreenScript().client, language: language)
            return [model.deadLink?.title, model.deadLink?.message]
        },
        MessageRow(
            "link expired",
            es: "Enlace Expirado",
            "Este enlace de restablecimiento ha expirado. Por favor, solicita uno nuevo.",
            "Solicitar Nuevo",
            "Cancelar",
            en: "Link Expired",
            "This reset link has expired. Please request a new one.",
            "Request New",
            "Cancel"
        ) { language in
            let model = try ScreenScript([.refusal(400, .authResetTokenInvalid)]).reset(language)
            await model.open()
            let page = model.deadLink
            return [page?.title, page?.message, page?.primaryLabel(in: language), page?.secondaryLabel(in: language)]
        },
    ]

    static let resetScreen =
        [
            MessageRow(
                "password too short",
                es: "Contraseña Débil",
                "La contraseña debe tener al menos 8 caracteres",
                en: "Weak Password",
                "The password must have at least 8 characters",
                shown: problem(password: "short")
            ),
            MessageRow(
                "password needs letters and digits",
                es: "La contraseña debe contener letras y números",
                en: "The password must contain letters and numbers"
            ) { language in
                let rules = PasswordRules(requiresLettersAndDigits: true)
                let script = try ScreenScript([.linkIsGood])
                let model = try await script.openedReset(language, password: "letters only", rules: rules)
                await model.submit()
                return [model.alert?.message]
            },
            MessageRow(
                "passwords differ",
                es: "Error",
                "Las contraseñas no coinciden",
                en: "Error",
                "The passwords do not match",
                shown: problem(password: "second password", confirmation: "another password")
            ),
            MessageRow(
                "reset screen",
                es: "Restablecer Contraseña",
                "Hola Ana, ingresa tu nueva contraseña",
                "Nueva contraseña",
                "Confirmar contraseña",
                "Confirmar",
                "Cancelar",
                en: "Reset Password",
                "Hello Ana, enter your new password",
                "New password",
                "Confirm password",
                "Confirm",
                "Cancel"
            ) { language in
                let model = try await ScreenScript([.linkIsGood]).openedReset(language)
                let labels = [ContractText.newPassword, ContractText.confirmPassword, ContractText.confirm, ContractText.cancel]
                    .map { $0.text(in: language) }
                return [ContractText.resetTitle.text(in: language), model.greeting] + labels
            },
            MessageRow(
                "reset screen, no name known",
                es: "Ingresa tu nueva contraseña",
                en: "Enter your new password"
            ) { language in
                [try await ScreenScript([.good(firstName: "")]).openedReset(language).greeting]
            },
            MessageRow(
                "success",
                es: "¡Éxito! Tu contraseña ha sido actualizada. Por favor, inicia sesión con tu nueva contraseña.",
                en: "Success! Your password has been updated. Please sign in with your new password."
            ) { language in
                let model = try await ScreenScript([.linkIsGood, .accepted]).openedReset(language)
                await model.submit()
                return [model.successText]
            },
            MessageRow(
                "confirm refused after a lost response",
                es: "Intenta iniciar sesión con tu nueva contraseña",
                en: "Try signing in with your new password"
            ) { language in
                let script = try ScreenScript([.linkIsGood, .lost, .refusal(400, .authResetTokenInvalid)])
                let model = try await script.openedReset(language)
                await model.submit()
                await model.perform(.retry)
                return [model.deadLink?.message]
            },
        ]
        + [
            ("abc", "Contraseña débil", "Weak password"), ("abcdefgh1", "Contraseña media", "Medium password"),
            ("Abcdefghijk1!", "Contraseña fuerte", "Strong password"),
        ].map { password, spanish, english in
            MessageRow("strength of \(password)", es: spanish, en: english) { language in
                [try ScreenScript().reset(language, password: password).strengthText]
            }
        }

    /// A form that is not sent: the title and text of its alert.
    private static func problem(
        password: String,
        confirmation: String? = nil
    ) -> @MainActor @Sendable (Language) async throws -> [String?] {
        { language in
            let script = try ScreenScript([.linkIsGood])
            let model = try await script.openedReset(language, password: password, confirmation: confirmation)
            await model.submit()
            return [model.alert?.title, model.alert?.message]
        }
    }
}
