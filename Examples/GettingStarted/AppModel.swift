#if canImport(SwiftUI)
    // snippet: app-model
    import Foundation
    import Holdfast
    import Observation

    @Observable @MainActor
    final class AppModel {
        enum Screen { case notes, signIn(SignInModel), forgotPassword(ForgotPasswordModel), resetPassword(ResetPasswordModel) }

        var screen = Screen.notes
        let notes: NotesModel
        private let accounts: AccountClient

        init(url: URL, language: Language = .preferred()) {
            let store = KeychainCredentialStore(service: "com.example.notes")
            accounts = AccountClient(api: APIClient(baseURL: url, language: language), store: store)
            notes = NotesModel(api: APIClient(baseURL: url, language: language, session: accounts.session))
        }

        func start() async throws {
            if try await accounts.session.credentials == nil, case .notes = screen { signIn() }
        }

        func signIn() { screen = .signIn(SignInModel(client: accounts, language: notes.api.language)) }

        func signOut() async {
            try? await accounts.signOut()
            signIn()
        }

        func requestLink() { screen = .forgotPassword(ForgotPasswordModel(client: accounts, language: notes.api.language)) }

        func open(_ url: URL) {
            let link = try? ResetLink(url, hosts: ["notes.example.com"], scheme: "com.example.notes")
            screen = .resetPassword(ResetPasswordModel(link: link, client: accounts, language: notes.api.language))
        }
    }
// snippet end
#endif
