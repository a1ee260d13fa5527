#if canImport(SwiftUI)
    import Holdfast
    import Foundation
    import SwiftUI

    /// The app with SwiftUI's life cycle. The target with the condition `UIKIT_LIFECYCLE` starts with `AppDelegate` instead.
    #if !UIKIT_LIFECYCLE
        @main
    #endif
    struct ExampleApp: App {
        @State private var app = AppModel.example

        var body: some Scene {
            WindowGroup { RootView(app: app) }
        }
    }

    extension AppModel {
        /// The app for the configured server, with the session in the keychain.
        static var example: AppModel {
            let language = Language.preferred()
            guard let server = Configuration.server else { preconditionFailure("Configuration.server is not an address") }
            let store = KeychainCredentialStore(service: "com.example.holdfast")
            return AppModel(services: AppServices(baseURL: server, language: language, store: store), language: language)
        }
    }
#endif
