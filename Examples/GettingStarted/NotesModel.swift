// snippet: app-notes-model
import Foundation
import Holdfast
import Observation

nonisolated struct Note: Codable, Hashable, Identifiable, Sendable {
    var id: Int
    var title: String
}

@Observable @MainActor
final class NotesModel {
    private(set) var notes: [Note] = []
    private(set) var failure: ErrorPresentation?
    var isFailureShown = false
    let api: APIClient

    init(api: APIClient) { self.api = api }

    func load() async {
        do {
            notes = try await api.get("/api/notes")
        } catch {
            guard error.kind != .cancelled else { return }
            failure = error.presentation(in: api.language, now: Date())
            isFailureShown = true
        }
    }
}
// snippet end
