#if canImport(SwiftUI)
    import Holdfast
    import SwiftUI

    /// The screens of the app: the one at the root, and the one above it.
    struct RootView: View {
        @Bindable private var app: AppModel

        init(app: AppModel) { self.app = app }

        var body: some View {
            NavigationStack {
                switch app.root {
                case .launching: ProgressView("Starting")
                case .signIn(let model):
                    SignInScreen(
                        model: model,
                        forgotPassword: { app.showForgotPassword() },
                        register: { app.showRegistration() },
                        perform: { app.perform($0) }
                    )
                    .onChange(of: model.state) { app.signInChanged() }
                    #if DEBUG
                        .toolbar { Button("Error Lab") { app.showErrorLab() } }
                    #endif
                case .notes(let model):
                    NotesScreen(
                        model: model,
                        show: { app.show($0) },
                        signOut: { app.work.start { await app.signOut() } },
                        perform: { app.perform($0) }
                    )
                }
            }
            .sheet(item: $app.sheet) { sheet in
                NavigationStack {
                    content(of: sheet)
                        .toolbar { ToolbarItem(placement: .cancellationAction) { Button("Close") { app.sheet = nil } } }
                }
            }
            .task { await app.launch() }
            .task(id: app.work.request) { await app.work.run() }
            .onOpenURL { app.open($0) }
        }

        @ViewBuilder private func content(of sheet: AppModel.Sheet) -> some View {
            switch sheet {
            case .forgotPassword(let model): ForgotPasswordScreen(model: model, perform: { app.perform($0) })
            case .resetPassword(let model):
                ResetPasswordScreen(
                    model: model,
                    signIn: { app.work.start { await app.signIn(after: model) } },
                    perform: { app.perform($0) }
                )
            case .form(let model):
                AccountFormScreen(
                    model: model,
                    forgotPassword: { app.sheet = .forgotPassword(model.makeForgotPasswordModel()) },
                    perform: { app.perform($0) }
                )
            case .devices(let model): SessionsScreen(model: model, perform: { app.perform($0) })
            case .errorLab(let model): ErrorLabView(model: model, perform: { app.perform($0) })
            }
        }
    }
#endif
