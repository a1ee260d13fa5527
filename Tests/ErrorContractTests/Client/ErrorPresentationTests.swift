import ErrorContract
import Foundation
import HTTPTypes
import Testing

/// A situation and its expected presentation.
struct PresentationRow: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var error: APIError
    var spanish: (title: String, text: String)
    var english: (title: String, text: String)
    var primary: ErrorPresentation.Action
    var secondary: ErrorPresentation.Action?

    /// 2025-11-04T10:30:00Z
    static let now = Date(timeIntervalSince1970: 1_762_252_200)

    static func answered(
        _ status: Int,
        _ code: ErrorCode? = nil,
        message: String? = nil,
        in language: Language? = nil,
        retryAfter: Duration? = nil
    ) -> APIError {
        var response = ErrorDecoder().decode(status: status, headers: [:], body: [UInt8](), now: now)
        (response.code, response.message, response.retryAfter) = (code, message, retryAfter)
        var error = APIError(response)
        error.headers[.contentLanguage] = language?.rawValue
        return error
    }

    static func local(_ kind: APIError.Kind, recovery: Recovery = .dismiss, retryAfter: Duration? = nil) -> APIError {
        var error = APIError(kind: kind, code: .unknown, recovery: recovery)
        error.retryAfter = retryAfter
        return error
    }

    private static let sessionExpired = (
        (title: "Sesión expirada", text: "Por favor, inicia sesión de nuevo."),
        (title: "Session Expired", text: "Please sign in again.")
    )
    private static let network = (
        (title: "Error", text: "Revisa tu conexión a internet"), (title: "Error", text: "Check your internet connection")
    )
    private static let server = (
        (title: "Error", text: "Algo salió mal. Por favor, intenta de nuevo."),
        (title: "Error", text: "Something went wrong. Please try again.")
    )
    private static let unknown = (
        (title: "Error", text: "Ocurrió un error. Por favor, intenta de nuevo."),
        (title: "Error", text: "An error occurred. Please try again.")
    )

    private init(
        _ name: String,
        _ error: APIError,
        _ texts: (spanish: (title: String, text: String), english: (title: String, text: String)),
        _ primary: ErrorPresentation.Action,
        _ secondary: ErrorPresentation.Action? = nil
    ) {
        (self.testDescription, self.error, self.primary, self.secondary) = (name, error, primary, secondary)
        (self.spanish, self.english) = texts
    }

    static let sessions = [
        PresentationRow("401 without a code", answered(401), sessionExpired, .signIn, .dismiss),
        PresentationRow("session expired", answered(401, .authSessionExpired, message: "x"), sessionExpired, .signIn, .dismiss),
        PresentationRow("token expired", answered(401, .authTokenExpired), sessionExpired, .signIn, .dismiss),
        PresentationRow("refresh failed", answered(401, .authRefreshFailed), sessionExpired, .signIn, .dismiss),
        PresentationRow(
            "wrong credentials",
            answered(401, .authInvalidCredentials),
            (("Error", "Correo o contraseña incorrectos"), ("Error", "Invalid email or password")),
            .fixFields
        ),
        PresentationRow(
            "dead link",
            answered(400, .authResetTokenInvalid, message: "x"),
            (
                ("Enlace Expirado", "Este enlace de restablecimiento ha expirado. Por favor, solicita uno nuevo."),
                ("Link Expired", "This reset link has expired. Please request a new one.")
            ),
            .requestNewLink,
            .dismiss
        ),
        PresentationRow(
            "weak password",
            answered(400, .authWeakPassword, message: "La contraseña debe tener al menos 8 caracteres", in: .spanish),
            (
                ("Contraseña Débil", "La contraseña debe tener al menos 8 caracteres"),
                ("Weak Password", "The password is too weak. Please choose a stronger one.")
            ),
            .fixFields
        ),
        PresentationRow(
            "stale key",
            answered(401, .apiKeyInvalid),
            (
                ("Error", "La clave de API no es válida. Por favor, revísala en los ajustes."),
                ("Error", "The API key is not valid. Please check it in the settings.")
            ),
            .openSettings,
            .dismiss
        ),
    ]

    static let limits = [
        PresentationRow(
            "limited, delay unknown",
            answered(429),
            (
                ("Demasiados intentos", "Demasiados intentos. Intenta de nuevo más tarde."),
                ("Too many attempts", "Too many attempts. Try again later.")
            ),
            .dismiss
        ),
        PresentationRow(
            "limited, delay known",
            answered(429, .rateLimitExceeded, retryAfter: .seconds(45)),
            (
                ("Demasiados intentos", "Demasiadas solicitudes. Intenta de nuevo en 45 segundos."),
                ("Too many attempts", "Too many requests. Please try again in 45 seconds.")
            ),
            .retryAt(now + 45),
            .dismiss
        ),
        PresentationRow(
            "limited, with the server's text",
            answered(429, "SLOW_DOWN", message: "Espera un poco.", in: .spanish, retryAfter: .milliseconds(1_500)),
            (
                ("Demasiados intentos", "Espera un poco. Intenta de nuevo en 2 segundos."),
                ("Too many attempts", "Too many requests. Please try again in 2 seconds.")
            ),
            .retryAt(now + 2),
            .dismiss
        ),
        PresentationRow(
            "throttled",
            local(.throttled, recovery: .wait, retryAfter: .seconds(30)),
            (
                ("Demasiados intentos", "Demasiadas solicitudes. Espera 30 segundos antes de intentar de nuevo."),
                ("Too many attempts", "Too many requests. Please wait 30 seconds before trying again.")
            ),
            .retryAt(now + 30),
            .dismiss
        ),
        PresentationRow(
            "throttled, delay unknown",
            local(.throttled, recovery: .wait),
            (
                ("Demasiados intentos", "Por favor, espera antes de intentar de nuevo."),
                ("Too many attempts", "Please wait before trying again.")
            ),
            .dismiss
        ),
    ]

    static let failures = [
        PresentationRow("network", local(.network, recovery: .retry), network, .retry, .dismiss),
        PresentationRow("no internet", local(.noInternet, recovery: .retry), network, .retry, .dismiss),
        PresentationRow("time-out", local(.timeout, recovery: .retry), network, .retry, .dismiss),
        PresentationRow("unknown outcome", local(.unknownOutcome, recovery: .retry), network, .checkAgain, .dismiss),
        PresentationRow("server", answered(500, .serverDatabaseError, message: "relation users"), server, .retry, .dismiss),
        PresentationRow("server without a code", answered(502), server, .retry, .dismiss),
        PresentationRow("decoding", local(.decoding), unknown, .dismiss),
        PresentationRow("page of a portal", local(.notAPI), unknown, .dismiss),
        PresentationRow("request not built", local(.invalidRequest), unknown, .dismiss),
        PresentationRow("cancelled", local(.cancelled), unknown, .dismiss),
        PresentationRow("custom", local(.custom), unknown, .dismiss),
        PresentationRow(
            "404 without a code",
            answered(404),
            (("Error", "No encontramos lo que buscabas."), ("Error", "We could not find what you were looking for.")),
            .dismiss
        ),
        PresentationRow("409 without a code", answered(409), unknown, .dismiss),
        PresentationRow(
            "400 with a text",
            answered(400, message: "El nombre ya existe.", in: .spanish),
            (("Error", "El nombre ya existe."), unknown.1),
            .dismiss
        ),
        PresentationRow(
            "empty text",
            answered(403, .authUserSuspended, message: ""),
            (
                ("Error", "Esta cuenta está suspendida. Por favor, contacta a soporte."),
                ("Error", "This account is suspended. Please contact support.")
            ),
            .contactSupport,
            .dismiss
        ),
    ]
}

