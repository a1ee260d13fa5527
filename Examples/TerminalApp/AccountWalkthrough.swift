import AccountContract
import AccountKit
import ErrorContract
import Foundation

/// Runs the life of an account without user input: registration, verification, changes, deletion, and the links that undo them.
@MainActor
struct AccountWalkthrough {
    let walkthrough: Walkthrough

    private var app: App { walkthrough.app }

    /// Runs the flow and prints each step.
    /// - Throws: `Walkthrough.Unexpected` at the first step with an unexpected result; errors of the server.
    func run() async throws {
        let id = UUID().uuidString.lowercased().prefix(8)
        let (first, second) = (try EmailAddress("eva.\(id)@example.com"), try EmailAddress("eva.new.\(id)@example.com"))
        let (oldPassword, password) = ("first password \(id)", "Second password \(id)")
        try await register(first, oldPassword)
        try await follow(.verifyEmail, mailedTo: first, showing: ContractText.emailVerified)
        try await changePassword(oldPassword, to: password)
        try await endOtherSessions(first, password)
        try await changeEmail(to: second, password)
        try await follow(.confirmEmail, mailedTo: second, showing: ContractText.emailChanged)
        try await export(password)
        try await delete(second, password)
        try await follow(.keepAccount, mailedTo: second, showing: ContractText.accountRestored)
        try await signIn(second, password)
        try await follow(.undoEmail, mailedTo: first, showing: ContractText.emailRestored)
    }

    private func register(_ email: EmailAddress, _ password: String) async throws {
        let model = RegisterModel(client: app.client, language: app.language)
        await model.submit()
        try walkthrough.expect(model.alert?.message, ContractText.fieldsEmpty, "An empty registration")
        (model[.firstName], model[.email], model[.password]) = ("Eva", email.text, password)
        await model.submit()
        try walkthrough.expect(model.page?.message, ContractText.accountCreated, "A registration")
    }

    private func changePassword(_ old: String, to new: String) async throws {
        let model = ChangePasswordModel(client: app.client, language: app.language)
        (model[.currentPassword], model[.password], model[.confirmation]) = ("not the password", new, new)
        await model.submit()
        try walkthrough.expect(model.problem(at: .currentPassword), ContractText.currentPasswordWrong, "A wrong password")
        model[.currentPassword] = old
        await model.submit()
        try walkthrough.expect(model.page?.message, ContractText.passwordChanged, "A changed password")
    }

    private func endOtherSessions(_ email: EmailAddress, _ password: String) async throws {
        let other = AccountClient(api: app.client.api, deviceName: "Walkthrough")
        _ = try await other.signIn(email: email, password: try Password(password))
        let model = SessionsModel(client: app.client, language: app.language)
        await model.load()
        guard let sessions = model.sessions, sessions.count == 2, sessions.contains(where: { $0.deviceName == "Walkthrough" })
        else { throw Walkthrough.Unexpected(description: "the sessions are \(model.sessions ?? [])") }
        for session in sessions { walkthrough.step(model.name(of: session), model.detail(of: session)) }
        await model.endOthers()
        guard model.sessions?.count == 1, !model.hasOthers else {
            throw Walkthrough.Unexpected(description: "the other session continues")
        }
    }

    private func changeEmail(to email: EmailAddress, _ password: String) async throws {
        let model = ChangeEmailModel(client: app.client, language: app.language)
        (model[.email], model[.currentPassword]) = (email.text, password)
        await model.submit()
        try walkthrough.expect(model.page?.message, ContractText.checkEmail(email.text), "A new address")
    }

    private func export(_ password: String) async throws {
        let data = try await app.client.exportData(password: try Password(password))
        walkthrough.step("An export", "\(data.count) bytes")
    }

    private func delete(_ email: EmailAddress, _ password: String) async throws {
        let model = DeleteAccountModel(client: app.client, language: app.language)
        model[.currentPassword] = password
        await model.submit()
        guard let page = model.page else { throw Walkthrough.Unexpected(description: "not deleted: \(model.state)") }
        walkthrough.step("A deletion", page.message)
        let signIn = SignInModel(client: app.client, language: app.language, email: email.text)
        signIn.password = password
        await signIn.submit()
        let expected = ErrorCatalogue.standard[.authAccountDeleted]?.message
        try walkthrough.expect(signIn.alert?.message, expected, "A deleted account")
    }

    private func signIn(_ email: EmailAddress, _ password: String) async throws {
        let user = try await app.client.signIn(email: email, password: try Password(password))
        walkthrough.step("A restored account", user.firstName)
    }

    /// Opens the newest link of a purpose in an email, and uses it.
    private func follow(_ purpose: AccountLink.Purpose, mailedTo email: EmailAddress, showing text: LocalizedText) async throws {
        let url = try await walkthrough.mailedLink(to: email, purpose)
        guard case .follow(.account(let link)) = try app.router.open(url), link.purpose == purpose else {
            throw Walkthrough.Unexpected(description: "the link in the email is not one of \(purpose.page)")
        }
        let model: FormModel =
            switch purpose {
            case .resetPassword, .verifyEmail: VerifyEmailModel(link: link, client: app.client, language: app.language)
            case .activate: ActivateModel(link: link, client: app.client, language: app.language)
            case .confirmEmail, .undoEmail: ConfirmEmailModel(link: link, client: app.client, language: app.language)
            case .keepAccount: KeepAccountModel(link: link, client: app.client, language: app.language)
            }
        await model.open()
        await model.submit()
        try walkthrough.expect(model.page?.message, text, model.title)
    }
}
