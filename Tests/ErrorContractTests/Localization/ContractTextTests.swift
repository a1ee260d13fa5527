import ErrorContract
import Testing

@Suite struct ContractTextTests {
    @Test(
        "A limited reset shows the wait in the fitting unit",
        arguments: [
            (Duration.seconds(1), "1 segundo", "1 second"), (.seconds(45), "45 segundos", "45 seconds"),
            (.seconds(59), "59 segundos", "59 seconds"), (.milliseconds(59_200), "1 minuto", "1 minute"),
            (.seconds(60), "1 minuto", "1 minute"), (.seconds(61), "2 minutos", "2 minutes"),
            (.seconds(300), "5 minutos", "5 minutes"), (.seconds(3598), "1 hora", "1 hour"), (.seconds(3600), "1 hora", "1 hour"),
            (.seconds(3601), "2 horas", "2 hours"), (.seconds(5400), "2 horas", "2 hours"),
        ]
    )
    func resetLimited(wait: Duration, spanish: String, english: String) {
        let text = ContractText.resetLimited(wait: wait)
        let start = "Has intentado restablecer tu contraseña demasiadas veces. Por favor, intenta de nuevo en "
        #expect(text.text(in: .spanish) == start + spanish + ".")
        #expect(
            text.text(in: .english) == "You have tried to reset your password too many times. Please try again in \(english)."
        )
    }

    @Test(
        "Any other limit shows the wait, and the client's own limiter requests it",
        arguments: [
            (Duration.seconds(1), "1 segundo", "1 second"), (.seconds(30), "30 segundos", "30 seconds"),
            (.seconds(90), "2 minutos", "2 minutes"), (.seconds(7200), "2 horas", "2 hours"),
        ]
    )
    func limited(wait: Duration, spanish: String, english: String) {
        let limited = ContractText.limited(wait: wait)
        #expect(limited.text(in: .spanish) == "Demasiadas solicitudes. Intenta de nuevo en \(spanish).")
        #expect(limited.text(in: .english) == "Too many requests. Please try again in \(english).")
        let throttled = ContractText.throttled(wait: wait)
        #expect(throttled.text(in: .spanish) == "Demasiadas solicitudes. Espera \(spanish) antes de intentar de nuevo.")
        #expect(throttled.text(in: .english) == "Too many requests. Please wait \(english) before trying again.")
    }

    @Test(
        "A text equals its specification exactly",
        arguments: [
            (
                ContractText.resetLimited(wait: nil),
                "Has intentado restablecer tu contraseña demasiadas veces. Por favor, intenta de nuevo más tarde.",
                "You have tried to reset your password too many times. Please try again later."
            ),
            (
                ContractText.limited(wait: nil), "Demasiados intentos. Intenta de nuevo más tarde.",
                "Too many attempts. Try again later."
            ),
            (
                ContractText.throttled(wait: nil), "Por favor, espera antes de intentar de nuevo.",
                "Please wait before trying again."
            ),
            (ContractText.waitShort, "Por favor, espera antes de intentar de nuevo.", "Please wait before trying again."),
            (ContractText.tooManyAttemptsTitle, "Demasiados intentos", "Too many attempts"),
            (
                ContractText.resetRequested,
                "Si existe una cuenta con este correo, recibirás un enlace para restablecer tu contraseña.",
                "If an account exists for this email, you will receive a link to reset your password."
            ),
            (ContractText.tokenInvalid, "Token inválido o expirado", "Invalid or expired token"),
            (ContractText.passwordChanged, "Contraseña actualizada exitosamente", "Password updated successfully"),
            (
                ContractText.passwordTooShort(minimum: 8), "La contraseña debe tener al menos 8 caracteres",
                "The password must have at least 8 characters"
            ),
            (
                ContractText.passwordNeedsLettersAndDigits, "La contraseña debe contener letras y números",
                "The password must contain letters and numbers"
            ),
            (ContractText.weakPasswordTitle, "Contraseña Débil", "Weak Password"),
            (ContractText.linkExpiredTitle, "Enlace Expirado", "Link Expired"),
            (
                ContractText.linkExpired, "Este enlace de restablecimiento ha expirado. Por favor, solicita uno nuevo.",
                "This reset link has expired. Please request a new one."
            ),
            (ContractText.sessionExpiredTitle, "Sesión expirada", "Session Expired"),
            (ContractText.sessionExpired, "Por favor, inicia sesión de nuevo.", "Please sign in again."),
            (ContractText.errorTitle, "Error", "Error"),
            (
                ContractText.unknownError, "Ocurrió un error. Por favor, intenta de nuevo.",
                "An error occurred. Please try again."
            ),
            (ContractText.network, "Revisa tu conexión a internet", "Check your internet connection"),
            (
                ContractText.server, "Algo salió mal. Por favor, intenta de nuevo.",
                "Something went wrong. Please try again."
            ),
        ] as [(LocalizedText, String, String)]
    )
    func exact(text: LocalizedText, spanish: String, english: String) {
        #expect(text.text(in: .spanish) == spanish)
        #expect(text.text(in: .english) == english)
    }

    @Test(
        "The message of a code equals its specification exactly",
        arguments: [
            (ErrorCode.authInvalidCredentials, "Correo o contraseña incorrectos", "Invalid email or password"),
            (.authResetTokenInvalid, "Token inválido o expirado", "Invalid or expired token"),
            (
                .validationInvalidEmail, "Por favor, ingresa un correo electrónico válido",
                "Please enter a valid email address"
            ),
            (.authSessionExpired, "Por favor, inicia sesión de nuevo.", "Please sign in again."),
            (.rateLimitExceeded, "Demasiados intentos. Intenta de nuevo más tarde.", "Too many attempts. Try again later."),
            (
                .serverInternalError, "Algo salió mal. Por favor, intenta de nuevo.",
                "Something went wrong. Please try again."
            ),
        ]
    )
    func code(code: ErrorCode, spanish: String, english: String) throws {
        let message = try #require(ErrorCatalogue.standard[code]).message
        #expect(message.text(in: .spanish) == spanish)
        #expect(message.text(in: .english) == english)
    }
}
