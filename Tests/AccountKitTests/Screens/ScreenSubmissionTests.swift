import AccountContract
import AccountKit
import ErrorContract
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Testing

@MainActor
@Suite("Submissions of the screens")
struct ScreenSubmissionTests {
    private func keys(_ script: ScreenScript, _ path: String) -> [String] {
        script.transport.sent.filter { $0.request.path?.contains(path) == true }
            .map { $0.request.headerFields[.idempotencyKey] ?? "none" }
    }

    @Test("A repeated confirm sends the same key, another password another key")
    func reset() async throws {
        let script = try ScreenScript([.linkIsGood, .lost, .broken, .refusal(400, .authWeakPassword), .accepted])
        let model = try await script.openedReset()
        await model.submit()
        await model.perform(.retry)
        model.dismissAlert()
        await model.submit()
        (model.password, model.confirmation) = ("third password", "third password")
        await model.submit()
        #expect(model.successText != nil)
        let keys = keys(script, "confirm")
        #expect(keys.count == 4 && Set(keys[..<3]).count == 1 && keys[3] != keys[0] && !keys.contains("none"))
    }

    @Test("A reset request repeats its key until it succeeds or the address changes")
    func forgot() async throws {
        let script = try ScreenScript([.lost, .accepted, .lost, .accepted])
        let model = script.forgot()
        await model.request()
        await model.perform(.retry)
        script.clock.advance(by: ForgotPasswordModel.cooldown)
        await model.request()
        model.dismissAlert()
        model.email = "eva@example.com"
        await model.request()
        let keys = keys(script, "request")
        #expect(keys.count == 4 && keys[0] == keys[1] && Set(keys).count == 3 && !keys.contains("none"))
    }

    @Test("An address whose letters have another case is sent with another key")
    func letterCase() async throws {
        let script = try ScreenScript([.lost, .accepted, .lost, .refusal(403, .authEmailNotVerified), .lost, .accepted])
        let forgot = script.forgot()
        await forgot.request()
        forgot.dismissAlert()
        forgot.email = "Ana@example.com"
        await forgot.request()
        let signIn = script.signIn()
        await signIn.submit()
        signIn.dismissAlert()
        signIn.email = "Ana@example.com"
        await signIn.submit()
        await signIn.perform(.requestNewLink)
        signIn.email = "ana@example.com"
        await signIn.perform(.retry)
        for path in ["request-password-reset", "login", "verif"] {
            let keys = keys(script, path)
            #expect(keys.count == 2 && Set(keys).count == 2 && !keys.contains("none"), "\(path)")
        }
    }

    @Test("A repeated sign-in sends the same key, another password another key")
    func signIn() async throws {
        let script = try ScreenScript([.lost, .refusal(401, .authInvalidCredentials), .session])
        let model = script.signIn()
        await model.submit()
        await model.perform(.retry)
        model.dismissAlert()
        model.password = "second password"
        await model.submit()
        #expect(model.alert == nil)
        let keys = keys(script, "login")
        #expect(keys.count == 3 && keys[0] == keys[1] && keys[2] != keys[0] && !keys.contains("none"))
    }
}

@MainActor
@Suite("Reset screen: a lost response")
struct LostConfirmationTests {
    private static let uncoded = ScriptedTransport.Step.response(
        status: 400,
        body: #"{"success":false,"error":"Token inválido o expirado"}"#
    )

    @Test("A lost response to a successful confirm is a success, not “link expired”")
    func success() async throws {
        let script = try ScreenScript([.linkIsGood, .lost, .accepted])
        let model = try await script.openedReset()
        await model.submit()
        #expect(model.alert?.primary == .retry)
        await model.perform(.retry)
        #expect(model.state == .succeeded(email: try EmailAddress("ana@example.com")))
    }

    @Test(
        "A confirm refused after a lost response suggests the new password for sign-in",
        arguments: [
            (Language.english, "Reset Password", "Try signing in with your new password", "Sign In", "Request New"),
            (
                .spanish, "Restablecer Contraseña", "Intenta iniciar sesión con tu nueva contraseña", "Iniciar sesión",
                "Solicitar Nuevo"
            ),
            (.hebrew, "איפוס סיסמה", "נא לנסות להתחבר עם הסיסמה החדשה", nil, nil),
            (.portuguese, nil, "Tente entrar com sua nova senha", nil, nil),
            (.french, nil, "Essayez de vous connecter avec votre nouveau mot de passe", nil, nil),
            (.german, nil, "Versuche, dich mit deinem neuen Passwort anzumelden", nil, nil),
        ] as [(Language, String?, String, String?, String?)]
    )
    func refused(language: Language, title: String?, text: String, signIn: String?, request: String?) async throws {
        let script = try ScreenScript([.linkIsGood, .lost, .refusal(400, .authResetTokenInvalid)])
        let model = try await script.openedReset(language)
        await model.submit()
        await model.perform(.retry)
        guard case .passwordProbablyChanged(let page) = model.state else {
            Issue.record("\(model.state)")
            return
        }
        #expect(model.deadLink == page && page.message == text)
        #expect(page.primary == .signIn && page.secondary == .requestNewLink)
        if let title { #expect(page.title == title) }
        if let signIn { #expect(page.primaryLabel(in: language) == signIn) }
        if let request { #expect(page.secondaryLabel(in: language) == request) }
        #expect(!model.isFormShown && !model.isSubmitEnabled && model.alert == nil && model.successText == nil)
        #expect(model.password.isEmpty && model.confirmation.isEmpty)
        #expect(await model.perform(.signIn) == .signIn)
        #expect(await model.perform(.requestNewLink) == .requestNewLink)
        #expect(model.makeSignInModel().email == "ana@example.com")
        let sent = script.transport.sent.count
        await model.submit()
        await model.open()
        #expect(script.transport.sent.count == sent)
    }

    @Test("Checks a refusal without a code with the server before reporting a used link")
    func withoutCode() async throws {
        let used = try ScreenScript([.linkIsGood, .lost, Self.uncoded, Self.uncoded])
        let model = try await used.openedReset()
        await model.submit()
        await model.perform(.retry)
        #expect(model.deadLink?.message == "Try signing in with your new password")

        let weak = ScriptedTransport.Step.response(status: 400, body: #"{"success":false,"error":"Too weak"}"#)
        for check in [ScriptedTransport.Step.linkIsGood, .unreachable] {
            let live = try ScreenScript([.linkIsGood, .lost, weak, check])
            let other = try await live.openedReset()
            await other.submit()
            await other.perform(.retry)
            #expect(other.alert != nil && other.deadLink == nil && other.isFormShown)
        }
    }

    @Test("A lost response counts for the link, also if another password is entered later")
    func otherPassword() async throws {
        let script = try ScreenScript([.linkIsGood, .lost, .refusal(400, .authResetTokenInvalid)])
        let model = try await script.openedReset()
        await model.submit()
        model.dismissAlert()
        (model.password, model.confirmation) = ("third password", "third password")
        await model.submit()
        #expect(model.deadLink?.primary == .signIn)
    }

    @Test("Without a lost response, a refused link is an expired link", arguments: [nil, 503])
    func nothingLost(status: Int?) async throws {
        let first = status.map { [ScriptedTransport.Step.response(status: $0)] } ?? []
        let script = try ScreenScript([.linkIsGood] + first + [.refusal(400, .authResetTokenInvalid)])
        let model = try await script.openedReset()
        await model.submit()
        if status != nil { await model.perform(.retry) }
        #expect(model.deadLink?.title == "Link Expired" && model.deadLink?.primary == .requestNewLink)
    }
}
