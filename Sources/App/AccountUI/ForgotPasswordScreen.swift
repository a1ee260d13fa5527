#if canImport(SwiftUI)
    public import AccountKit
    public import ErrorContract
    public import SwiftUI

    /// The screen on which a user requests a reset link by email.
    ///
    /// ```swift
    /// NavigationStack { ForgotPasswordScreen(model: forgotPasswordModel) }
    /// ```
    ///
    /// After a request, the button is disabled for a cooldown and shows the remaining seconds. The message is the same whether or not there
    /// is an account with the address. Use ``ForgotPasswordViewController`` in a UIKit app.
    ///
    /// If the screen disappears while a request runs, the request is canceled. The server may have received the request already, so the
    /// user may still get an email.
    public struct ForgotPasswordScreen: View {
        @Bindable private var model: ForgotPasswordModel
        @FocusState private var focus: FocusedField?
        private let perform: @MainActor (ErrorPresentation.Action) -> Void

        /// Creates the screen.
        /// - Parameters:
        ///   - model: The model of the screen. Retain it while the screen is not shown, so that the cooldown between two
        ///     requests continues.
        ///   - perform: Performs an action of an alert if the model leaves the action to the app, such as contacting support, or checking
        ///     whether a request took effect.
        public init(
            model: ForgotPasswordModel,
            perform: @escaping @MainActor (ErrorPresentation.Action) -> Void = { _ in }
        ) {
            self.model = model
            self.perform = perform
        }

        /// The form with the address and the button.
        public var body: some View {
            Form {
                Section {
                    LineField(
                        label: model.text(ContractText.emailLabel),
                        text: $model.email,
                        field: .email,
                        problem: model.problem(at: .email),
                        focus: $focus,
                        submitLabel: .send,
                        submit: { model.returnPressed(in: .email) }
                    )
                }
                .disabled(model.state == .requesting)
                Section {
                    PrimaryButton(
                        title: model.requestTitle,
                        isEnabled: model.isRequestEnabled,
                        isBusy: model.state == .requesting
                    ) {
                        model.work.start { await model.request() }
                    }
                } footer: {
                    if let message = model.requestedMessage { Text(message) }
                }
            }
            .navigationTitle(model.text(ContractText.forgotPassword))
            .task(id: model.isCoolingDown) { await model.runCountdown() }
            .screen(model, focus: { focus = FocusedField(field: $0) }, perform: perform)
        }
    }
#endif
