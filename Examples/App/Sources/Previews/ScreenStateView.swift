#if DEBUG && canImport(SwiftUI)
    import Holdfast
    import SwiftUI

    /// A state of a screen, by its name: the content of the previews.
    struct ScreenStateView: View {
        private let state: ScreenState?
        @State private var screen: ShownScreen?

        init(_ name: String) {
            state = ScreenState.all.first { $0.name == name }
        }

        var body: some View {
            NavigationStack {
                switch screen {
                case .signIn(let model): SignInScreen(model: model, forgotPassword: {})
                case .forgotPassword(let model): ForgotPasswordScreen(model: model)
                case .resetPassword(let model): ResetPasswordScreen(model: model, signIn: {}, perform: { _ in })
                case .form(let model): AccountFormScreen(model: model, perform: { _ in })
                case .devices(let model): SessionsScreen(model: model)
                case .errorLab(let model): ErrorLabView(model: model)
                case .notes(let model): NotesScreen(model: model, show: { _ in }, signOut: {}, perform: { _ in })
                case nil: Text(state?.name ?? "No such state")
                }
            }
            .task { screen = await state?.show() }
        }
    }
#endif
