import AccountContract
import AccountKit
import ErrorContract
import Foundation
import HoldfastTesting
import Testing

@MainActor
@Suite("Reset screen: setting the password")
struct ResetPasswordSubmitTests {
    @Test(
        "Reports what is wrong with the form and sends nothing",
        arguments: [
            ("", "", "Error", "Please fill in all fields"),
            ("second password", "", "Error", "Please fill in all fields"),
            ("", "second password", "Error", "Please fill in all fields"),
            ("short", "other", "Weak Password", "The password must have at least 8 characters"),
            ("1234567", "1234567", "Weak Password", "The password must have at least 8 characters"),
            ("ñandú🦤!", "ñandú🦤!", "Weak Password", "The password must have at least 8 characters"),
            ("second password", "second passwort", "Error", "The passwords do not match"),
        ]
    )
    func formProblem(password: String, confirmation: String, title: String, text: String) async throws {
        let script = try ScreenScript([.linkIsGood])
        let model = try await script.openedReset(password: password, confirmation: confirmation)
        await model.submit()
        #expect(model.state == .failed(ErrorPresentation(title: title, message: text, primary: .fixFields)))
        #expect(script.transport.sent.count == 1)
        await model.perform(.fixFields)
        #expect(model.state == .editing)
    }

    @Test(
        "Checks the app's own rules before the server's",
        arguments: [
            (PasswordRules(minimumLength: 12), "only eleven", "The password must have at least 12 characters"),
            (PasswordRules(maximumLength: 10), "second password", "The password must have at most 10 characters"),
            (PasswordRules(requiresLettersAndDigits: true), "letters only", "The password must contain letters and numbers"),
            (PasswordRules(requiresLettersAndDigits: true), "1234567890", "The password must contain letters and numbers"),
        ]
    )
    func rules(rules: PasswordRules, password: String, text: String) async throws {
        let script = try ScreenScript([.linkIsGood])
        let model = try await script.openedReset(password: password, rules: rules)
        await model.submit()
        #expect(
            model.state == .failed(ErrorPresentation(title: "Weak Password", message: text, primary: .fixFields))
        )
    }

    @Test("A password of letters and digits satisfies the rule that requires both")
    func lettersAndDigits() {
        #expect(PasswordRules(requiresLettersAndDigits: true).objection(to: "letters and 1") == nil)
        #expect(PasswordRules().objection(to: "letters only") == nil)
    }

    @Test("A new password opens sign-in with the address filled in, and is not stored")
    func success() async throws {
        let script = try ScreenScript([.linkIsGood, .accepted])
        let model = try await script.openedReset(.spanish)
        await model.submit()
        #expect(model.state == .succeeded(email: try EmailAddress("ana@example.com")))
        #expect(model.password.isEmpty)
        #expect(model.confirmation.isEmpty)
        let text =
            "¡Éxito! Tu contraseña ha sido actualizada. Por favor, inicia sesión con tu nueva contraseña."
        #expect(model.successText == text)
        let signIn = model.makeSignInModel()
        #expect(signIn.email == "ana@example.com")
        #expect(signIn.language == .spanish)
        await model.submit()
        await model.open()
        #expect(script.transport.sent.count == 2)
    }

    @Test("Shows the server's reason against a password at the field; the link stays valid")
    func serverFindsItWeak() async throws {
        let reason = "The password is too common"
        let script = try ScreenScript([.linkIsGood, .refusal(400, .authWeakPassword, message: reason), .accepted])
        let model = try await script.openedReset(password: "password1")
        await model.submit()
        #expect(model.state == .passwordRefused(reason: reason))
        #expect(model.passwordProblem == reason)
        #expect(model.alert == nil)
        #expect(model.isFormShown)
        model.password = "second password"
        #expect(model.state == .editing)
        #expect(model.passwordProblem == nil)
        model.confirmation = "second password"
        await model.submit()
        #expect(model.successText != nil)
    }

    @Test("Shows the catalog's text for a weak password without a reason of the server")
    func weakWithoutReason() async throws {
        let script = try ScreenScript([.linkIsGood, .refusal(400, .authWeakPassword)])
        let model = try await script.openedReset()
        await model.submit()
        #expect(model.passwordProblem == "The password is too weak. Please choose a stronger one.")
    }

    @Test("Shows the server's message about the field at the field")
    func fieldViolation() async throws {
        let body = """
            {"error":{"code":"VALIDATION_FIELD_TOO_LONG","message":"x","details":{"validation_errors":[
            {"field":"new_password","code":"VALIDATION_FIELD_TOO_LONG","message":"This text is too long."}]}}}
            """
        let script = try ScreenScript([.linkIsGood, .response(status: 400, body: body)])
        let model = try await script.openedReset()
        await model.submit()
        #expect(model.passwordProblem == "This text is too long.")
    }

    @Test("Reports a link that expires meanwhile like one that was expired before")
    func linkDiedMeanwhile() async throws {
        let script = try ScreenScript([.linkIsGood, .refusal(400, .authResetTokenInvalid)])
        let model = try await script.openedReset()
        await model.submit()
        #expect(model.deadLink?.title == "Link Expired")
        #expect(model.deadLink?.primary == .requestNewLink)
        #expect(!model.isFormShown)
        #expect(model.makeForgotPasswordModel().email == "ana@example.com")
    }

    @Test(
        "Busy server, server error and lost connection offer a retry, which succeeds",
        arguments: [
            (ScriptedTransport.Step.unreachable, "Check your internet connection"),
            (.broken, "Something went wrong. Please try again."),
        ]
    )
    func transientFailure(step: ScriptedTransport.Step, text: String) async throws {
        let script = try ScreenScript([.linkIsGood, step, .accepted])
        let model = try await script.openedReset()
        await model.submit()
        #expect(
            model.state == .failed(ErrorPresentation(title: "Error", message: text, primary: .retry, secondary: .dismiss))
        )
        #expect(await model.perform(.retry) == nil)
        #expect(model.successText != nil)
    }

    @Test(
        "A limit and a busy server show the time of the next try",
        arguments: [
            (ScriptedTransport.Step.limited(retryAfter: 90), "Too many requests. Please try again in 2 minutes."),
            (.refusal(503, .serverServiceUnavailable, retryAfter: 90), "Something went wrong. Please try again."),
        ]
    )
    func wait(step: ScriptedTransport.Step, text: String) async throws {
        let script = try ScreenScript([.linkIsGood, step, .accepted])
        let model = try await script.openedReset()
        await model.submit()
        let action = ErrorPresentation.Action.retryAt(ScreenScript.start.addingTimeInterval(90))
        #expect(model.alert?.message == text)
        #expect(model.alert?.primary == action)
        await model.perform(action)
        #expect(model.alert?.primary == action)
        #expect(script.transport.sent.count == 2)
        script.clock.advance(by: .seconds(90))
        await model.perform(action)
        #expect(model.successText != nil)
    }

    @Test(
        "Passes actions that the model can't run to the app",
        arguments: [
            ErrorPresentation.Action.signIn, .contactSupport, .openSettings, .updateApp, .requestNewLink,
        ]
    )
    func actionsOfTheApp(action: ErrorPresentation.Action) async throws {
        let script = try ScreenScript([.linkIsGood])
        let model = try await script.openedReset(password: "")
        await model.submit()
        #expect(await model.perform(action) == action)
        #expect(model.state == .editing)
    }
}
