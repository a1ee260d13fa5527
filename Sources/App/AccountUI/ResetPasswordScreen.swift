#if canImport(SwiftUI)
    public import AccountKit
    public import ErrorContract
    public import SwiftUI

    /// The screen that a reset link opens: it validates the link and sets a new password.
    ///
    /// ```swift
    /// ResetPasswordScreen(model: model, signIn: { path = [.signIn] }) { action in
    ///     if action == .dismiss { path = [] }
    /// }
    /// ```
    ///
    /// When the screen appears, it validates the link. Depending on the result, it shows the form, a page about an invalid link, or a
    /// button to try again. After the server has set the password, the screen shows a button for the sign-in. Use
    /// ``ResetPasswordViewController`` in a UIKit app.
    public struct ResetPasswordScreen: View {
        @Bindable private var model: ResetPasswordModel
        @FocusState private var focus: FocusedField?
        private let signIn: @MainActor () -> Void
        private let perform: @MainActor (ErrorPresentation.Action) -> Void

        /// Creates the screen.
        /// - Parameters:
        ///   - model: The model of the screen.
        ///   - signIn: Opens the sign-in screen with the model's `makeSignInModel()`. The screen calls the closure after a
        ///     success. It also calls the closure if a response was lost and the user chooses to sign in with the new password.
        ///   - perform: Performs an action that the model leaves to the app, such as requesting a new link (`makeForgotPasswordModel()`),
        ///     leaving the screen (`dismiss`), contacting support, or checking whether a request took effect.
        public init(
            model: ResetPasswordModel,
            signIn: @escaping @MainActor () -> Void,
            perform: @escaping @MainActor (ErrorPresentation.Action) -> Void
        ) {
            self.model = model
            self.signIn = signIn
            self.perform = perform
        }

        /// The form, the page about an invalid link, or the message about the success.
        public var body: some View {
            Form {
                if let page = model.deadLink {
                    deadLink(page)
                } else if let message = model.successText {
                    Section {
                        Text(message)
                        PrimaryButton(title: model.text(ContractText.signIn)) { signIn() }
                    }
                } else if model.isFormShown {
                    ResetPasswordFields(model: model, focus: $focus)
                    Section {
                        PrimaryButton(
                            title: model.submitTitle,
                            isEnabled: model.isSubmitEnabled,
                            isBusy: model.state == .submitting
                        ) {
                            model.work.start { await model.submit() }
                        }
                        Button(model.text(ContractText.cancel), role: .cancel) { perform(.dismiss) }
                            .disabled(model.state == .submitting)
                    }
                } else {
                    // One row serves for both the progress of the validation and the button "Try Again". If the button had its own row,
                    // pressing it would remove this row.
                    PrimaryButton(
                        title: model.openTitle,
                        isEnabled: model.isOpenEnabled,
                        isBusy: model.state == .checking
                    ) {
                        model.work.start { await model.open() }
                    }
                }
            }
            .navigationTitle(model.text(ContractText.resetTitle))
            .task { await model.open() }
            .screen(
                model,
                focus: { focus = FocusedField(field: $0, isShown: model.isPasswordShown) },
                perform: { leave($0) }
            )
        }

        /// Returns the page about an expired or used link, with its one or two actions.
        private func deadLink(_ page: ErrorPresentation) -> some View {
            Section {
                Text(page.title).font(.headline).accessibilityAddTraits(.isHeader)
                Text(page.message)
                PrimaryButton(title: page.primaryLabel(in: model.language, catalogue: model.catalogue)) {
                    model.start(page.primary) { leave($0) }
                }
                if let secondary = page.secondary, let label = page.secondaryLabel(in: model.language, catalogue: model.catalogue)
                {
                    Button(label) { model.start(secondary) { leave($0) } }
                }
            }
        }

        /// Performs an action that the model leaves to the app.
        private func leave(_ action: ErrorPresentation.Action) {
            if action == .signIn { signIn() } else { perform(action) }
        }
    }
#endif
