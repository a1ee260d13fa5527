import AccountContract
import AccountKit
import ErrorContract
import Foundation
import OfflineQueue
import OfflineQueueUI
import ResilientHTTP

/// Writes notes offline and sends them, without user input, against a server with notes.
@MainActor
struct OfflineWalkthrough {
    let app: App

    /// Runs the flow and prints the screen of pending changes after each step.
    /// - Throws: `Walkthrough.Unexpected` at the first step with an unexpected result; errors of the server.
    func run() async throws {
        let email = try EmailAddress("ben.\(UUID().uuidString.lowercased().prefix(8))@example.com")
        let password = try Password("a password \(UUID().uuidString)")
        _ = try await app.client.register(email: email, password: password, firstName: try FirstName("Ben"))
        let model = Notes.makePendingModel(app)
        let view = PendingRequestsView(model: model)

        app.network.isOnline = false
        for title in ["Milk", "Bread", "Salt"] {
            guard case .queued = try await Notes.write(title, app) else { throw unexpected("\(title) was sent offline") }
        }
        await model.load()
        view.draw()
        guard model.waiting.map(\.title) == ["Milk", "Bread", "Salt"], model.notices.map(\.kind) == [.offline],
            model.waiting.allSatisfy({ $0.state == .waitingForNetwork })
        else { throw unexpected("the screen does not list three notes that wait for the network") }

        await model.perform(.cancel, on: model.waiting[1].id)
        guard model.waiting.map(\.title) == ["Milk", "Salt"] else { throw unexpected("a note was not canceled") }

        app.network.isOnline = true
        await model.sendNow()
        let sending = Task { await app.queue.run() }
        defer { sending.cancel() }
        for _ in 0..<400 where app.queue.counts.pending > 0 { try await Task.sleep(for: .milliseconds(25)) }
        await model.load()
        view.draw()
        guard model.emptyText != nil, model.notices.isEmpty else { throw unexpected("the notes were not sent") }
        let titles = try await Notes.titles(app)
        guard titles == ["Milk", "Salt"] else { throw unexpected("the server has the notes \(titles)") }

        guard case .response = try await Notes.write("Tea", app) else { throw unexpected("a note was not sent at once") }
        await app.queue.resign()
        Terminal.say("All steps have the expected results.")
    }

    private func unexpected(_ description: String) -> Walkthrough.Unexpected { Walkthrough.Unexpected(description: description) }
}
