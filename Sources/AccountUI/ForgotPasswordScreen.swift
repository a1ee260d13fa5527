#if canImport(SwiftUI)
    public import AccountKit
    public import ErrorContract
    public import SwiftUI

    /// The screen on which a person asks for a reset link.
    public struct ForgotPasswordScreen: View {
        @Bindable private var model: ForgotPasswordModel
        private let perform: @MainActor (ErrorPresentation.Action) -> Void

        /// Creates the screen.
        /// - Parameters:
        ///   - model: What it shows. Keep it while the screen is away, so that the pause between two requests goes on.
        ///   - perform: Does what is the app's to do after an error: write to support, or check whether a request took effect.
        public init(
            model: ForgotPasswordModel,
            perform: @escaping @MainActor (ErrorPresentation.Action) -> Void = { _ in }
        ) {
            self.model = model
            self.perform = perform
        }

        /// The screen.
        public var body: some View {
            Form {
                Section {
                    EmailField(label: text(ContractText.emailLabel), text: $model.email)
                }
                Section {
                    ActionButton(title: text(ContractText.sendLink), isEnabled: model.isRequestEnabled) {
                        await model.request()
                    }
                    if model.state == .requesting { ProgressView() }
                    if let line = model.cooldownText { Text(line).foregroundStyle(.secondary) }
                }
                if case .requested(let message) = model.state {
                    Section { Text(message) }
                }
            }
            .reading(model.language)
            .navigationTitle(text(ContractText.forgotPassword))
            .task(id: model.isCoolingDown) { await model.runCountdown() }
            .errorAlert(model.alert, isPresented: $model.isAlertShown, in: model.language, catalogue: model.catalogue) {
                action in
                if let remaining = await model.perform(action) { perform(remaining) }
            }
        }

        private func text(_ text: LocalizedText) -> String { model.catalogue.text(text, in: model.language) }
    }
#endif
