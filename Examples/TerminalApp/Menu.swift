import AccountContract
import AccountKit
import ErrorContract
import Foundation
import OfflineQueue
import OfflineQueueUI

/// The interactive menu of the app.
@MainActor
struct Menu {
    let app: App

    private static let openLink = LocalizedText(
        en: "Open a link",
        es: "Abrir un enlace",
        he: "פתיחת קישור",
        pt: "Abrir um link",
        fr: "Ouvrir un lien",
        de: "Link öffnen"
    )
    private static let writeNote = LocalizedText(
        en: "Write a note",
        es: "Escribir una nota",
        he: "כתיבת פתק",
        pt: "Escrever uma nota",
        fr: "Écrire une note",
        de: "Notiz schreiben"
    )
    private static let airplaneMode = LocalizedText(
        en: "Airplane mode on or off",
        es: "Activar o desactivar el modo avión",
        he: "הפעלה או כיבוי של מצב טיסה",
        pt: "Ativar ou desativar o modo avião",
        fr: "Activer ou désactiver le mode avion",
        de: "Flugmodus ein- oder ausschalten"
    )
    private static let quit = LocalizedText(
        en: "Quit",
        es: "Salir",
        he: "יציאה",
        pt: "Sair",
        fr: "Quitter",
        de: "Beenden"
    )
    private static let choose = LocalizedText(
        en: "Choose",
        es: "Elige",
        he: "נא לבחור",
        pt: "Escolha",
        fr: "Choisissez",
        de: "Wähle"
    )
    private static let paste = LocalizedText(
        en: "Paste the link",
        es: "Pega el enlace",
        he: "נא להדביק את הקישור",
        pt: "Cole o link",
        fr: "Collez le lien",
        de: "Füge den Link ein"
    )
    private static let unknownLink = LocalizedText(
        en: "This link leads nowhere.",
        es: "Este enlace no lleva a ningún lugar.",
        he: "הקישור הזה לא מוביל לשום מקום.",
        pt: "Este link não leva a lugar nenhum.",
        fr: "Ce lien ne mène nulle part.",
        de: "Dieser Link führt nirgendwohin."
    )
    private static let foreignLink = LocalizedText(
        en: "This link can't be followed.",
        es: "No se puede seguir este enlace.",
        he: "לא ניתן לפתוח את הקישור הזה.",
        pt: "Não é possível seguir este link.",
        fr: "Ce lien ne peut pas être suivi.",
        de: "Dieser Link lässt sich nicht öffnen."
    )
    private static let held = LocalizedText(
        en: "The link will be opened once you have signed in.",
        es: "El enlace se abrirá cuando inicies sesión.",
        he: "הקישור ייפתח אחרי ההתחברות.",
        pt: "O link será aberto quando você entrar.",
        fr: "Le lien s’ouvrira après votre connexion.",
        de: "Der Link wird geöffnet, sobald du angemeldet bist."
    )

    /// Shows the menu until the user quits or the input ends.
    func run() async {
        // Stays while its screen is not shown, so that the cooldown between two requests continues.
        let forgot = ForgotPasswordModel(client: app.client, language: app.language)
        let pending = Notes.makePendingModel(app)
        while true {
            Terminal.title("Holdfast · \(app.server.absoluteString)")
            for (key, text) in [
                ("1", ContractText.signIn), ("2", ContractText.forgotPassword), ("3", Self.openLink),
                ("4", Self.writeNote), ("5", Self.airplaneMode), ("7", ContractText.createAccount), ("8", AccountMenu.title),
            ] {
                Terminal.say("  \(key)  \(text.text(in: app.language))")
            }
            Terminal.say("  6  \(pending.screenTitle) (\(app.queue.counts.pending + app.queue.counts.deadLetters))")
            Terminal.say("  q  \(Self.quit.text(in: app.language))")
            switch Terminal.ask(Self.choose.text(in: app.language)) {
            case "1": await signIn(SignInModel(client: app.client, language: app.language))
            case "2": await ForgotPasswordView(model: forgot).show()
            case "3": await openLink()
            case "4": await writeNote()
            case "5": app.network.isOnline.toggle()
            case "6":
                if await PendingRequestsView(model: pending).show() {
                    await signIn(SignInModel(client: app.client, language: app.language))
                }
            case "7": await register()
            case "8": await AccountMenu(app: app, signIn: { await signIn($0) }).show()
            case "q", nil: return
            default: continue
            }
        }
    }

