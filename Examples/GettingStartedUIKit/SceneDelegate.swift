#if canImport(UIKit) && !os(watchOS)
    // snippet: uikit-app
    import Foundation
    import Holdfast
    import UIKit

    @main
    final class AppDelegate: UIResponder, UIApplicationDelegate {}

    final class SceneDelegate: UIResponder, UIWindowSceneDelegate {
        var window: UIWindow?
        private let accounts = AccountClient(
            api: APIClient(baseURL: URL(string: "https://notes.example.com")!, language: .preferred()),
            store: KeychainCredentialStore(service: "com.example.notes")
        )

        func scene(_ scene: UIScene, willConnectTo session: UISceneSession, options: UIScene.ConnectionOptions) {
            guard let scene = scene as? UIWindowScene else { return }
            let window = UIWindow(windowScene: scene)
            self.window = window
            showSignIn(SignInModel(client: accounts, language: .preferred()))
            window.makeKeyAndVisible()
            // The app was not running when the user opened the link.
            options.userActivities.compactMap(\.webpageURL).forEach(open)
            options.urlContexts.map(\.url).forEach(open)
        }

        // A universal link, while the app is running.
        func scene(_ scene: UIScene, continue userActivity: NSUserActivity) {
            if let url = userActivity.webpageURL { open(url) }
        }

        // A link of the app's URL scheme, while the app is running.
        func scene(_ scene: UIScene, openURLContexts contexts: Set<UIOpenURLContext>) {
            contexts.map(\.url).forEach(open)
        }

        private func open(_ url: URL) {
            let link = try? ResetLink(url, hosts: ["notes.example.com"], scheme: "com.example.notes")
            let model = ResetPasswordModel(link: link, client: accounts, language: .preferred())
            let screen = ResetPasswordViewController(model: model) { [weak self] in
                self?.showSignIn(model.makeSignInModel())
            } perform: { [weak self] action in
                switch action {
                case .requestNewLink: self?.showForgotPassword(model.makeForgotPasswordModel())
                case .dismiss: self?.showSignIn(model.makeSignInModel())
                default: break
                }
            }
            window?.rootViewController = UINavigationController(rootViewController: screen)
        }

        private func showSignIn(_ model: SignInModel) {
            let screen = SignInViewController(model: model) { [weak self, accounts] in
                self?.showForgotPassword(ForgotPasswordModel(client: accounts, language: model.language))
            }
            window?.rootViewController = UINavigationController(rootViewController: screen)
        }

        private func showForgotPassword(_ model: ForgotPasswordModel) {
            let navigation = window?.rootViewController as? UINavigationController
            navigation?.pushViewController(ForgotPasswordViewController(model: model), animated: true)
        }
    }
// snippet end
#endif
