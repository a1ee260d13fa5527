#if os(iOS)
    import Foundation
    import Holdfast
    import OfflineQueue
    import SwiftUI
    import UIKit

    /// The queue of the app, which is opened once.
    actor NotesQueue {
        static let shared = NotesQueue()
        private var queue: OfflineQueue?

        func open() async throws -> OfflineQueue {
            if let queue { return queue }
            let folder = URL.applicationSupportDirectory.appending(path: "queue")
            let api = APIClient(baseURL: URL(string: "https://notes.example.com")!)
            let opened = try await OfflineQueue.open(folder, client: api)
            queue = opened
            return opened
        }
    }

    // snippet: offline-background-register
    final class SendingDelegate: NSObject, UIApplicationDelegate {
        func application(
            _ application: UIApplication,
            didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
        ) -> Bool {
            OfflineQueue.registerBackgroundTask("com.example.notes.queue") { try? await NotesQueue.shared.open() }
        }
    }
    // snippet end

    // snippet: offline-background-phase
    struct SendsQueue: ViewModifier {
        @Environment(\.scenePhase) private var phase
        let queue: OfflineQueue

        func body(content: Content) -> some View {
            content
                .task(id: phase) {
                    guard phase == .active else { return }
                    queue.wake()
                    await queue.run()
                }
                .onChange(of: phase) { _, new in
                    guard new == .background else { return }
                    if queue.counts.pending > 0 { try? OfflineQueue.scheduleBackgroundTask("com.example.notes.queue") }
                    queue.stop()
                    Task { await queue.resign() }
                }
        }
    }
// snippet end
#endif