@Suite struct ErrorPresentationTests {
    @Test(
        "Shows an error with exactly this title, text and actions",
        arguments: PresentationRow.sessions + PresentationRow.limits + PresentationRow.failures
    )
    func shown(row: PresentationRow) {
        for (language, texts) in [(Language.spanish, row.spanish), (.english, row.english), (Language("es-MX"), row.spanish)] {
            let presentation = row.error.presentation(in: language, now: PresentationRow.now)
            #expect(presentation.title == texts.title)
            #expect(presentation.message == texts.text)
            #expect(presentation.primary == row.primary)
            #expect(presentation.secondary == row.secondary)
        }
    }

    @Test(
        "An unknown outcome offers “Comprobar de nuevo” / “Check again”, never a retry",
        arguments: Recovery.allCases,
        [nil, Duration.seconds(30)]
    )
    func unknownOutcome(recovery: Recovery, retryAfter: Duration?) {
        let error = PresentationRow.local(.unknownOutcome, recovery: recovery, retryAfter: retryAfter)
        for (language, label) in [
            (Language.spanish, "Comprobar de nuevo"), (.english, "Check again"), (.hebrew, "בדיקה חוזרת"),
            (.portuguese, "Verificar novamente"), (.french, "Vérifier à nouveau"), (.german, "Erneut prüfen"),
        ] {
            let shown = error.presentation(in: language, now: PresentationRow.now)
            #expect(shown.primary == .checkAgain && shown.secondary == .dismiss)
            #expect(shown.primaryLabel(in: language) == label)
        }
        #expect(APIError(.unknownOutcome).recovery == .checkAgain && !APIError(.unknownOutcome).isRetryable)
    }

    @Test("Shows a code of the app with the app's text")
    func ownCode() throws {
        let own = ErrorDefinition(
            "PAYMENT_DECLINED",
            family: ErrorFamily(rawValue: "PAYMENT"),
            status: 402,
            summary: "Card declined",
            userAction: "Use another card",
            recovery: .updateApp,
            message: LocalizedText(en: "The card was declined.", es: "La tarjeta fue rechazada.")
        )
        let catalogue = try ErrorCatalogue.standard.adding([own])
        var response = ErrorDecoder().decode(status: 402, headers: [:], body: [UInt8](), now: PresentationRow.now)
        response.code = "PAYMENT_DECLINED_TODAY"
        let shown = APIError(response, catalogue: catalogue)
            .presentation(in: .spanish, now: PresentationRow.now, catalogue: catalogue)
        #expect(shown.message == "La tarjeta fue rechazada.")
        #expect(shown.primary == .updateApp)
    }
}
