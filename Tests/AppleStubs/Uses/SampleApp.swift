import Foundation
import Network
import Security
import SwiftUI
import os

#if os(macOS)
    import AppKit
#elseif !os(watchOS)
    import BackgroundTasks
    import UIKit
#endif

@main
struct SampleApp: App {
    @Environment(\.scenePhase) private var phase
    @State private var model = SampleModel()
    #if os(iOS) || os(tvOS) || os(visionOS)
        @UIApplicationDelegateAdaptor private var delegate: SampleDelegate
    #endif

    var body: some Scene {
        WindowGroup {
            SampleScreen(model: model)
                .onOpenURL { url in Logger(subsystem: "sample", category: "links").info("Opened \(url.path, privacy: .private)") }
        }
        .onChange(of: phase) { _, new in
            if new == .background { model.password = "" }
        }
        #if os(macOS)
            Settings { Text("Settings") }
        #endif
    }
}

#if os(iOS) || os(tvOS) || os(visionOS)
    final class SampleDelegate: NSObject, UIApplicationDelegate {
        func application(
            _ application: UIApplication,
            didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
        ) -> Bool {
            _ = BGTaskScheduler.shared.register(forTaskWithIdentifier: "com.example.queue", using: nil) { task in
                task.setTaskCompleted(success: true)
            }
            let identifier = application.beginBackgroundTask(withName: "sample") {}
            application.endBackgroundTask(identifier)
            return true
        }
    }

    final class SampleSceneDelegate: UIResponder, UIWindowSceneDelegate {
        var window: UIWindow?

        func scene(_ scene: UIScene, willConnectTo session: UISceneSession, options connectionOptions: UIScene.ConnectionOptions)
        {
            guard let scene = scene as? UIWindowScene else { return }
            let window = UIWindow(windowScene: scene)
            window.rootViewController = UIHostingController(rootView: SampleScreen(model: SampleModel()))
            window.makeKeyAndVisible()
            self.window = window
        }

        func scene(_ scene: UIScene, openURLContexts contexts: Set<UIOpenURLContext>) {
            _ = contexts.first?.url
        }
    }
#endif

#if os(macOS)
    @MainActor
    func sampleWindow() -> NSWindow {
        NSWindow(contentViewController: NSHostingController(rootView: SampleScreen(model: SampleModel())))
    }
#endif

/// Waits until the network is available.
func sampleReachability() async {
    for await path in NWPathMonitor() where path.status == .satisfied { return }
}

func sampleKeychain() -> Data? {
    let query: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecReturnData: true]
    var item: CFTypeRef?
    guard SecItemCopyMatching(query as CFDictionary, &item) == errSecSuccess else { return nil }
    return item as? Data
}
