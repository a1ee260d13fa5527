#if canImport(SwiftUI)
    import AccountContract
    import AccountKit
    import ErrorContract
    import SwiftUI

    /// The two password fields with what is said about them.
    struct ResetPasswordFields: View {
        @Bindable private var model: ResetPasswordModel

        init(model: ResetPasswordModel) {
            self.model = model
        }

        var body: some View {
            Section {
                field(ContractText.newPassword, text: $model.password)
                if let strength = model.strength, let line = model.strengthText {
                    StrengthMeter(strength: strength, text: line)
                }
                if let problem = model.passwordProblem { Text(problem).foregroundStyle(.red) }
                field(ContractText.confirmPassword, text: $model.confirmation)
                if let problem = model.matchProblem { Text(problem).foregroundStyle(.red) }
                Toggle(words(ContractText.showPassword), isOn: $model.isPasswordShown)
            } header: {
                Text(model.greeting)
            }
            .disabled(model.state == .submitting)
        }

        private func field(_ label: LocalizedText, text: Binding<String>) -> some View {
            PasswordField(label: words(label), text: text, isShown: model.isPasswordShown, isNew: true)
        }

        private func words(_ text: LocalizedText) -> String { model.catalogue.text(text, in: model.language) }
    }

    /// A bar that fills with the strength of a password.
    struct StrengthMeter: View {
        let strength: PasswordStrength
        let text: String

        var body: some View {
            ProgressView(value: Double(strength.score), total: Double(PasswordStrength.maximumScore)) {
                Text(text)
            }
            .tint(colour)
        }

        private var colour: Color {
            switch strength.level {
            case .weak: .red
            case .medium: .orange
            case .strong: .green
            }
        }
    }
#endif
