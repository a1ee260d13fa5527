#if canImport(SwiftUI)
    public import AccountKit
    public import ErrorContract
    public import SwiftUI

    /// Shows one of the account's forms: registration, the request to check the mailbox, the change of the password or the address, the
    /// deletion, or the form that an emailed link opens.
    ///
    /// The model decides which form it is:
    ///
    /// ```swift
    /// AccountFormScreen(model: ChangePasswordModel(client: accounts, language: .preferred())) { action in
    ///     if action == .signIn { path = [.signIn] } else { path = [] }
    /// }
    /// ```
    ///
    /// After a success, and if a link can't be used, a page replaces the form. The buttons of this page perform the actions of the model's
    /// `page`. Show the screen in a navigation stack, which displays its title. Use ``AccountFormViewController`` in a UIKit app.
    public struct AccountFormScreen: View {
        @Bindable private var model: FormModel
        @FocusState private var focus: FocusedField?
        private let forgotPassword: (@MainActor () -> Void)?
        private let perform: @MainActor (ErrorPresentation.Action) -> Void

        /// Creates the screen.
        /// - Parameters:
        ///   - model: The model of the form. Retain a `CheckEmailModel` while the screen is not shown, so that the cooldown continues.
        ///   - forgotPassword: Opens the screen that requests a reset link, with the model's `makeForgotPasswordModel(clock:)`. If the form
        ///     has a field for the current password, it shows a button for this action. With `nil`, there is no button.
        ///   - perform: Performs an action that the model leaves to the app, such as leaving the screen (`dismiss`), signing in
        ///     (`makeSignInModel()`), requesting a new link, contacting support, or checking whether a request took effect.
        public init(
            model: FormModel,
            forgotPassword: (@MainActor () -> Void)? = nil,
            perform: @escaping @MainActor (ErrorPresentation.Action) -> Void
        ) {
            self.model = model
            self.forgotPassword = forgotPassword
            self.perform = perform
        }

        /// The fields and the button, or the page that replaces them.
        public var body: some View {
            Form {
                if let page = model.page {
                    pageSection(page)
                } else {
                    fieldSection
                    buttonSection
                }
            }
            .navigationTitle(model.title)
            .task { await model.open() }
            .task(id: model.isCoolingDown) { await model.runCountdown() }
            .screen(
                model,
                focus: { focus = FocusedField(field: $0, isShown: $0.isPassword && model.isPasswordShown) },
                perform: perform
            )
        }

        /// The introduction and the fields.
        private var fieldSection: some View {
            Section {
                if let introduction = model.introduction { Text(introduction) }
                if let username = model.username { UsernameField(label: model.label(of: .email), username: username) }
                ForEach(model.fields, id: \.self) { field in row(field) }
                if model.hasPasswords {
                    Toggle(model.text(ContractText.showPassword), isOn: $model.isPasswordShown)
                }
            }
            .disabled(model.state == .submitting)
        }

        /// The main button, and the button for a forgotten password.
        private var buttonSection: some View {
            Section {
                PrimaryButton(
                    title: model.submitTitle,
                    isEnabled: model.isSubmitEnabled,
                    isBusy: model.state == .submitting
                ) {
                    model.work.start { await model.submit() }
                }
                if let forgotPassword, model.fields.contains(.currentPassword) {
                    // Leaving the screen would cancel the request.
                    Button(model.text(ContractText.forgotPassword)) { forgotPassword() }
                        .disabled(model.state == .submitting)
                }
            } footer: {
                if let notice = model.notice { Text(notice) }
            }
        }

        /// Returns the row of a field. The row of a new password also shows the strength of the password.
        @ViewBuilder private func row(_ field: AccountField) -> some View {
            switch field {
            case .email, .firstName:
                LineField(
                    label: model.label(of: field),
                    text: binding(field),
                    field: field,
                    problem: model.problem(at: field),
                    focus: $focus,
                    submitLabel: submitLabel(field),
                    submit: { model.returnPressed(in: field) }
                )
            case .password:
                VStack(alignment: .leading) {
                    password(field, isNew: true)
                    StrengthMeter(strength: model.strength, text: model.strengthText)
                }
            case .confirmation: password(field, isNew: true)
            case .currentPassword: password(field, isNew: false)
            }
        }

        /// Returns a field for a password.
        private func password(_ field: AccountField, isNew: Bool) -> some View {
            PasswordField(
                label: model.label(of: field),
                text: binding(field),
                field: field,
                problem: model.problem(at: field),
                isShown: model.isPasswordShown,
                isNew: isNew,
                focus: $focus,
                submitLabel: submitLabel(field),
                submit: { model.returnPressed(in: field) }
            )
        }

        /// Returns the page that replaces the form, with its one or two buttons.
        private func pageSection(_ page: ErrorPresentation) -> some View {
            Section {
                if let heading = model.heading { Text(heading).font(.headline).accessibilityAddTraits(.isHeader) }
                Text(page.message)
                PrimaryButton(title: model.pageTitle ?? "") { model.start(page.primary, perform: perform) }
                if let secondary = page.secondary, let label = model.secondPageTitle {
                    Button(label) { model.start(secondary, perform: perform) }
                }
            }
        }

        /// Returns the text of a field as a binding.
        private func binding(_ field: AccountField) -> Binding<String> {
            Binding(get: { model[field] }, set: { model[field] = $0 })
        }

        /// Returns the label of the Return key.
        private func submitLabel(_ field: AccountField) -> SubmitLabel { field == model.fields.last ? .go : .next }
    }
#endif
