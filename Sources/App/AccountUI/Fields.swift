#if canImport(SwiftUI)
    import AccountKit
    import SwiftUI

    #if os(macOS)
        import AppKit
    #elseif os(watchOS)
        import WatchKit
    #else
        import UIKit
    #endif

    /// The focused field. A password has two fields: one that hides it and one that shows it.
    struct FocusedField: Hashable {
        /// The field of the model.
        let field: AccountField
        /// Whether it is the field that shows the password.
        var isShown = false
    }

    /// A field for an email address or a first name, with the keyboard and the suggestions for its content, and without autocorrection.
    /// Password managers suggest an address for the field of an address, because its content type is `username`.
    struct LineField: View {
        /// The label of the field, which is also its placeholder.
        let label: String
        /// The text, as the user has typed it.
        @Binding var text: String
        /// The field of the model: the address or the first name.
        let field: AccountField
        /// The problem with the text; `nil` if there is none. The view shows the problem below the field, and VoiceOver reads it as the
        /// field's hint.
        let problem: String?
        /// The focus of the screen.
        let focus: FocusState<FocusedField?>.Binding
        /// The label of the Return key.
        let submitLabel: SubmitLabel
        /// Called when the user presses Return.
        let submit: @MainActor () -> Void

        var body: some View {
            VStack(alignment: .leading) {
                TextField(label, text: $text)
                    .autocorrectionDisabled()
                    .content(of: field)
                    .focused(focus, equals: FocusedField(field: field))
                    .submitLabel(submitLabel)
                    .onSubmit { submit() }
                    .accessibilityHint(problem ?? "")
                FieldMessage(text: problem)
            }
        }
    }

    /// The address of the account, read-only. Password managers store the new password under this address.
    struct UsernameField: View {
        let label: String
        /// The address of the account.
        let username: String

        var body: some View {
            TextField(label, text: .constant(username))
                .emailContent()
                .disabled(true)
                .accessibilityLabel(label)
        }
    }

    /// A field for a password, with which the user can make the password readable.
    ///
    /// The view contains two fields, one that hides the password and one that shows it, and moves the focus between them. If one field
    /// replaced the other instead, the focus would be lost, and the keyboard would close. Only the visible field is accessible and receives
    /// taps. The invisible field is disabled, so that the Tab key of a keyboard skips it. A disabled field loses the focus, so a field is
    /// disabled only after the focus has moved to the other field.
    struct PasswordField: View {
        let label: String
        /// The password, as the user has typed it.
        @Binding var text: String
        /// The field of the model. The focus identifies the view by this field.
        let field: AccountField
        /// The problem with the password; `nil` if there is none. The problem is shown like the problem of a ``LineField``.
        let problem: String?
        /// Whether the password is readable.
        let isShown: Bool
        /// Whether the password is new. If `true`, the system suggests a strong password. If `false`, it suggests a stored password.
        let isNew: Bool
        let focus: FocusState<FocusedField?>.Binding
        let submitLabel: SubmitLabel
        /// Called when the user presses Return in either field.
        let submit: @MainActor () -> Void

        var body: some View {
            VStack(alignment: .leading) {
                ZStack {
                    SecureField(label, text: $text)
                        .passwordContent(isNew: isNew, isShown: !isShown)
                        .privacySensitive()
                        .focused(focus, equals: FocusedField(field: field))
                        .disabled(isShown && !hasFocus(isShown: false))
                        .opacity(isShown ? 0 : 1)
                        .allowsHitTesting(!isShown)
                        .accessibilityHidden(isShown)
                    TextField(label, text: $text)
                        .passwordContent(isNew: isNew, isShown: isShown)
                        .privacySensitive()
                        .focused(focus, equals: FocusedField(field: field, isShown: true))
                        .disabled(!isShown && !hasFocus(isShown: true))
                        .opacity(isShown ? 1 : 0)
                        .allowsHitTesting(isShown)
                        .accessibilityHidden(!isShown)
                }
                .autocorrectionDisabled()
                .submitLabel(submitLabel)
                .onSubmit { submit() }
                .accessibilityHint(problem ?? "")
                FieldMessage(text: problem)
            }
            .onChange(of: isShown) { _, isShown in
                if let focused = focus.wrappedValue, focused.field == field {
                    focus.wrappedValue = FocusedField(field: field, isShown: isShown)
                }
            }
        }

        /// Returns whether the field that shows the password, or the one that hides it, has the focus.
        private func hasFocus(isShown: Bool) -> Bool { focus.wrappedValue == FocusedField(field: field, isShown: isShown) }
    }

    /// The line under a field. It occupies space even if it is empty, so that no row moves while the user types. VoiceOver reads the text
    /// as the hint of the field.
    struct FieldMessage: View {
        /// The message; `nil` for an empty line.
        let text: String?

        var body: some View {
            Text(text ?? " ")
                .font(.footnote)
                .foregroundStyle(.red)
                .accessibilityHidden(text == nil)
        }
    }

    extension View {
        /// Sets the keyboard and the suggestions for an address or a first name.
        @ViewBuilder fileprivate func content(of field: AccountField) -> some View {
            if field == .firstName { nameContent() } else { emailContent() }
        }

        /// Sets the keyboard and the suggestions for an address.
        fileprivate func emailContent() -> some View {
            #if os(iOS) || os(tvOS) || os(visionOS)
                textContentType(.username).keyboardType(.emailAddress).textInputAutocapitalization(.never)
            #elseif os(watchOS)
                textContentType(.username).textInputAutocapitalization(.never)
            #else
                textContentType(.username)
            #endif
        }

        /// Sets the suggestions and the capitalization for a first name. A name can have several words.
        fileprivate func nameContent() -> some View {
            #if os(macOS)
                textContentType(.givenName)
            #else
                textContentType(.givenName).textInputAutocapitalization(.words)
            #endif
        }

        /// Sets the content type for suggestions of passwords. Only the visible field has a content type, because AutoFill would interpret
        /// two password fields as a form that sets a new password.
        fileprivate func passwordContent(isNew: Bool, isShown: Bool) -> some View {
            #if os(macOS)
                textContentType(isShown ? isNew ? .newPassword : .password : nil)
            #else
                textContentType(isShown ? isNew ? .newPassword : .password : nil).textInputAutocapitalization(.never)
            #endif
        }
    }
#endif
