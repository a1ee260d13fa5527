import AccountKit
import ErrorContract
import HoldfastTesting

extension MessageRow {
    static let limits =
        resetLimits.map { seconds, spanish, english in
            MessageRow(
                "reset limited, \(seconds) s",
                es: "Demasiados intentos",
                "Has intentado restablecer tu contraseña demasiadas veces. Por favor, intenta de nuevo en \(spanish).",
                en: "Too many attempts",
                "You have tried to reset your password too many times. Please try again in \(english).",
                shown: forgot(.limited(retryAfter: seconds))
            )
        }
        + otherLimits.flatMap { seconds, spanish, english in
            [
                MessageRow(
                    "any other limit, \(seconds) s",
                    es: "Demasiados intentos",
                    "Demasiadas solicitudes. Intenta de nuevo en \(spanish).",
                    en: "Too many attempts",
                    "Too many requests. Please try again in \(english).",
                    shown: signIn(.limited(retryAfter: seconds))
                ),
                MessageRow(
                    "throttled by the client, \(seconds) s",
                    es: "Demasiados intentos",
                    "Demasiadas solicitudes. Espera \(spanish) antes de intentar de nuevo.",
                    en: "Too many attempts",
                    "Too many requests. Please wait \(english) before trying again.",
                    shown: throttled(.seconds(seconds))
                ),
            ]
        } + unknownDelays

    private static let resetLimits = [
        (7_201, "3 horas", "3 hours"), (5_400, "2 horas", "2 hours"), (3_600, "1 hora", "1 hour"), (3_598, "1 hora", "1 hour"),
        (3_541, "1 hora", "1 hour"), (3_540, "59 minutos", "59 minutes"), (300, "5 minutos", "5 minutes"),
        (61, "2 minutos", "2 minutes"), (60, "1 minuto", "1 minute"), (59, "59 segundos", "59 seconds"),
        (1, "1 segundo", "1 second"),
    ]
    private static let otherLimits = [
        (45, "45 segundos", "45 seconds"), (1, "1 segundo", "1 second"), (120, "2 minutos", "2 minutes"),
        (7_200, "2 horas", "2 hours"),
    ]
    private static let unknownDelays = [
        MessageRow(
            "reset limited, delay unknown",
            es: "Demasiados intentos",
            "Has intentado restablecer tu contraseña demasiadas veces. Por favor, intenta de nuevo más tarde.",
            en: "Too many attempts",
            "You have tried to reset your password too many times. Please try again later.",
            shown: forgot(.limited(retryAfter: nil))
        ),
        MessageRow(
            "any other limit, delay unknown",
            es: "Demasiados intentos",
            "Demasiados intentos. Intenta de nuevo más tarde.",
            en: "Too many attempts",
            "Too many attempts. Try again later.",
            shown: signIn(.limited(retryAfter: nil))
        ),
        MessageRow(
            "short form",
            es: "Demasiados intentos",
            "Por favor, espera antes de intentar de nuevo.",
            en: "Too many attempts",
            "Please wait before trying again.",
            shown: throttled(nil)
        ),
    ]

    static let cooldown = [0, 1, 59].map { passed in
        let left = 60 - passed
        return MessageRow(
            "cooldown of the reset button, \(left) s left",
            es: "Demasiados intentos",
            "Espera \(left) segundo\(left == 1 ? "" : "s") antes de reintentar",
            en: "Too Many Requests",
            "Please wait \(left) second\(left == 1 ? "" : "s") before requesting again"
        ) { language in
            let script = try ScreenScript([.accepted])
            let model = script.forgot(language)
            await model.request()
            script.clock.advance(by: .seconds(passed))
            await model.request()
            return [model.alert?.title, model.alert?.message]
        }
    }

    /// A sign-in that the client delays or refuses itself.
    private static func throttled(_ wait: Duration?) -> @MainActor @Sendable (Language) async throws -> [String?] {
        { language in
            var error = APIError(kind: .throttled, code: .throttled, recovery: .wait, attempts: 0)
            error.retryAfter = wait
            let model = try ScreenScript(refusal: error).signIn(language)
            await model.submit()
            return [model.alert?.title, model.alert?.message]
        }
    }
}
