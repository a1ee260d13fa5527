import Foundation
import Holdfast
import Observation

/// The app without its views: decides which screen is shown.
///
/// SwiftUI, UIKit and the tests use the same model.
@Observable
@MainActor
final class AppModel {
    /// The screen at the root.
    enum Root {
        /// The app has not read the stored session yet.
        case launching
        case signIn(SignInModel)
        case notes(NotesModel)
    }

    /// The screen above the root.
    enum Sheet: Identifiable {
        case forgotPassword(ForgotPasswordModel)
        case resetPassword(ResetPasswordModel)
        /// Registration, a change of the account, or an emailed link.
        case form(FormModel)
        case devices(SessionsModel)
        case errorLab(ErrorLabModel)

        var id: ObjectIdentifier {
            switch self {
            case .forgotPassword(let model): ObjectIdentifier(model)
            case .resetPassword(let model): ObjectIdentifier(model)
            case .form(let model): ObjectIdentifier(model)
            case .devices(let model): ObjectIdentifier(model)
            case .errorLab(let model): ObjectIdentifier(model)
            }
        }
    }

    /// A screen on which the signed-in user changes the account.
    enum AccountScreen: String, CaseIterable {
        case changePassword = "Change Password"
        case changeEmail = "Change Email"
        case devices = "Devices"
        case deleteAccount = "Delete Account"
    }

    private(set) var root = Root.launching
    /// The screen above the root. The user may leave a finished form with its button, or close the sheet.
    var sheet: Sheet? {
        didSet {
            guard sheet?.id != oldValue?.id else { return }
            sheetCount += 1
            if case .form(let model) = oldValue { follow(model) }
        }
    }
    /// The number of the sheet; `nil` if there is none. A sheet that was closed has another number when it is opened again, although its
    /// model, such as the one for a forgotten password, can be the same.
    var sheetNumber: Int? { sheet == nil ? nil : sheetCount }
    let language: Language
    /// The actions that belong to no screen, such as the sign-out. The root view runs them.
    let work = ScreenWork()
    /// The number of changes of ``sheet``.
    private var sheetCount = 0
    private let services: AppServices
    /// Stays while its screen is not shown, so that the cooldown between two requests continues.
    private let forgotPassword: ForgotPasswordModel
    private let router: LinkRouter<AccountLink>

    init(services: AppServices, language: Language) {
        self.services = services
        self.language = language
        forgotPassword = ForgotPasswordModel(client: services.accounts, language: language)
        let reader = LinkReader<AccountLink>(
            hosts: [Configuration.linkHost, services.api.baseURL.host ?? ""],
            scheme: Configuration.scheme,
            accountLink: { $0 }
        )
        router = LinkRouter(reader, isSignedIn: false)
    }

    /// Shows the notes if a session is stored, else the sign-in. If the store can't be read now, the user is still signed in. The list then
    /// shows the error, and can be loaded again.
    func launch() async {
        guard case .launching = root else { return }
        let isSignedOut: Bool
        do { isSignedOut = try await services.accounts.session.credentials == nil } catch { isSignedOut = false }
        if isSignedOut { showSignIn() } else { showNotes() }
    }

    /// Continues after the sign-in. Call it when the state of the sign-in model changes.
    func signInChanged() {
        if case .signIn(let model) = root, case .signedIn = model.state { showNotes() }
    }

    /// Opens a link: a universal link, or one with the app's scheme.
    func open(_ url: URL) {
        do throws(LinkRefusal) {
            guard case .follow(let link) = try router.open(url) else { return }
            sheet = screen(for: link.purpose, link)
        } catch {
            // An account link that can't be read opens the screen for invalid links. Other links do not belong to the app.
            switch error {
            case .resetLink: sheet = screen(for: .resetPassword, nil)
            case .accountLink(let purpose, _): sheet = screen(for: purpose, nil)
            default: break
            }
        }
    }

