import ErrorContract
import StrictJSON

/// The bodies of the account API's answers.
enum AccountAnswers {
    static let session = NamedSchema(
        "SessionAnswer",
        .object(
            Field("user", .named(AccountValues.user)),
            Field("access_token", .text(), .required, "What calls carry as `Authorization: Bearer`."),
            Field("refresh_token", .named(AccountValues.refreshToken), .required, "Each use gives a new one."),
            Field("token_type", .constant("Bearer")),
            Field("expires_in", .integer(1...86_400), .required, "The life of the access token, in seconds."),
            Field("device_token", .named(AccountValues.deviceToken))
        )
    )

    static let user = NamedSchema("UserAnswer", .object(Field("user", .named(AccountValues.user))))

    static let message = NamedSchema(
        "MessageAnswer",
        .object(
            Field("success", .constant(true)),
            Field("message", .text(), .required, "The text for the person, in the language of the answer.")
        )
    )

    static let passwordChanged = NamedSchema(
        "PasswordChangedResponse",
        .object(
            Field("success", .constant(true)),
            Field("message", .text(), .required, "The text for the user, in the language of the response."),
            Field("device_token", .named(AccountValues.deviceToken))
        )
    )

    static let validToken = NamedSchema(
        "ValidTokenAnswer",
        .object(
            Field("valid", .constant(true)),
            Field("user_id", .text(TextRules(format: "uuid")), .required, "The account that the token is for."),
            Field("email", .named(AccountValues.email)),
            Field("first_name", .text(TextRules(length: 1...400)), .required, "The name that the person is greeted by."),
            Field("expires_at", .text(TextRules(format: "date-time")), .required, "When the token stops being valid.")
        )
    )

    static let resetLinkSent = NamedSchema(
        "ResetLinkSentAnswer",
        .object(
            Field("success", .constant(true)),
            Field(
                "data",
                .object(
                    Field("message", .text(), .required, "The text for the person, in the language of the answer."),
                    Field("reset_method", .text(), .required, "Always email_link."),
                    Field("reset_link_sent", .constant(true, "Always true: it tells nothing about an account.")),
                    Field("link_expires_in", .integer(), .required, "How long a link lives, in seconds."),
                    meaning: "The answer, wrapped."
                )
            )
        )
    )

    static let legacyReset = NamedSchema(
        "LegacyResetAnswer",
        .object(
            Field("success", .constant(true)),
            Field(
                "data",
                .object(Field("user_exist_status", .constant(true)), Field("message", .text()), meaning: "The answer, wrapped.")
            ),
            Field("user_exist_status", .constant(true, "Always true: it tells nothing about an account.")),
            Field("message", .text(), .required, "The text for the person, in the language of the answer.")
        )
    )
}