    private func register() async {
        let model = RegisterModel(client: app.client, language: app.language)
        _ = await FormView(model: model).show()
        switch model.result {
        case .signedIn: signedIn()
        case .checkEmail:
            if let next = model.makeCheckEmailModel() { _ = await FormView(model: next).show() }
        case nil: break
        }
    }

    /// Shows the screen that an emailed link opens, and the one that follows.
    private func follow(_ purpose: AccountLink.Purpose, _ link: AccountLink?) async {
        let model: FormModel
        switch purpose {
        case .resetPassword, .verifyEmail: model = VerifyEmailModel(link: link, client: app.client, language: app.language)
        case .activate: model = ActivateModel(link: link, client: app.client, language: app.language)
        case .confirmEmail, .undoEmail: model = ConfirmEmailModel(link: link, client: app.client, language: app.language)
        case .keepAccount: model = KeepAccountModel(link: link, client: app.client, language: app.language)
        }
        let action = await FormView(model: model).show()
        if let model = model as? ActivateModel, model.user != nil { signedIn() }
        switch (action, model) {
        case (.signIn, _): await signIn(model.makeSignInModel())
        case (.requestNewLink, let model as VerifyEmailModel):
            if let next = model.makeCheckEmailModel() { _ = await FormView(model: next).show() }
        case (.requestNewLink, is ActivateModel): await register()
        case (.requestNewLink, _): await ForgotPasswordView(model: model.makeForgotPasswordModel()).show()
        default: break
        }
    }

    private func signedIn() {
        if let link = app.router.signedIn() { Terminal.say("→ \(link)") }
    }

    private func signIn(_ model: SignInModel) async {
        guard await SignInView(model: model).show() else { return }
        signedIn()
    }

    private func writeNote() async {
        guard let title = Terminal.ask(Self.writeNote.text(in: app.language)), !title.isEmpty else { return }
        do throws(APIError) {
            switch try await Notes.write(title, app) {
            case .response: Terminal.say("✓ \(title)")
            case .queued: Terminal.say("… \(title)")
            }
        } catch {
            _ = Alert(presentation: error.presentation(in: app.language, now: Date()), language: app.language).choose()
        }
    }

    private func openLink() async {
        guard let text = Terminal.ask(Self.paste.text(in: app.language)) else { return }
        guard let url = URL(string: text.trimmingCharacters(in: .whitespaces)) else {
            app.say(Self.foreignLink)
            return
        }
        do throws(LinkRefusal) {
            switch try app.router.open(url) {
            case .follow(.resetPassword(let link)):
                await reset(ResetPasswordModel(link: link, client: app.client, language: app.language))
            case .follow(.account(let link)): await follow(link.purpose, link)
            case .follow(let link): Terminal.say("→ \(link)")
            case .held:
                app.say(Self.held)
                await signIn(SignInModel(client: app.client, language: app.language))
            case nil: app.say(Self.unknownLink)
            }
        } catch {
            switch error {
            case .resetLink: await reset(ResetPasswordModel(link: nil, client: app.client, language: app.language))
            case .accountLink(let purpose, _): await follow(purpose, nil)
            default: app.say(Self.foreignLink)
            }
        }
    }

    private func reset(_ model: ResetPasswordModel) async {
        switch await ResetPasswordView(model: model).show() {
        case .signIn: await signIn(model.makeSignInModel())
        case .requestNewLink: await ForgotPasswordView(model: model.makeForgotPasswordModel()).show()
        case .leave: break
        }
    }
}
