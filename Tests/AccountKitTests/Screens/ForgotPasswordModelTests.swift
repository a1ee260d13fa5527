import AccountKit
import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import Testing

@MainActor
@Suite("Forgot-password screen")
struct ForgotPasswordModelTests {
    @Test("Reports a missing address with a title", arguments: ["", "   ", "\n"])
    func missingAddress(email: String) async throws {
        let script = try ScreenScript()
        let model = script.forgot(email: email)
        await model.request()
        let expected = ErrorPresentation(
            title: "Email Required",
            message: "Please enter your email address",
            primary: .fixFields
        )
        #expect(model.state == .failed(expected))
        #expect(script.transport.sent.isEmpty)
    }

    @Test("Reports a malformed address with a title", arguments: ["ana", "ana@example", "a@b@c.de"])
    func malformedAddress(email: String) async throws {
        let script = try ScreenScript()
        let model = script.forgot(.spanish, email: email)
        await model.request()
        let expected = ErrorPresentation(
            title: "Correo inválido",
            message: "Por favor, ingresa un correo electrónico válido",
            primary: .fixFields
        )
        #expect(model.state == .failed(expected))
        #expect(script.transport.sent.isEmpty)
        #expect(model.isRequestEnabled)
    }

    @Test("Shows the same text after any accepted request, sent in the user's language")
    func success() async throws {
        let script = try ScreenScript([.accepted])
        let model = script.forgot(.spanish)
        await model.request()
        let text = "Si existe una cuenta con este correo, recibirás un enlace para restablecer tu contraseña."
        #expect(model.state == .requested(message: text))
        #expect(script.transport.sent.first?.request.headerFields[.acceptLanguage] == "es")
    }

    @Test(
        "Shows the server's limit in the reset's own text, with the time of the next try",
        arguments: [
            (3_600, "1 hour"), (3_598, "1 hour"), (5_400, "2 hours"), (300, "5 minutes"), (60, "1 minute"), (1, "1 second"),
        ]
    )
    func limited(seconds: Int, words: String) async throws {
        let script = try ScreenScript([.refusal(429, .rateLimitExceeded, message: "x", retryAfter: seconds)])
        let model = script.forgot()
        await model.request()
        let expected = ErrorPresentation(
            title: "Too many attempts",
            message: "You have tried to reset your password too many times. Please try again in \(words).",
            primary: .retryAt(ScreenScript.start.addingTimeInterval(Double(seconds))),
            secondary: .dismiss
        )
        #expect(model.state == .failed(expected))
    }

    @Test("A limit without a delay shows “later” and can only be dismissed")
    func limitedForUnknownTime() async throws {
        let script = try ScreenScript([.limited(retryAfter: nil)])
        let model = script.forgot()
        await model.request()
        let text = "You have tried to reset your password too many times. Please try again later."
        #expect(
            model.state == .failed(ErrorPresentation(title: "Too many attempts", message: text, primary: .dismiss))
        )
    }

    @Test("Before the limit ends, shows the remaining time without a request")
    func retryAt() async throws {
        let script = try ScreenScript([.limited(retryAfter: 3_600), .accepted])
        let model = script.forgot()
        await model.request()
        let action = try #require(model.alert?.primary)
        model.dismissAlert()
        script.clock.advance(by: .seconds(3_540))
        #expect(await model.perform(action) == nil)
        #expect(model.alert?.message.hasSuffix("in 1 minute.") == true)
        #expect(model.alert?.primary == action)
        #expect(script.transport.sent.count == 1)
        script.clock.advance(by: .seconds(60))
        await model.perform(action)
        #expect(model.alert == nil)
        #expect(script.transport.sent.count == 2)
    }

    @Test(
        "Network and server failures offer a retry and start no cooldown",
        arguments: [
            (ScriptedTransport.Step.unreachable, "Check your internet connection"),
            (.broken, "Something went wrong. Please try again."),
        ]
    )
    func transientFailure(step: ScriptedTransport.Step, text: String) async throws {
        let script = try ScreenScript([step, .accepted])
        let model = script.forgot()
        await model.request()
        #expect(
            model.state == .failed(ErrorPresentation(title: "Error", message: text, primary: .retry, secondary: .dismiss))
        )
        #expect(model.isRequestEnabled)
        await model.perform(.retry)
        #expect(model.alert == nil)
        #expect(model.isCoolingDown)
    }

    @Test(
        "Passes actions that the model can't run to the app",
        arguments: [
            ErrorPresentation.Action.signIn, .contactSupport, .openSettings, .updateApp,
        ]
    )
    func actionsOfTheApp(action: ErrorPresentation.Action) async throws {
        let model = try ScreenScript().forgot(email: "")
        await model.request()
        #expect(await model.perform(action) == action)
        #expect(model.state == .editing)
    }

    @Test(
        "A rejected reset request without a code never shows “session expired”",
        arguments: [
            ScriptedTransport.Step.response(status: 401), .response(status: 403), .response(status: 400), .response(status: 404),
            .response(status: 401, body: #"{"detail":"Authentication credentials were not provided."}"#),
            .response(status: 401, headers: [.wwwAuthenticate: #"Bearer realm="api""#], body: "<html>no</html>"),
            .response(status: 200, body: #"{"success":false}"#), .refusal(401, .authSessionExpired),
            .refusal(401, .authTokenInvalid), .refusal(401, .authTokenMissing),
        ],
        Language.supported
    )
    func neverSessionExpired(step: ScriptedTransport.Step, language: Language) async throws {
        let model = try ScreenScript([step, .accepted]).forgot(language)
        await model.request()
        let alert = try #require(model.alert)
        #expect(alert.title == ContractText.errorTitle.text(in: language))
        #expect(alert.message != ContractText.sessionExpired.text(in: language) && !alert.message.isEmpty)
        #expect(alert.primary != .signIn && alert.secondary != .signIn)
        await model.request()
        #expect(model.isCoolingDown)
    }

    @Test("A dismissal removes the alert", arguments: [ErrorPresentation.Action.dismiss, .fixFields])
    func dismissal(action: ErrorPresentation.Action) async throws {
        let model = try ScreenScript().forgot(email: "")
        await model.request()
        #expect(model.isAlertShown)
        #expect(await model.perform(action) == nil)
        #expect(model.state == .editing)
        model.dismissAlert()
        model.isAlertShown = true
        #expect(model.state == .editing)
    }
}