    // snippet: account-links
    /// Returns the screen that an emailed link opens. Without a link, it informs the user that the link is invalid.
    private func screen(for purpose: AccountLink.Purpose, _ link: AccountLink?) -> Sheet {
        let client = services.accounts
        return switch purpose {
        case .resetPassword:
            .resetPassword(
                ResetPasswordModel(
                    link: link.map { ResetLink(token: $0.token, email: $0.email) },
                    client: client,
                    language: language
                )
            )
        case .verifyEmail: .form(VerifyEmailModel(link: link, client: client, language: language))
        case .activate: .form(ActivateModel(link: link, client: client, language: language))
        case .confirmEmail, .undoEmail: .form(ConfirmEmailModel(link: link, client: client, language: language))
        case .keepAccount: .form(KeepAccountModel(link: link, client: client, language: language))
        }
    }
    // snippet end

    func showRegistration() { sheet = .form(RegisterModel(client: services.accounts, language: language)) }

    // snippet: account-screens
    /// Opens a screen on which the signed-in user changes the account.
    func show(_ screen: AccountScreen) {
        let client = services.accounts
        sheet =
            switch screen {
            case .changePassword: .form(ChangePasswordModel(client: client, language: language))
            case .changeEmail: .form(ChangeEmailModel(client: client, language: language))
            case .devices: .devices(SessionsModel(client: client, language: language))
            case .deleteAccount: .form(DeleteAccountModel(client: client, language: language))
            }
    }
    // snippet end

    func showForgotPassword() {
        if case .signIn(let model) = root, forgotPassword.email.isEmpty { forgotPassword.email = model.email }
        sheet = .forgotPassword(forgotPassword)
    }

    /// Opens the sign-in after a reset. The server has ended every session of the account.
    func signIn(after reset: ResetPasswordModel) async {
        _ = try? await services.accounts.session.setCredentials(nil)
        sheet = nil
        root = .signIn(reset.makeSignInModel())
    }

    /// Signs out. The session ends on this device even if the server can't be reached.
    func signOut() async {
        try? await services.accounts.signOut()
        sheet = nil
        showSignIn()
    }

    /// Performs an action of an alert that the screen's model leaves to the app.
    func perform(_ action: ErrorPresentation.Action) {
        switch action {
        case .signIn: work.start { await self.endSession() }
        case .requestNewLink:
            switch sheet {
            case .resetPassword(let model): sheet = .forgotPassword(model.makeForgotPasswordModel())
            case .form(let model): requestNewLink(after: model)
            default: showForgotPassword()
            }
        case .dismiss: leave()
        // An app of yours opens a mail composer, the settings, and the App Store.
        case .contactSupport, .openSettings, .updateApp: break
        case .retry, .retryAt, .checkAgain, .fixFields: break
        }
    }

    // snippet: account-ends
    /// Leaves the screen that the user has finished.
    private func leave() {
        let finished = sheet
        sheet = nil
        guard case .form(let model as RegisterModel) = finished, case .checkEmail = model.result else { return }
        sheet = model.makeCheckEmailModel().map { .form($0) }
    }

    /// Shows the root that follows from the result of a form, after the form has disappeared.
    private func follow(_ model: FormModel) {
        switch model {
        case let model as RegisterModel: if case .signedIn = model.result { showNotes() }
        case let model as ActivateModel: if model.user != nil { showNotes() }
        case let model as DeleteAccountModel: if case .succeeded = model.state { showSignIn() }
        default: break
        }
    }

    /// Opens the screen on which the user requests another link.
    private func requestNewLink(after model: FormModel) {
        switch model {
        case let model as VerifyEmailModel: sheet = model.makeCheckEmailModel().map { .form($0) }
        case is ActivateModel: showRegistration()
        default: sheet = .forgotPassword(model.makeForgotPasswordModel())
        }
    }
    // snippet end

    #if DEBUG
        func showErrorLab() {
            sheet = .errorLab(
                ErrorLabModel(baseURL: services.api.baseURL, transport: services.transport, language: language)
            )
        }
    #endif

    /// Leaves a session that the server has ended.
    private func endSession() async {
        _ = try? await services.accounts.session.setCredentials(nil)
        sheet = nil
        showSignIn()
    }

    private func showSignIn() { root = .signIn(SignInModel(client: services.accounts, language: language)) }

    private func showNotes() { root = .notes(NotesModel(api: services.api, language: language)) }
}
