import ErrorContract
import StrictJSON

extension OperationGroup {
    /// The pages behind the mailed links.
    static func recoveryPages(_ settings: APISettings) -> OperationGroup {
        OperationGroup(
            "Pages behind mailed links",
            """
            For people with a browser. A GET changes nothing, however often a scanner opens it; forms are taken from our own pages only \
            (`Origin`, `Sec-Fetch-Site`). Errors are pages too, with their code in `X-Error-Code`.
            """,
            [openReset, sendReset(settings), sendRequest, openFreeze, sendFreeze]
        )
    }

    private static let openReset = APIOperation(
        .get,
        "/reset-password",
        id: "openResetPage",
        "The page for a new password",
        """
        Opened with the link's query it shows the form, or that the link has expired. Without a query its script takes the token \
        from the fragment and validates it by the API before it shows either; without a token it offers to send a link.
        """,
        answers: [
            .page(200, "The form for a new password, or the one that asks for a link."),
            .page(400, "The address is no link: the token is missing, given twice or malformed."),
            .page(410, "The link is unknown, expired or used; the page offers to send a new one."),
        ]
    ).with {
        $0.parameters = [token, email]
        $0.asksStore = true
        $0.errorStyle = .page
    }

    private static func sendReset(_ settings: APISettings) -> APIOperation {
        APIOperation(
            .post,
            "/reset-password",
            id: "sendResetForm",
            "Send the form for a new password",
            "Does what confirming by the API does.",
            answers: [
                .page(200, "The password has been changed.").with { $0.headers = [deviceCookie] },
                .page(400, "The form again, with what was wrong; or the token is no token."),
                .page(410, "The link is unknown, expired or used; the page offers to send a new one."),
            ]
        ).with {
            $0.request = RequestContent(
                NamedSchema(
                    "ResetPage",
                    .object(
                        Field("token", .named(AccountValues.resetToken)),
                        Field(
                            "email",
                            .text(TextRules(pattern: "^$|" + AccountValues.emailPattern)),
                            .nullable,
                            "If not empty, the token must belong to this address."
                        ),
                        Field("new_password", .named(AccountValues.newPassword(settings))),
                        Field("confirm_password", .named(AccountValues.newPassword(settings)), .required, "The same again.")
                    )
                ),
                example: [
                    "token": .string(AccountExamples.token), "new_password": "another horse battery",
                    "confirm_password": "another horse battery",
                ],
                isForm: true
            )
            $0.ownCodes = [.resourceForbidden]
            $0.asksStore = true
            $0.limits = ["token-ip"]
            $0.errorStyle = .page
        }
    }

    private static let deviceCookie = APIHeader(
        name: "Set-Cookie",
        schema: .text(TextRules(pattern: "^__Host-device=")),
        isRequired: false,
        about: "The device token of the browser, as the cookie `__Host-device`."
    )

    private static let sendRequest = APIOperation(
        .post,
        "/reset-password/request",
        id: "sendRequestForm",
        "Send the form that asks for a link",
        "Does what asking by the API does; the page that follows is the same with and without an account.",
        answers: [
            .page(200, "The request has been noted. If there is an account, the mail is on its way."),
            .page(400, "The form again: the address is missing or malformed."),
        ]
    ).with {
        $0.request = RequestContent(
            NamedSchema("RequestPage", .object(Field("email", .named(AccountValues.email)))),
            example: AccountExamples.email,
            isForm: true
        )
        $0.ownCodes = [.resourceForbidden]
        $0.asksStore = true
        $0.limits = ["reset-email", "reset-ip", "reset-global"]
        $0.errorStyle = .page
    }

    private static let openFreeze = APIOperation(
        .get,
        "/reset-password/not-me",
        id: "openFreezePage",
        "The page that asks whether to freeze an account",
        "Opened by the link of the mail that confirms a change; nothing is frozen before its form is sent.",
        answers: [
            .page(200, "The question, or the page that takes the token from behind `#`."),
            .page(400, "The token is missing, given twice or malformed."),
            .page(410, "The link is unknown, expired or used; the page offers a link for a new password."),
        ]
    ).with {
        $0.parameters = [token, email]
        $0.asksStore = true
        $0.errorStyle = .page
    }

    private static let sendFreeze = APIOperation(
        .post,
        "/reset-password/not-me",
        id: "sendFreezeForm",
        "Freeze an account",
        "Ends all sessions; nobody can sign in until the password has been reset.",
        answers: [
            .page(200, "The account is frozen."),
            .page(400, "The token is missing, given twice or malformed."),
            .page(410, "The link is unknown, expired or used; the page offers a link for a new password."),
        ]
    ).with {
        $0.request = RequestContent(
            NamedSchema("FreezePage", .object(Field("token", .named(AccountValues.resetToken)))),
            example: ["token": .string(AccountExamples.token)],
            isForm: true
        )
        $0.ownCodes = [.resourceForbidden]
        $0.asksStore = true
        $0.errorStyle = .page
    }

    private static let token = APIParameter(
        name: "token",
        place: .query,
        schema: .text(TextRules(length: 1...512, pattern: "^[!-$&-~]+$")),
        about: "The token of the link."
    )

    private static let email = APIParameter(
        name: "email",
        place: .query,
        schema: .named(AccountValues.email),
        about: "The address that the link was sent to; the token must belong to it."
    )
}
