import AccountKit
import ErrorContract
import HoldfastTesting
import Testing

@MainActor
@Suite("Focus and Return on the screens")
struct ScreenFocusTests {
    @Test(
        "An error on the sign-in screen moves the focus to the faulty field",
        arguments: [
            ("", "secret", AccountField.email), ("", "", .email), ("ana@example.com", "", .password), ("ana@", "secret", .email),
            ("ana@example.com", "wrong", .password), ("ana@example.com", String(repeating: "a", count: 5_000), .password),
        ]
    )
    func signIn(email: String, password: String, field: AccountField) async throws {
        let model = try ScreenScript([.refusal(401, .authInvalidCredentials), .refusal(401, .authInvalidCredentials)])
            .signIn(email: email, password: password)
        #expect(model.focusRequest == nil)
        await model.submit()
        #expect(model.alert != nil && model.focusRequest?.field == field)
        let request = model.focusRequest
        model.dismissAlert()
        await model.submit()
        #expect(model.focusRequest != request, "the same field again is another request")
    }

    @Test("An error without a field leaves the focus unchanged")
    func otherErrors() async throws {
        let signIn = try ScreenScript([.broken]).signIn()
        await signIn.submit()
        #expect(signIn.alert != nil && signIn.focusRequest == nil)
        let forgot = try ScreenScript([.limited(retryAfter: 60)]).forgot()
        await forgot.request()
        #expect(forgot.alert != nil && forgot.focusRequest == nil)
    }

    @Test("An error on the forgot-password screen moves the focus to the address", arguments: ["", "ana@"])
    func forgotPassword(email: String) async throws {
        let model = try ScreenScript().forgot(email: email)
        await model.request()
        #expect(model.focusRequest?.field == .email)
        let refused = try ScreenScript([.refusal(400, .validationInvalidEmail)]).forgot()
        await refused.request()
        #expect(refused.focusRequest?.field == .email)
    }

    @Test(
        "An error on the reset screen moves the focus to the faulty field",
        arguments: [
            ("", "", AccountField.password), ("second password", "", .confirmation), ("", "second password", .password),
            ("short", "other", .password), ("second password", "second passwort", .confirmation),
            ("password1", "password1", .password),
        ]
    )
    func reset(password: String, confirmation: String, field: AccountField) async throws {
        let script = try ScreenScript([.linkIsGood, .refusal(400, .authWeakPassword)])
        let model = try await script.openedReset(password: password, confirmation: confirmation)
        await model.submit()
        #expect(model.focusRequest?.field == field)
    }

    @Test("Return moves to the next field and submits after the last one")
    func returnKey() async throws {
        let script = try ScreenScript([.session])
        let signIn = script.signIn()
        signIn.returnPressed(in: .email)
        #expect(signIn.focusRequest?.field == .password && !signIn.work.isBusy)
        signIn.returnPressed(in: .password)
        await signIn.work.run()
        #expect(!signIn.isSubmitEnabled && script.transport.sent.count == 1)

        let forgot = try ScreenScript([.accepted]).forgot()
        forgot.returnPressed(in: .email)
        await forgot.work.run()
        #expect(forgot.isCoolingDown)

        let reset = try await ScreenScript([.linkIsGood, .accepted]).openedReset()
        reset.returnPressed(in: .password)
        #expect(reset.focusRequest?.field == .confirmation && !reset.work.isBusy)
        reset.returnPressed(in: .confirmation)
        await reset.work.run()
        #expect(reset.successText != nil)
    }

    @Test("Return during the cooldown sends nothing")
    func returnDuringCooldown() async throws {
        let script = try ScreenScript([.accepted])
        let model = script.forgot()
        await model.request()
        model.returnPressed(in: .email)
        await model.work.run()
        #expect(script.transport.sent.count == 1)
        #expect(model.alert?.message == "Please wait 60 seconds before requesting again")
    }

    @Test("The button's title shows the countdown")
    func countdown() async throws {
        let script = try ScreenScript([.accepted], isHeld: true)
        let model = script.forgot(.spanish)
        #expect(model.requestTitle == "Enviar enlace")
        async let request: Void = model.request()
        await script.clock.waitForSleepers()
        #expect(model.requestTitle == "Enviando el enlace…")
        script.clock.advance(by: .seconds(1))
        await request
        #expect(model.requestTitle == "Espera 60 segundos antes de reintentar" && !model.isRequestEnabled)
        async let countdown: Void = model.runCountdown()
        await script.clock.waitForSleepers()
        script.clock.advance(by: .seconds(59))
        await script.clock.waitForSleepers()
        #expect(model.requestTitle == "Espera 1 segundo antes de reintentar")
        script.clock.advance(by: .seconds(1))
        await countdown
        #expect(model.requestTitle == "Enviar enlace" && model.isRequestEnabled)
    }

    @Test("Password managers find the account of a reset link")
    func username() async throws {
        let model = try ScreenScript([.linkIsGood]).reset()
        #expect(model.username == nil)
        await model.open()
        #expect(model.username == "ana@example.com")
    }
}
