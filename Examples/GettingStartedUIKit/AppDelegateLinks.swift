#if canImport(UIKit) && !os(watchOS)
    import Foundation
    import Holdfast
    import UIKit

    // snippet: uikit-app-delegate
    final class AppDelegateWithoutScenes: UIResponder, UIApplicationDelegate {
        var openLink: @MainActor (URL) -> Void = { _ in }

        // A universal link, also one that starts the app.
        func application(
            _ application: UIApplication,
            continue userActivity: NSUserActivity,
            restorationHandler: @escaping ([any UIUserActivityRestoring]?) -> Void
        ) -> Bool {
            guard userActivity.activityType == NSUserActivityTypeBrowsingWeb, let url = userActivity.webpageURL else {
                return false
            }
            openLink(url)
            return true
        }

        // A link of the app's URL scheme.
        func application(_ application: UIApplication, open url: URL, options: [UIApplication.OpenURLOptionsKey: Any]) -> Bool {
            openLink(url)
            return true
        }
    }
// snippet end
#endif
