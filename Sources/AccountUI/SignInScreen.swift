#if canImport(SwiftUI)
    public import AccountKit
    public import ErrorContract
    public import SwiftUI

    /// The screen on which a person signs in. The app leads on when the model's state is `signedIn`.
    public struct SignInScreen: View {
        @Bindable private var model: SignInModel
        private let forgotPassword: @MainActor () -> Void
        private let perform: @MainActor (ErrorPresentation.Action) -> Void

        /// Creates the screen.
        /// - Parameters:
        ///   - model: What it shows.
        ///   - forgotPassword: Leads to the request for a reset link.
        ///   - perform: Does what is the app's to do after an error: write to support, or check whether a request took effect.
        public init(
            model: SignInModel,
            forgotPassword: @escaping @MainActor () -> Void,
            perform: @escaping @MainActor (ErrorPresentation.Action) -> Void = { _ in }
        ) {
            self.model = model
            self.forgotPassword = forgotPassword
            self.perform = perform
        }

        /// The screen.
        public var body: some View {
            Form {
                Section {
                    EmailField(label: text(ContractText.emailLabel), text: $model.email)
                    PasswordField(
                        label: text(ContractText.passwordLabel),
                        text: $model.password,
                        isShown: model.isPasswordShown,
                        isNew: false
                    )
                    Toggle(text(ContractText.showPassword), isOn: $model.isPasswordShown)
                }
                Section {
                    ActionButton(title: text(ContractText.signIn), isEnabled: model.isSubmitEnabled) {
                        await model.submit()
                    }
                    Button(text(ContractText.forgotPassword)) { forgotPassword() }
                    if model.state == .signingIn { ProgressView() }
                }
            }
            .reading(model.language)
            .navigationTitle(text(ContractText.signIn))
            .errorAlert(model.alert, isPresented: $model.isAlertShown, in: model.language, catalogue: model.catalogue) {
                action in
                if let remaining = await model.perform(action) { perform(remaining) }
            }
        }

        private func text(_ text: LocalizedText) -> String { model.catalogue.text(text, in: model.language) }
    }
#endif
