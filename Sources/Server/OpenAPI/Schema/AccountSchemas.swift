import AccountContract
import ErrorContract
import StrictJSON

/// The schemas of the values that requests and responses of the account API contain.
///
/// Where a pattern can't express the server's rule, it accepts more than the server, never less: a client that validates by the schema must
/// not refuse a value that the server accepts.
enum AccountValues {
    /// The grammar of `EmailAddress` for addresses in ASCII.
    static let emailPattern =
        "^[A-Za-z0-9._%+\\-]{1,64}@(?:[A-Za-z0-9](?:[A-Za-z0-9\\-]{0,61}[A-Za-z0-9])?\\.)+"
        + "(?:[A-Za-z]{2,63}|[Xx][Nn]--[A-Za-z0-9\\-]{0,58}[A-Za-z0-9])$"

    /// An email address.
    static let email = NamedSchema(
        "EmailAddress",
        .text(
            TextRules(length: 1...254, pattern: emailPattern, format: "email"),
            """
            An email address. Two addresses that differ only in case are the same. The server removes white space around the address, \
            and stores a domain with characters outside of ASCII in Punycode.
            """,
            refusals: [.validationMissingField, .validationInvalidEmail]
        )
    )

    /// The rule of `FirstName`, as far as it needs no Unicode tables. Many implementations of patterns don't support `\\p`.
    static let firstNamePattern =
        "^(?!.*[Ww]{3}\\.)(?!.*\\.[^ .'\u{2019}-]{2})(?=.*[^ .'\u{2019}-])[^\\u0000-\\u001F!-&(-,/-@\\[-`{-\\u00A9\\u00AD\\u061C\\u180E"
        + "\\u200B\\u200E\\u200F\\u2028-\\u202E\\u2060-\\u206F\\uE000-\\uF8FF\\uFEFF\\uFFF9-\\uFFFB]+$"

    static let firstName = NamedSchema(
        "FirstName",
        .text(
            TextRules(length: 1...FirstName.maximumLength, pattern: firstNamePattern),
            "The name that emails greet the user with: letters, marks, spaces, ', ’, . and -; no digits and no web address.",
            refusals: [.validationMissingField, .validationFieldTooLong, .validationInvalidFormat]
        )
    )

    /// A present password, of any form.
    static let password = NamedSchema(
        "Password",
        .text(
            TextRules(length: 1...Password.maximumLength),
            "A password as the user typed it, with all its spaces, at most \(Password.maximumLength) bytes.",
            refusals: [.validationMissingField, .validationFieldTooLong]
        )
    )

    /// A reset token. Any text within the length is a token of the right form, so that responses don't differ.
    static let resetToken = NamedSchema(
        "ResetToken",
        .text(
            TextRules(length: 1...ResetToken.maximumLength),
            "The token of an emailed link, at most \(ResetToken.maximumLength) bytes.",
            refusals: [.validationMissingField, .validationFieldTooLong]
        )
    )

    static let refreshToken = NamedSchema(
        "RefreshToken",
        .text(
            TextRules(length: 1...RefreshToken.maximumLength),
            "The token that refreshes a session, at most \(RefreshToken.maximumLength) bytes.",
            refusals: [.validationMissingField, .validationFieldTooLong]
        )
    )

    static let deviceToken = NamedSchema(
        "DeviceToken",
        .text(
            TextRules(length: 96...96, pattern: "^[A-Za-z0-9_-]+$"),
            """
            Proves that the device has signed in to the account before, for 180 days. It does not authenticate a user. The device \
            stores it, even after a sign-out, and sends it with the next sign-in. The failed attempts of other devices then don't count.
            """
        )
    )
}

extension NamedSchema {
    /// Returns the schema of a new password. The server's policy may refuse passwords that match it, such as very common ones.
    /// - Parameters:
    ///   - minimum: The shortest length, in characters.
    ///   - needsLettersAndDigits: Whether both are required, which the description states.
    static func newPassword(minimum: Int = 8, needsLettersAndDigits: Bool = false) -> NamedSchema {
        let letters: Prose = needsLettersAndDigits ? "It must contain letters and digits." : ""
        return NamedSchema(
            "NewPassword",
            .text(
                TextRules(length: minimum...256),
                Prose("A new password, which must be neither the address nor the name of the account.").followed(by: letters),
                refusals: [.validationMissingField, .validationFieldTooLong, .authWeakPassword]
            )
        )
    }
}

