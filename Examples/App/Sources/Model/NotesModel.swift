import Foundation
import Holdfast
import Observation

/// A note of the app's API.
struct Note: Codable, Hashable, Sendable, Identifiable {
    let id: Int
    let title: String
}

/// The list of notes: a screen of the app, with errors and retry.
@Observable
@MainActor
final class NotesModel: ScreenModel {
    /// The notes, `nil` before the first response.
    private(set) var notes: [Note]?
    private(set) var currentAlert: ScreenAlert? {
        didSet { if currentAlert != nil { alertCount += 1 } }
    }
    private(set) var announcement: ScreenAnnouncement?
    private(set) var isLoading = false
    let work = ScreenWork()
    let language: Language
    private let api: APIClient
    @ObservationIgnored private var alertCount = 0

    init(api: APIClient, language: Language) {
        self.api = api
        self.language = language
    }

    var catalogue: ErrorCatalogue { api.catalogue }

    /// Loads the list. The notes stay while they are loaded again, and if that fails.
    func load() async {
        guard !isLoading else { return }
        isLoading = true
        announcement = ScreenAnnouncement(id: (announcement?.id ?? 0) + 1, text: "Loading notes")
        defer { isLoading = false }
        do {
            let loaded: [Note] = try await api.get("/notes", context: "notes_list")
            notes = loaded
            currentAlert = nil
        } catch {
            // The screen has disappeared: there is no view for an alert.
            guard error.kind != .cancelled else { return }
            let presentation = error.presentation(in: language, now: Date(), catalogue: catalogue)
            currentAlert = ScreenAlert(id: alertCount + 1, presentation: presentation)
        }
    }

    // snippet: screen-model
    func dismissAlert(_ id: ScreenAlert.ID) {
        if currentAlert?.id == id { currentAlert = nil }
    }

    @discardableResult
    func perform(_ action: ErrorPresentation.Action) async -> ErrorPresentation.Action? {
        currentAlert = nil
        switch action {
        // A call that comes too early is refused by the client itself, with the time that is left.
        case .retry, .retryAt, .checkAgain: await load()
        case .dismiss, .fixFields: break
        case .signIn, .requestNewLink, .contactSupport, .openSettings, .updateApp: return action
        }
        return nil
    }
    // snippet end
}
