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
        case errorLab(ErrorLabModel)

        var id: ObjectIdentifier {
            switch self {
            case .forgotPassword(let model): ObjectIdentifier(model)
            case .resetPassword(let model): ObjectIdentifier(model)
            case .errorLab(let model): ObjectIdentifier(model)
            }
        }
    }

    private(set) var root = Root.launching
    var sheet: Sheet?
    let language: Language
    /// The actions that belong to no screen, such as the sign-out. The root view runs them.
    let work = ScreenWork()
    private let services: AppServices
    /// Stays while its screen is not shown, so that the cooldown between two requests continues.
    private let forgotPassword: ForgotPasswordModel
    private let router: LinkRouter<ResetLink>

    init(services: AppServices, language: Language) {
        self.services = services
        self.language = language
        forgotPassword = ForgotPasswordModel(client: services.accounts, language: language)
        let reader = LinkReader<ResetLink>(
            hosts: [Configuration.linkHost, services.api.baseURL.host ?? ""],
            scheme: Configuration.scheme,
            resetLink: { $0 }
        )
        router = LinkRouter(reader, isSignedIn: false)
    }

    /// Shows the notes if a session is stored, else the sign-in.
    func launch() async {
        guard case .launching = root else { return }
        let isSignedIn = (try? await services.accounts.session.credentials) != nil
        if isSignedIn { showNotes() } else { showSignIn() }
    }

    /// Continues after the sign-in. Call it when the state of the sign-in model changes.
    func signInChanged() {
        if case .signIn(let model) = root, case .signedIn = model.state { showNotes() }
    }

    /// Opens a link: a universal link, or one with the app's scheme.
    func open(_ url: URL) {
        var link: ResetLink?
        do throws(LinkRefusal) {
            guard case .follow(let found) = try router.open(url) else { return }
            link = found
        } catch {
            // A reset link that can't be read opens the screen for invalid links. Other links do not belong to the app.
            guard case .resetLink = error else { return }
        }
        sheet = .resetPassword(ResetPasswordModel(link: link, client: services.accounts, language: language))
    }

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
            if case .resetPassword(let model) = sheet {
                sheet = .forgotPassword(model.makeForgotPasswordModel())
            } else {
                showForgotPassword()
            }
        case .dismiss: sheet = nil
        // An app of yours opens a mail composer, the settings, and the App Store.
        case .contactSupport, .openSettings, .updateApp: break
        case .retry, .retryAt, .checkAgain, .fixFields: break
        }
    }

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
        showSignIn()
    }

    private func showSignIn() { root = .signIn(SignInModel(client: services.accounts, language: language)) }

    private func showNotes() { root = .notes(NotesModel(api: services.api, language: language)) }
}
