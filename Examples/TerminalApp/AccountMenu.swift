import AccountContract
import AccountKit
import ErrorContract
import Foundation

/// The menu of the signed-in user's account.
@MainActor
struct AccountMenu {
    let app: App
    /// Shows the sign-in screen.
    let signIn: @MainActor (SignInModel) async -> Void

    static let title = LocalizedText(
        en: "Account",
        es: "Cuenta",
        he: "חשבון",
        pt: "Conta",
        fr: "Compte",
        de: "Konto"
    )
    private static let changeName = LocalizedText(
        en: "Change the first name",
        es: "Cambiar el nombre",
        he: "שינוי השם הפרטי",
        pt: "Alterar o nome",
        fr: "Modifier le prénom",
        de: "Vornamen ändern"
    )
    private static let export = LocalizedText(
        en: "Export the data",
        es: "Exportar los datos",
        he: "ייצוא הנתונים",
        pt: "Exportar os dados",
        fr: "Exporter les données",
        de: "Daten exportieren"
    )
    private static let choose = LocalizedText(
        en: "Choose, or press Return to leave",
        es: "Elige, o pulsa Intro para salir",
        he: "נא לבחור, או Enter ליציאה",
        pt: "Escolha, ou pressione Enter para sair",
        fr: "Choisissez, ou appuyez sur Entrée pour quitter",
        de: "Wähle, oder drücke die Eingabetaste zum Verlassen"
    )

    /// Shows the menu once, and the chosen screen.
    func show() async {
        app.say(Self.title)
        let items = [
            ContractText.changePassword, ContractText.changeEmail, ContractText.verifyEmail, ContractText.devices,
            Self.changeName, Self.export, ContractText.signOutDevice, ContractText.deleteAccount,
        ]
        for (index, text) in items.enumerated() { Terminal.say("  \(index + 1)  \(text.text(in: app.language))") }
        do throws(APIError) {
            switch Terminal.ask(Self.choose.text(in: app.language)) {
            case "1": await form(ChangePasswordModel(client: app.client, language: app.language))
            case "2": await form(ChangeEmailModel(client: app.client, language: app.language))
            case "3": Terminal.say("✓ \(try await app.client.requestVerification())")
            case "4": await DevicesView(model: SessionsModel(client: app.client, language: app.language)).show()
            case "5": try await changeFirstName()
            case "6": try await exportData()
            case "7":
                try await app.client.signOut()
                app.router.signedOut()
            case "8": await form(DeleteAccountModel(client: app.client, language: app.language))
            default: return
            }
        } catch {
            let shown = error.presentation(in: app.language, now: Date())
            let action = Alert(presentation: shown, language: app.language).choose()
            if action == .signIn { await signIn(SignInModel(client: app.client, language: app.language)) }
        }
    }

    private func form(_ model: FormModel) async {
        let action = await FormView(model: model).show()
        if model is DeleteAccountModel, model.page != nil { app.router.signedOut() }
        if action == .signIn { await signIn(model.makeSignInModel()) }
    }

    private func changeFirstName() async throws(APIError) {
        guard let text = Terminal.ask(ContractText.firstNameLabel.text(in: app.language)) else { return }
        guard let name = try? FirstName(text) else {
            app.say(ContractText.firstNameInvalid)
            return
        }
        Terminal.say("✓ \(try await app.client.updateUser(firstName: name).firstName)")
    }

    private func exportData() async throws(APIError) {
        let label = ContractText.currentPassword.text(in: app.language)
        guard let password = Terminal.askSecret(label).flatMap({ try? Password($0) }) else { return }
        Terminal.say(String(decoding: try await app.client.exportData(password: password), as: UTF8.self))
    }
}

/// A form of the account: its fields one after the other.
@MainActor
struct FormView {
    let model: FormModel

    /// Shows the form until it ends or the user leaves.
    /// - Returns: The action that follows.
    func show() async -> ErrorPresentation.Action {
        Terminal.title(model.title)
        await model.open()
        while true {
            if let page = model.page {
                let chosen = choose(page)
                return await model.perform(chosen) ?? .dismiss
            }
            if let alert = model.alert {
                let chosen = Alert(presentation: alert, language: model.language).choose()
                if let remaining = await model.perform(chosen) { return remaining }
                if chosen == .dismiss { return .dismiss }
                continue
            }
            guard fill() else { return .dismiss }
            await model.submit()
        }
    }

    /// Lets the user choose a button of the page after the end.
    private func choose(_ page: ErrorPresentation) -> ErrorPresentation.Action {
        for text in [model.heading, page.message].compactMap(\.self) { Terminal.say("  \(text)") }
        guard let secondary = page.secondary, let label = model.secondPageTitle else {
            _ = Terminal.ask("    [\(model.pageTitle ?? "")]")
            return page.primary
        }
        return Terminal.ask("    1 \(model.pageTitle ?? "") · 2 \(label)") == "1" ? page.primary : secondary
    }

    /// Asks for the fields.
    /// - Returns: Whether the form is submitted.
    private func fill() -> Bool {
        for text in [model.introduction, model.notice, model.cooldownText].compactMap(\.self) { Terminal.say("  \(text)") }
        guard !model.isCoolingDown else { return false }
        for problem in model.fields.compactMap(model.problem(at:)) { Terminal.say("  ⚠ \(problem)") }
        for field in model.fields {
            let label = model.label(of: field)
            guard let text = field.isPassword ? Terminal.askSecret(label) : Terminal.ask(label, default: model[field]) else {
                return false
            }
            model[field] = text
            if field == .password, let strength = model.strengthText { Terminal.say("  \(strength)") }
        }
        guard model.fields.isEmpty else { return true }
        let cancel = ContractText.cancel.text(in: model.language)
        return Terminal.ask("    1 \(model.submitTitle) · 2 \(cancel)") == "1"
    }
}

/// The list of sessions.
@MainActor
struct DevicesView {
    let model: SessionsModel

    /// Shows the list until the user leaves it.
    func show() async {
        await model.load()
        while true {
            if let alert = model.alert {
                let chosen = Alert(presentation: alert, language: model.language).choose()
                guard await model.perform(chosen) == nil, chosen != .dismiss else { return }
                continue
            }
            let sessions = model.sessions ?? []
            Terminal.title(model.title)
            for (index, session) in sessions.enumerated() {
                Terminal.say("  \(index + 1)  \(model.name(of: session)) · \(model.detail(of: session))")
            }
            if model.hasOthers { Terminal.say("  a  \(model.endOthersTitle)") }
            switch Terminal.ask(model.endTitle) {
            case "", nil: return
            case "a": await model.endOthers()
            case let choice?:
                guard let number = Int(choice), sessions.indices.contains(number - 1) else { continue }
                await model.end(sessions[number - 1])
            }
        }
    }
}
