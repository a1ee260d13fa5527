#if canImport(UIKit) && !os(watchOS)
    import Holdfast
    import Foundation
    import Observation
    import SwiftUI
    import UIKit

    /// The app with UIKit's life cycle.
    #if UIKIT_LIFECYCLE
        @main
    #endif
    final class AppDelegate: UIResponder, UIApplicationDelegate {
        func application(
            _ application: UIApplication,
            didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
        ) -> Bool { true }
    }

    /// The window of the app. Links arrive here: universal links and those with the app's scheme, also at a cold start.
    final class SceneDelegate: UIResponder, UIWindowSceneDelegate {
        var window: UIWindow?
        private let app = AppModel.example
        private lazy var coordinator = Coordinator(app: app)

        func scene(
            _ scene: UIScene,
            willConnectTo session: UISceneSession,
            options connectionOptions: UIScene.ConnectionOptions
        ) {
            guard let scene = scene as? UIWindowScene else { return }
            let window = UIWindow(windowScene: scene)
            window.rootViewController = coordinator.navigation
            window.makeKeyAndVisible()
            self.window = window
            coordinator.start()
            connectionOptions.urlContexts.forEach { app.open($0.url) }
            connectionOptions.userActivities.compactMap(\.webpageURL).forEach { app.open($0) }
        }

        func scene(_ scene: UIScene, openURLContexts contexts: Set<UIOpenURLContext>) {
            contexts.forEach { app.open($0.url) }
        }

        func scene(_ scene: UIScene, continue userActivity: NSUserActivity) {
            if let url = userActivity.webpageURL { app.open(url) }
        }
    }
#endif
