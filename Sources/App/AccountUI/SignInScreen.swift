#if canImport(SwiftUI)
    public import AccountKit
    public import ErrorContract
    public import SwiftUI

    /// The screen on which a user signs in. After the sign-in, the model's state is `signedIn`, and the app can show its content.
    ///
    /// ```swift
    /// SignInScreen(model: model, forgotPassword: { path.append(.forgotPassword) })
    ///     .onChange(of: model.state) { _, state in
    ///         if case .signedIn = state { path = [] }
    ///     }
    /// ```
    ///
    /// If the screen disappears, SwiftUI cancels the sign-in. All buttons that lead to other screens are therefore disabled during the
    /// sign-in. Use ``SignInViewController`` in a UIKit app.
    ///
    /// `SignInModel` stores the credentials of the session in the client's store. Show the screen in a navigation stack, which displays its
    /// title.
    public struct SignInScreen: View {
        @Bindable private var model: SignInModel
        @FocusState private var focus: FocusedField?
        private let forgotPassword: @MainActor () -> Void
        private let register: (@MainActor () -> Void)?
        private let perform: @MainActor (ErrorPresentation.Action) -> Void

        /// Creates the screen.
        /// - Parameters:
        ///   - model: The model of the screen.
        ///   - forgotPassword: Opens the screen on which the user requests a reset link.
        ///   - register: Opens the registration screen; `nil` if users can't register in the app.
        ///   - perform: Performs an action of an alert if the model leaves the action to the app, such as contacting support, or checking
        ///     whether a request took effect.
        public init(
            model: SignInModel,
            forgotPassword: @escaping @MainActor () -> Void,
            register: (@MainActor () -> Void)? = nil,
            perform: @escaping @MainActor (ErrorPresentation.Action) -> Void = { _ in }
        ) {
            self.model = model
            self.forgotPassword = forgotPassword
            self.register = register
            self.perform = perform
        }

        /// The form with the address, the password and the button.
        public var body: some View {
            Form {
                // The system offers to save the password when the fields leave the screen, but only if they still contain their texts.
                if model.isFormShown { fields }
                Section {
                    PrimaryButton(title: model.submitTitle, isEnabled: model.isSubmitEnabled, isBusy: model.isBusy) {
                        model.work.start { await model.submit() }
                    }
                    // Leaving the screen would cancel the sign-in.
                    Button(model.text(ContractText.forgotPassword)) { forgotPassword() }
                        .disabled(model.isBusy)
                    if let register {
                        Button(model.text(ContractText.createAccount)) { register() }
                            .disabled(model.isBusy)
                    }
                }
            }
            .navigationTitle(model.text(ContractText.signIn))
            .screen(
                model,
                focus: { focus = FocusedField(field: $0, isShown: $0 == .password && model.isPasswordShown) },
                perform: perform
            )
        }

        /// The address, the password, and the switch that makes the password readable.
        private var fields: some View {
            Section {
                LineField(
                    label: model.text(ContractText.emailLabel),
                    text: $model.email,
                    field: .email,
                    problem: model.problem(at: .email),
                    focus: $focus,
                    submitLabel: .next,
                    submit: { model.returnPressed(in: .email) }
                )
                PasswordField(
                    label: model.text(ContractText.passwordLabel),
                    text: $model.password,
                    field: .password,
                    problem: model.problem(at: .password),
                    isShown: model.isPasswordShown,
                    isNew: false,
                    focus: $focus,
                    submitLabel: .go,
                    submit: { model.returnPressed(in: .password) }
                )
                Toggle(model.text(ContractText.showPassword), isOn: $model.isPasswordShown)
            }
            .disabled(model.isBusy)
        }
    }
#endif
