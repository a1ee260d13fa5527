import AccountContract
import AccountKit
import ErrorContract
import Foundation
import HoldfastTesting
import Testing

@MainActor
@Suite("Reset screen: opening a link", .timeLimit(.minutes(10)))
struct ResetPasswordOpeningTests {
    private static let expired = ErrorPresentation(
        title: "Link Expired",
        message: "This reset link has expired. Please request a new one.",
        primary: .requestNewLink,
        secondary: .dismiss
    )
    private static let invalid = ErrorPresentation(
        title: "Invalid Link",
        message: "The password reset link is not valid.",
        primary: .dismiss
    )

    @Test("Reports a link that is not a reset link at once, without a request")
    func badLink() async throws {
        let script = try ScreenScript()
        let model = ResetPasswordModel(link: nil, client: script.client, language: .english)
        #expect(model.state == .linkInvalid(Self.invalid))
        #expect(model.deadLink == Self.invalid)
        await model.open()
        await model.submit()
        #expect(model.state == .linkInvalid(Self.invalid))
        #expect(await model.perform(.dismiss) == .dismiss)
        #expect(await model.perform(.retry) == nil)
        #expect(script.transport.sent.isEmpty)
    }

    @Test(
        "Opens the form after the validation and greets the user by name",
        arguments: [
            (Language.english, "Ana", "Hello Ana, enter your new password"),
            (.spanish, " Ana ", "Hola Ana, ingresa tu nueva contraseña"),
            (.english, "", "Enter your new password"),
            (.spanish, "  ", "Ingresa tu nueva contraseña"),
        ]
    )
    func goodLink(language: Language, name: String, greeting: String) async throws {
        let script = try ScreenScript([.good(firstName: name)])
        let model = try script.reset(language)
        #expect(model.state == .unchecked)
        #expect(!model.isFormShown)
        await model.open()
        #expect(model.state == .editing)
        #expect(model.isFormShown)
        #expect(model.greeting == greeting)
    }

    @Test("Shows progress during the validation, and validates once")
    func checking() async throws {
        let script = try ScreenScript([.linkIsGood], isHeld: true)
        let model = try script.reset()
        let opening = Task { await model.open() }
        await script.clock.waitForSleepers()
        #expect(model.state == .checking)
        #expect(model.openTitle == "Checking the link…" && !model.isOpenEnabled)
        await model.open()
        await model.submit()
        #expect(model.state == .checking)
        script.clock.advance(by: .seconds(1))
        await opening.value
        #expect(model.state == .editing)
        await model.open()
        #expect(script.transport.sent.count == 1)
    }

    @Test(
        "An expired or used link offers a new one, and nothing else works",
        arguments: [
            ScriptedTransport.Step.refusal(400, .authResetTokenInvalid, message: "Invalid or expired token"),
            .refusal(401, .authTokenInvalid),
            .response(status: 400, body: #"{"valid":false,"error":"Token inválido o expirado"}"#),
            .response(status: 200, body: #"{"valid":false,"error":"Token inválido o expirado"}"#),
            .response(status: 404),
        ]
    )
    func deadLink(step: ScriptedTransport.Step) async throws {
        let script = try ScreenScript([step])
        let model = try script.reset()
        await model.open()
        #expect(model.state == .linkExpired(Self.expired))
        #expect(model.alert == nil)
        await model.open()
        await model.submit()
        #expect(script.transport.sent.count == 1)
        #expect(await model.perform(.dismiss) == .dismiss)
        #expect(await model.perform(.requestNewLink) == .requestNewLink)
        #expect(model.state == .linkExpired(Self.expired))
    }

    @Test("Requests a new link for the address in the old one", arguments: ["", "ana@example.com"])
    func newLink(email: String) async throws {
        let script = try ScreenScript()
        let link = ResetLink(token: try ResetToken("a-token"), email: try? EmailAddress(email))
        let model = ResetPasswordModel(link: link, client: script.client, language: .spanish)
        let forgot = model.makeForgotPasswordModel(clock: script.clock)
        #expect(forgot.email == email)
        #expect(forgot.language == .spanish)
    }

    @Test("A token that the server can't parse is an invalid link")
    func unreadableToken() async throws {
        let script = try ScreenScript([.refusal(400, .validationFieldTooLong)])
        let model = try script.reset()
        await model.open()
        #expect(model.state == .linkInvalid(Self.invalid))
    }

    @Test(
        "Reports a validation that fails for another reason, and can repeat it",
        arguments: [
            (ScriptedTransport.Step.unreachable, "Check your internet connection"),
            (.broken, "Something went wrong. Please try again."),
        ]
    )
    func failedCheck(step: ScriptedTransport.Step, text: String) async throws {
        let script = try ScreenScript([step, step, .linkIsGood])
        let model = try script.reset()
        await model.open()
        let expected = ErrorPresentation(title: "Error", message: text, primary: .retry, secondary: .dismiss)
        #expect(model.state == .checkFailed(expected))
        #expect(model.alert == expected)
        #expect(model.openTitle == "Try Again" && model.isOpenEnabled, "the button that stands behind the alert")
        await model.open()
        #expect(model.state == .checkFailed(expected))
        model.isAlertShown = false
        #expect(model.state == .unchecked)
        #expect(await model.perform(.retry) == nil)
        #expect(model.state == .editing)
    }

    @Test("A limited validation waits for the server's delay")
    func limitedCheck() async throws {
        let script = try ScreenScript([.limited(retryAfter: 30), .linkIsGood])
        let model = try script.reset()
        await model.open()
        let action = try #require(model.alert?.primary)
        #expect(action == .retryAt(ScreenScript.start.addingTimeInterval(30)))
        script.clock.advance(by: .seconds(29))
        await model.perform(action)
        #expect(model.alert?.message == "Too many requests. Please try again in 1 second.")
        script.clock.advance(by: .seconds(1))
        await model.perform(action)
        #expect(model.state == .editing)
    }
}
