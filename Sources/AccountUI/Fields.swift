#if canImport(SwiftUI)
    import SwiftUI

    #if os(iOS) || os(visionOS)
        import UIKit
    #endif

    /// A field for an address.
    struct EmailField: View {
        let label: String
        @Binding var text: String

        var body: some View {
            TextField(label, text: $text)
                .autocorrectionDisabled()
                .typedAsEmail()
        }
    }

    /// A field for a password, readable on demand.
    struct PasswordField: View {
        let label: String
        @Binding var text: String
        let isShown: Bool
        let isNew: Bool

        var body: some View {
            Group {
                if isShown {
                    TextField(label, text: $text)
                } else {
                    SecureField(label, text: $text)
                }
            }
            .autocorrectionDisabled()
            .typedAsPassword(isNew: isNew)
        }
    }

    #if os(iOS) || os(visionOS)
        extension View {
            /// The keyboard and the suggestions for an address.
            func typedAsEmail() -> some View {
                keyboardType(.emailAddress)
                    .textContentType(.username)
                    .textInputAutocapitalization(.never)
            }

            /// The suggestions for a password.
            func typedAsPassword(isNew: Bool) -> some View {
                textContentType(isNew ? .newPassword : .password)
                    .textInputAutocapitalization(.never)
            }
        }
    #else
        extension View {
            /// Other systems have one keyboard.
            func typedAsEmail() -> some View { self }

            /// Other systems have one keyboard.
            func typedAsPassword(isNew: Bool) -> some View { self }
        }
    #endif
#endif
