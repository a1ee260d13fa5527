#if canImport(SwiftUI)
    import AccountContract
    import AccountKit
    import ErrorContract
    import SwiftUI

    /// The two password fields, with their messages, the strength of the password, and a switch that makes both readable.
    ///
    /// The fields are disabled while the model sends the password. If the address of the account is known, a read-only field shows the
    /// address. Password managers then store the new password under this address.
    struct ResetPasswordFields: View {
        @Bindable private var model: ResetPasswordModel
        private let focus: FocusState<FocusedField?>.Binding

        /// Creates the fields.
        /// - Parameters:
        ///   - model: The model of the screen.
        ///   - focus: The focus of the screen, which the fields share.
        init(model: ResetPasswordModel, focus: FocusState<FocusedField?>.Binding) {
            self.model = model
            self.focus = focus
        }

        var body: some View {
            Section {
                if let username = model.username {
                    UsernameField(label: model.text(ContractText.emailLabel), username: username)
                }
                VStack(alignment: .leading) {
                    field(ContractText.newPassword, .password, text: $model.password, submitLabel: .next)
                    StrengthMeter(strength: model.strength, text: model.strengthText)
                }
                field(ContractText.confirmPassword, .confirmation, text: $model.confirmation, submitLabel: .done)
                Toggle(model.text(ContractText.showPassword), isOn: $model.isPasswordShown)
            } header: {
                Text(model.greeting).textCase(nil)
            }
            .disabled(model.state == .submitting)
        }

        /// Returns a field for a new password.
        private func field(
            _ label: LocalizedText,
            _ field: AccountField,
            text: Binding<String>,
            submitLabel: SubmitLabel
        ) -> some View {
            PasswordField(
                label: model.text(label),
                text: text,
                field: field,
                problem: model.problem(at: field),
                isShown: model.isPasswordShown,
                isNew: true,
                focus: focus,
                submitLabel: submitLabel,
                submit: { model.returnPressed(in: field) }
            )
        }
    }

    /// A bar that shows the strength of a password: red, orange or green.
    ///
    /// The bar occupies space even if there is no password, so that no row moves. Its text has the same meaning as its color, for users who
    /// can't distinguish the colors.
    struct StrengthMeter: View {
        /// The strength; `nil` if there is no password.
        let strength: PasswordStrength?
        /// The name of the level in the language of the screen; `nil` if there is no password.
        let text: String?

        var body: some View {
            ProgressView(value: Double(strength?.score ?? 0), total: Double(PasswordStrength.maximumScore)) {
                Text(text ?? " ").font(.footnote)
            }
            .tint(color)
            .accessibilityHidden(strength == nil)
        }

        /// The color of the level.
        private var color: Color {
            switch strength?.level {
            case .weak, nil: .red
            case .medium: .orange
            case .strong: .green
            }
        }
    }
#endif
