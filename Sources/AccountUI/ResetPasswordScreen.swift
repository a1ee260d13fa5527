#if canImport(SwiftUI)
    public import AccountKit
    public import ErrorContract
    public import SwiftUI

    /// The screen behind a reset link.
    public struct ResetPasswordScreen: View {
        @Bindable private var model: ResetPasswordModel
        private let signIn: @MainActor () -> Void
        private let perform: @MainActor (ErrorPresentation.Action) -> Void

        /// Creates the screen.
        /// - Parameters:
        ///   - model: What it shows.
        ///   - signIn: Leads to the sign-in screen, with the model's `makeSignInModel()`: after a success, or when the user chooses
        ///     to sign in after a lost response.
        ///   - perform: Does what is the app's to do: request a new link (`makeForgotPasswordModel()`), leave the screen
        ///     (`dismiss`), write to support, check whether a request took effect.
        public init(
            model: ResetPasswordModel,
            signIn: @escaping @MainActor () -> Void,
            perform: @escaping @MainActor (ErrorPresentation.Action) -> Void
        ) {
            self.model = model
            self.signIn = signIn
            self.perform = perform
        }

        /// The screen.
        public var body: some View {
            Form {
                if let page = model.deadLink {
                    deadLink(page)
                } else if let message = model.successText {
                    Section {
                        Text(message)
                        Button(text(ContractText.signIn)) { signIn() }
                    }
                } else if model.isFormShown {
                    ResetPasswordFields(model: model)
                    Section {
                        ActionButton(title: text(ContractText.confirm), isEnabled: model.isSubmitEnabled) {
                            await model.submit()
                        }
                        Button(text(ContractText.cancel), role: .cancel) { perform(.dismiss) }
                        if model.state == .submitting { ProgressView() }
                    }
                } else if model.state == .unchecked {
                    ActionButton(title: text(ContractText.retry)) { await model.open() }
                } else {
                    ProgressView()
                }
            }
            .reading(model.language)
            .navigationTitle(text(ContractText.resetTitle))
            .task { await model.open() }
            .errorAlert(model.alert, isPresented: $model.isAlertShown, in: model.language, catalogue: model.catalogue) {
                action in
                await run(action)
            }
        }

        private func deadLink(_ page: ErrorPresentation) -> some View {
            Section {
                Text(page.title).font(.headline)
                Text(page.message)
                ActionButton(title: page.primaryLabel(in: model.language, catalogue: model.catalogue)) { await run(page.primary) }
                if let secondary = page.secondary, let label = page.secondaryLabel(in: model.language, catalogue: model.catalogue)
                {
                    ActionButton(title: label) { await run(secondary) }
                }
            }
        }

        private func run(_ action: ErrorPresentation.Action) async {
            guard let remaining = await model.perform(action) else { return }
            if remaining == .signIn { signIn() } else { perform(remaining) }
        }

        private func text(_ text: LocalizedText) -> String { model.catalogue.text(text, in: model.language) }
    }
#endif
