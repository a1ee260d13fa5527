import AccountContract
import ErrorContract
import StrictJSON

/// The schemas of the values that requests and responses of the account API contain.
///
/// A client can validate values with a schema before it sends them. The schema must then accept every value that the server accepts. If a
/// pattern can't express a rule of the server exactly, the pattern therefore accepts more values than the server.
enum AccountValues {
    /// The grammar of `EmailAddress` for addresses in ASCII. The local part has at most 64 characters, and each label of the domain has at
    /// most 63 (RFC 5321 §4.5.3.1.1, RFC 1035 §2.3.4). The last label consists of letters, or is a name in punycode.
    static let emailPattern =
        "^[A-Za-z0-9._%+\\-]{1,64}@(?:[A-Za-z0-9](?:[A-Za-z0-9\\-]{0,61}[A-Za-z0-9])?\\.)+"
        + "(?:[A-Za-z]{2,63}|[Xx][Nn]--[A-Za-z0-9\\-]{0,58}[A-Za-z0-9])$"

    /// An email address. The pattern describes only addresses in ASCII. The server also accepts domains with other characters.
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

    /// The rules of `FirstName` that don't need Unicode tables. Many implementations of ECMA-262 patterns don't support `\p`.
    static let firstNamePattern =
        "^(?!.*[Ww]{3}\\.)(?!.*\\.[^ .'\u{2019}-]{2})(?=.*[^ .'\u{2019}-])[^\\u0000-\\u001F!-&(-,/-@\\[-`{-\\u00A9\\u00AD\\u061C\\u180E"
        + "\\u200B\\u200E\\u200F\\u2028-\\u202E\\u2060-\\u206F\\uE000-\\uF8FF\\uFEFF\\uFFF9-\\uFFFB]+$"

    /// A first name. Some rules of the server need Unicode tables, so the server refuses a few values that match the schema.
    static let firstName = NamedSchema(
        "FirstName",
        .text(
            TextRules(length: 1...FirstName.maximumLength, pattern: firstNamePattern),
            "The name that emails greet the user with: letters, marks, spaces, ', ’, . and -; no digits and no web address.",
            refusals: [.validationMissingField, .validationFieldTooLong, .validationInvalidFormat]
        )
    )

    /// An existing password, as a sign-in sends it. The policy of new passwords doesn't apply, because passwords may be older than the
    /// policy.
    static let password = secret("Password", upTo: Password.maximumLength, "A password as the user typed it, with all its spaces")

    /// A reset token. The schema accepts each text with a valid length, because a malformed token and an unknown token get the same
    /// response.
    static let resetToken = secret("ResetToken", upTo: ResetToken.maximumLength, "The token of an emailed link")

    /// A refresh token. Its form is not part of the API, so the schema accepts each text with a valid length.
    static let refreshToken = secret("RefreshToken", upTo: RefreshToken.maximumLength, "The token that refreshes a session")

    /// Returns the schema of a secret text, of which only the length is checked.
    private static func secret(_ name: String, upTo maximum: Int, _ about: String) -> NamedSchema {
        let (rules, text) = (TextRules(length: 1...maximum), Prose("\(about), at most \(maximum) bytes."))
        return NamedSchema(name, .text(rules, text, refusals: [.validationMissingField, .validationFieldTooLong]))
    }

    /// A device token: 96 characters of base64url.
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
    /// Returns the schema of a new password.
    ///
    /// The schema can't express the whole policy: the server also refuses, for example, very common passwords with `AUTH_WEAK_PASSWORD`.
    /// - Parameters:
    ///   - minimum: The smallest length, in characters, at most 256.
    ///   - needsLettersAndDigits: Whether a password needs both letters and digits. The schema can't express this rule, so only its
    ///     description contains it.
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
    /// The grammar of addresses, with the codes of invalid addresses.
    static var schema: Schema { .named(AccountValues.email) }
}

extension FirstName: DescribedValue {
    /// The rules of first names, with the codes of invalid names.
    static var schema: Schema { .named(AccountValues.firstName) }
}

extension Password: DescribedValue {
    /// The rules of existing passwords. A member with a new password has a ``MemberNote`` with
    /// ``NamedSchema/newPassword(minimum:needsLettersAndDigits:)`` instead.
    static var schema: Schema { .named(AccountValues.password) }
}

extension ResetToken: DescribedValue {
    /// Any text with a valid length.
    static var schema: Schema { .named(AccountValues.resetToken) }
}

extension RefreshToken: DescribedValue {
    /// Any text with a valid length.
    static var schema: Schema { .named(AccountValues.refreshToken) }
}

extension DeviceToken: DescribedValue {
    /// The exact form of device tokens, which the server issues.
    static var schema: Schema { .named(AccountValues.deviceToken) }
}

