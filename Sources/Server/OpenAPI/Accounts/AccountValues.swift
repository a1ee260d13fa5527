import AccountContract
import ErrorContract

/// The values that requests and answers of the account API are made of.
enum AccountValues {
    /// The grammar of ``AccountContract/EmailAddress`` for addresses in ASCII.
    static let emailPattern =
        "^[A-Za-z0-9._%+\\-]{1,64}@(?:[A-Za-z0-9](?:[A-Za-z0-9\\-]{0,61}[A-Za-z0-9])?\\.)+"
        + "(?:[A-Za-z]{2,63}|[Xx][Nn]--[A-Za-z0-9\\-]{0,58}[A-Za-z0-9])$"

    static let email = NamedSchema(
        "EmailAddress",
        .text(
            TextRules(length: 1...254, pattern: emailPattern, format: "email"),
            """
            An e-mail address; two that differ in case alone are the same. White space around it does not count, and a domain beyond \
            ASCII may be sent as it is: it is kept in punycode.
            """,
            refusals: [.validationMissingField, .validationInvalidEmail]
        )
    )

    /// The rule of ``AccountContract/FirstName``, as far as it needs no table of Unicode. Many readers of patterns do not know `\\p`.
    static let firstNamePattern =
        "^(?!.*[Ww]{3}\\.)(?!.*\\.[^ .'\u{2019}-]{2})(?=.*[^ .'\u{2019}-])[^\\u0000-\\u001F!-&(-,/-@\\[-`{-\\u00A9\\u00AD\\u061C\\u180E"
        + "\\u200B\\u200E\\u200F\\u2028-\\u202E\\u2060-\\u206F\\uE000-\\uF8FF\\uFEFF\\uFFF9-\\uFFFB]+$"

    static let firstName = NamedSchema(
        "FirstName",
        .text(
            TextRules(length: 1...FirstName.maximumLength, pattern: firstNamePattern),
            "The name that greets the user: letters, marks, spaces, ', ’, . and -; no digits and no web address.",
            refusals: [.validationMissingField, .validationFieldTooLong, .validationInvalidFormat]
        )
    )

    static let password = NamedSchema(
        "Password",
        .text(
            TextRules(length: 1...Password.maximumLength),
            "A password as it was typed, at most \(Password.maximumLength) bytes; spaces belong to it.",
            refusals: [.validationMissingField, .validationFieldTooLong]
        )
    )

    static let resetToken = NamedSchema(
        "ResetToken",
        .text(
            TextRules(length: 1...ResetToken.maximumLength),
            "The token of a mailed link, at most \(ResetToken.maximumLength) bytes.",
            refusals: [.validationMissingField, .validationFieldTooLong]
        )
    )

    static let refreshToken = NamedSchema(
        "RefreshToken",
        .text(
            TextRules(length: 1...RefreshToken.maximumLength),
            "The token that a session is continued with, at most \(RefreshToken.maximumLength) bytes.",
            refusals: [.validationMissingField, .validationFieldTooLong]
        )
    )

    static let deviceToken = NamedSchema(
        "DeviceToken",
        .text(
            TextRules(length: 96...96, pattern: "^[A-Za-z0-9_-]+$"),
            """
            Proof that the device has signed in to the account, valid for 180 days. It authenticates nobody. The device \
            stores it, also after a sign-out, and sends it with the next sign-in, which then does not count the failed attempts of others.
            """
        )
    )

    static let user = NamedSchema(
        "AccountUser",
        .object(
            Field("id", .text(TextRules(format: "uuid")), .required, "The account's id."),
            Field("email", .named(email)),
            Field("first_name", .text(TextRules(length: 1...400)), .required, "The name that the person is greeted by."),
            meaning: "An account as its owner sees it."
        )
    )

    /// A password that is about to be set; beyond its length the policy of the server decides.
    static func newPassword(_ settings: APISettings) -> NamedSchema {
        let letters: Prose = settings.needsLettersAndDigits ? "It must contain letters and digits." : ""
        return NamedSchema(
            "NewPassword",
            .text(
                TextRules(length: settings.minimumPasswordLength...256),
                Prose("A password to be set, neither the address nor the name of the account.").followed(by: letters),
                refusals: [.validationMissingField, .validationFieldTooLong, .authWeakPassword]
            )
        )
    }
}
