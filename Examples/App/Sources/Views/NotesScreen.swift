#if canImport(SwiftUI)
    import Holdfast
    import SwiftUI

    /// The list of notes, with errors, retry and pull to refresh.
    struct NotesScreen: View {
        let model: NotesModel
        let show: @MainActor (AppModel.AccountScreen) -> Void
        let signOut: @MainActor () -> Void
        let perform: @MainActor (ErrorPresentation.Action) -> Void

        // snippet: screen-view
        var body: some View {
            List {
                ForEach(model.notes ?? []) { note in Text(note.title) }
                Section {
                    ForEach(AppModel.AccountScreen.allCases, id: \.self) { screen in
                        Button(screen.rawValue) { show(screen) }
                    }
                    Button("Sign Out", role: .destructive) { signOut() }
                }
            }
            .overlay {
                if model.notes == nil {
                    if model.isLoading {
                        ProgressView("Loading notes")
                    } else {
                        ContentUnavailableView {
                            Text("No notes")
                        } actions: {
                            Button("Try Again") { model.work.start { await model.load() } }
                        }
                    }
                }
            }
            .refreshable { await model.load() }
            .task { await model.load() }
            .navigationTitle("Notes")
            .screen(model, perform: perform)
        }
        // snippet end
    }
#endif
