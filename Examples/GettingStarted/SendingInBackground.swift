#if os(iOS)
    import Foundation
    import Holdfast
    import OfflineQueue
    import SwiftUI
    import UIKit

    /// The queue of the app. It is opened once, also if the app and the background task need it at the same time.
    actor NotesQueue {
        static let shared = NotesQueue()
        private var opening: Task<OfflineQueue, any Error>?

        func open() async throws -> OfflineQueue {
            if let opening { return try await opening.value }
            let opening = Task<OfflineQueue, any Error> {
                let folder = URL.applicationSupportDirectory.appending(path: "queue")
                let api = APIClient(baseURL: URL(string: "https://notes.example.com")!)
                return try await OfflineQueue.open(folder, client: api)
            }
            self.opening = opening
            do {
                return try await opening.value
            } catch {
                // The queue can't be opened before the first unlock of the device. The next call tries again.
                self.opening = nil
                throw error
            }
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
                    if queue.hasRequestsToSend { try? OfflineQueue.scheduleBackgroundTask("com.example.notes.queue") }
                    queue.stop()
                    Task { await queue.resign() }
                }
        }
    }
// snippet end
#endif
