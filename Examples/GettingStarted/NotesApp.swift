#if canImport(SwiftUI)
    // snippet: app
    import Foundation
    import Holdfast
    import SwiftUI

    @main
    struct NotesApp: App {
        @State private var app = AppModel(url: URL(string: "https://notes.example.com")!)

        var body: some Scene {
            WindowGroup {
                NavigationStack { screen }.task { try? await app.start() }.onOpenURL { app.open($0) }
            }
        }

        @ViewBuilder private var screen: some View {
            switch app.screen {
            case .notes:
                NotesScreen(model: app.notes) { app.signIn() }
                    .toolbar { Button("Sign out") { Task { await app.signOut() } } }
            case .signIn(let model):
                SignInScreen(model: model) { app.requestLink() }
                    .onChange(of: model.state) { if case .signedIn = model.state { app.screen = .notes } }
            case .forgotPassword(let model):
                ForgotPasswordScreen(model: model).toolbar { Button("Back") { app.signIn() } }
            case .resetPassword(let model):
                ResetPasswordScreen(model: model) {
                    app.screen = .signIn(model.makeSignInModel())
                } perform: { action in
                    app.screen = action == .requestNewLink ? .forgotPassword(model.makeForgotPasswordModel()) : .notes
                }
            }
        }
    }

    struct NotesScreen: View {
        @Bindable var model: NotesModel
        let signIn: @MainActor () -> Void

        var body: some View {
            List(model.notes) { Text($0.title) }
                .navigationTitle("Notes")
                .task { await model.load() }
                .refreshable { await model.load() }
                .errorAlert(model.failure, isPresented: $model.isFailureShown, in: model.api.language) { action in
                    switch action {
                    case .retry, .retryAt: await model.load()
                    case .signIn: signIn()
                    default: break
                    }
                }
        }
    }
// snippet end
#endif