extension EmailAddress: DescribedValue {
    static var schema: Schema { .named(AccountValues.email) }
}

extension FirstName: DescribedValue {
    static var schema: Schema { .named(AccountValues.firstName) }
}

extension Password: DescribedValue {
    static var schema: Schema { .named(AccountValues.password) }
}

extension ResetToken: DescribedValue {
    static var schema: Schema { .named(AccountValues.resetToken) }
}

extension RefreshToken: DescribedValue {
    static var schema: Schema { .named(AccountValues.refreshToken) }
}

extension DeviceToken: DescribedValue {
    static var schema: Schema { .named(AccountValues.deviceToken) }
}

extension UserID: DescribedValue {
    static var schema: Schema { .text(TextRules(format: "uuid")) }
}

extension Language: DescribedValue {
    static var schema: Schema { .text() }
}

/// Information about a member that its wire type doesn't have: its purpose, or a narrower schema.
struct MemberNote: ExpressibleByStringLiteral {
    let schema: Schema?
    let purpose: Prose

    /// Creates a note.
    /// - Parameters:
    ///   - schema: The schema instead of the derived one; `nil` keeps that.
    ///   - purpose: The purpose of the member; empty adds none.
    init(_ schema: Schema?, _ purpose: Prose = "") { (self.schema, self.purpose) = (schema, purpose) }
    init(stringLiteral purpose: String) { self.init(nil, Prose(purpose)) }

    /// The notes by `Type.member`, by `member` for all other types, or by `Type` for the meaning of a type.
    static let all: [String: MemberNote] = [
        "AccountUser": "The properties of an account that its owner sees.",
        "AccountUser.id": "The account's id.",
        "AccountUser.first_name": storedName,
        "ConfirmPasswordResetRequest.email": owner,
        "Facts": "The members of the response, wrapped.",
        "LoginRequest.device_token": "The device token of the last response to this device. The server ignores any other text.",
        "RegisterRequest.locale":
            "The language of the account's emails, such as `es`. If it is missing or unsupported, `Accept-Language` is used.",
        "RegisterRequest.password": newPassword,
        "ResetForm.confirm_password": MemberNote(.named(.newPassword()), "The new password again."),
        "ResetForm.email": MemberNote(
            .text(TextRules(pattern: "^$|" + AccountValues.emailPattern)),
            "If not empty, the token must belong to this address."
        ),
        "ResetRequestForm.email": MemberNote(EmailAddress.schema),
        "SessionResponse.refresh_token": "Each use returns a new refresh token.",
        "ValidTokenResponse.email": "",
        "ValidTokenResponse.first_name": storedName,
        "ValidTokenResponse.user_id": "The account that the token belongs to.",
        "ValidateResetTokenRequest.email": owner,
        "access_token": "The token that requests carry as `Authorization: Bearer`.",
        "expires_at": "The time at which the token expires.",
        "expires_in": MemberNote(.integer(1...86_400), "The lifetime of the access token, in seconds."),
        "link_expires_in": "The lifetime of a link, in seconds.",
        "message": "The text for the user, in the language of the response.",
        "new_password": newPassword,
        "reset_link_sent": alwaysTrue,
        "reset_method": "Always `email_link`.",
        "success": MemberNote(.constant(true)),
        "token": MemberNote(ResetToken.schema),
        "token_type": MemberNote(.constant("Bearer")),
        "user_exist_status": alwaysTrue,
        "valid": MemberNote(.constant(true)),
    ]

    private static let alwaysTrue = MemberNote(.constant(true), "Always true, even if there is no account.")
    private static let newPassword = MemberNote(.named(.newPassword()))
    private static let owner: MemberNote = "If given, the token must belong to this address."
    /// Names that were stored by earlier versions may be longer than new ones.
    private static let storedName = MemberNote(.text(TextRules(length: 1...400)), "The name that emails greet the user with.")
}