extension UserID: DescribedValue {
    /// A UUID. The schema has no name, so the document contains it inline.
    static var schema: Schema { .text(TextRules(format: "uuid")) }
}

extension Language: DescribedValue {
    /// Any text, because the server also accepts unknown languages. For an unknown language, the server uses another language.
    static var schema: Schema { .text() }
}

/// Information about a member that the Swift type doesn't contain: the purpose of the member, or a stricter schema.
/// ``NamedSchema/init(recording:example:optional:)`` combines the notes with the recorded members.
struct MemberNote: ExpressibleByStringLiteral {
    /// The schema that replaces the recorded schema; `nil` keeps the recorded schema.
    let schema: Schema?
    /// The purpose of the member; empty if there is none.
    let purpose: Prose

    /// Creates a note with a schema and a purpose.
    /// - Parameters:
    ///   - schema: The schema that replaces the recorded schema; `nil` keeps the recorded schema.
    ///   - purpose: The purpose of the member; empty if there is none.
    init(_ schema: Schema?, _ purpose: Prose = "") { (self.schema, self.purpose) = (schema, purpose) }
    /// Creates a note that only has a purpose.
    init(stringLiteral purpose: String) { self.init(nil, Prose(purpose)) }

    /// The notes about the members and types of the account API. The schema recorder finds them by their keys.
    ///
    /// A key has one of three forms: `Type.member` for a member of one type, `member` for a member of all other types, or `Type` for the
    /// meaning of a type. If `Type.member` and `member` both match, the note with `Type.member` applies.
    static let all: [String: MemberNote] = [
        "AccountUser": "The properties of an account that its owner sees.",
        "AccountUser.id": "The account's id.",
        "AccountUser.email_verified": "Whether the user has proven access to the mailbox.",
        "AccountUser.first_name": storedName,
        "ActivateRequest.password": newPassword,
        "ConfirmLinkRequest.current_password": "Only needed without an access token.",
        "ConfirmPasswordResetRequest.email": owner,
        "Facts": "The members of the response, wrapped.",
        "LoginRequest.device_token": "The device token of the last response to this device. The server ignores any other text.",
        "RegisterRequest.locale":
            "The language of the account's emails, such as `es`. If it is missing or unsupported, `Accept-Language` is used.",
        "RegisterRequest.password": newPassword,
        "SessionDescription.created_at": "The time of the sign-in.",
        "SessionDescription.current": "Whether it is the session of the access token.",
        "SessionDescription.device_name": "The name of the device; absent if it is unknown.",
        "SessionDescription.id": "The id of the session.",
        "SessionDescription.last_used_at": "The time of the last refresh, or of the sign-in.",
        "ConfirmLinkForm.current_password": MemberNote(Password.schema),
        "NewPasswordForm.confirm_password": MemberNote(.named(.newPassword()), "The new password again."),
        "ResetForm.confirm_password": MemberNote(.named(.newPassword()), "The new password again."),
        "ResetForm.email": MemberNote(
            .text(TextRules(pattern: "^$|" + AccountValues.emailPattern)),
            "If not empty, the token must belong to this address."
        ),
        "ResetRequestForm.email": MemberNote(EmailAddress.schema),
        "SessionResponse.refresh_token": "Each use returns a new refresh token.",
        "UpdateUserRequest.locale":
            "The language of the account's emails, such as `es`. An unsupported language changes nothing.",
        "ValidTokenResponse.email": "",
        "ValidTokenResponse.first_name": storedName,
        "ValidTokenResponse.user_id": "The account that the token belongs to.",
        "ValidateResetTokenRequest.email": owner,
        "VerificationRequest.email": "The address to verify. It may be missing in a request with an access token.",
        "access_token": "The token that requests carry as `Authorization: Bearer`.",
        "expires_at": "The time at which the token expires.",
        "expires_in": MemberNote(.integer(1...86_400), "The lifetime of the access token, in seconds."),
        "link_expires_in": "The lifetime of a link, in seconds.",
        "purge_at": "The time at which the account is removed with its data.",
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

    /// A flag that is always `true`, so that the response is the same if the account doesn't exist. Existing apps require the member.
    private static let alwaysTrue = MemberNote(.constant(true), "Always true, even if there is no account.")
    /// A new password. ``APIOperation/adapted(to:)`` replaces its schema by the schema of the configured policy.
    private static let newPassword = MemberNote(.named(.newPassword()))
    /// A note for the email address of the account that a token belongs to.
    private static let owner: MemberNote = "If given, the token must belong to this address."
    /// The first name of an account. Its schema allows longer names than the schema of new names, because earlier versions stored longer
    /// names.
    private static let storedName = MemberNote(.text(TextRules(length: 1...400)), "The name that emails greet the user with.")
}
