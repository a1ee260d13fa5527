import ErrorContract

/// The bodies of the account API's requests.
enum AccountRequests {
    static func register(_ settings: APISettings) -> NamedSchema {
        NamedSchema(
            "RegisterRequest",
            .object(
                Field("email", .named(AccountValues.email)),
                Field("password", .named(AccountValues.newPassword(settings))),
                Field("first_name", .named(AccountValues.firstName)),
                Field(
                    "locale",
                    .text(),
                    .nullable,
                    "The language of the account's mails, such as `es`. Without it, or if there are no texts in it, `Accept-Language` decides."
                )
            )
        )
    }

    static let login = NamedSchema(
        "LoginRequest",
        .object(
            Field("email", .named(AccountValues.email)),
            Field("password", .named(AccountValues.password)),
            Field(
                "device_token",
                .text(),
                .nullable,
                "The device token of the last response to this device. Any other text counts as none."
            )
        )
    )

    static let refresh = NamedSchema(
        "RefreshRequest",
        .object(Field("refresh_token", .named(AccountValues.refreshToken)))
    )

    static let passwordReset = NamedSchema(
        "PasswordResetRequest",
        .object(Field("email", .named(AccountValues.email)))
    )

    static let validateResetToken = NamedSchema(
        "ValidateResetTokenRequest",
        .object(Field("token", .named(AccountValues.resetToken)), owner)
    )

    static func confirmPasswordReset(_ settings: APISettings) -> NamedSchema {
        NamedSchema(
            "ConfirmPasswordResetRequest",
            .object(
                Field("token", .named(AccountValues.resetToken)),
                owner,
                Field("new_password", .named(AccountValues.newPassword(settings)))
            )
        )
    }

    private static let owner = Field(
        "email",
        .named(AccountValues.email),
        .nullable,
        "If given, the token must belong to this address."
    )
}
