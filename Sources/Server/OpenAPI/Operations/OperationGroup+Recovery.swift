import AccountContract
import ErrorContract
import StrictJSON

extension OperationGroup {
    /// Request, validate and confirm a reset, and the request of apps in the field.
    static func recovery(_ settings: APISettings) -> OperationGroup {
        OperationGroup(
            "Password reset",
            """
            A link is mailed to the account's address; its token is good for one change of the password. No answer tells whether an \
            account exists.
            """,
            [request(settings), validate, confirm(settings), legacy]
        )
    }

    private static let limits = ["reset-email", "reset-ip", "reset-global"]

    private static func request(_ settings: APISettings) -> APIOperation {
        let about: Prose = "The request has been noted. If there is an account, the mail is on its way."
        let isWrapped = settings.errorForm == .success
        let wrapped = APIAnswer(200, about, .json(AccountAnswers.resetLinkSent, example: AccountExamples.resetLinkSent))
        return APIOperation(
            .post,
            AccountPath.requestPasswordReset,
            id: "requestPasswordReset",
            "Ask for a link",
            "The answer is the same for an address with an account and one without, in status, bytes and time.",
            answers: [isWrapped ? wrapped : message(about, AccountExamples.requested)]
        ).with {
            $0.request = RequestContent(AccountRequests.passwordReset, example: AccountExamples.email)
            $0.isRepeatable = true
            $0.asksStore = true
            $0.limits = limits
        }
    }

    private static let validate = APIOperation(
        .post,
        AccountPath.validateResetToken,
        id: "validateResetToken",
        "Look whether a link may still be used",
        "Changes nothing, however often it is called.",
        answers: [
            APIAnswer(200, "The token is good.", .json(AccountAnswers.validToken, example: AccountExamples.validToken))
        ]
    ).with {
        $0.request = RequestContent(
            AccountRequests.validateResetToken,
            example: ["token": .string(AccountExamples.token), "email": "ana@example.com"]
        )
        $0.ownCodes = [.authResetTokenInvalid]
        $0.asksStore = true
        $0.limits = ["token-ip"]
    }

    private static func confirm(_ settings: APISettings) -> APIOperation {
        APIOperation(
            .post,
            AccountPath.confirmPasswordReset,
            id: "confirmPasswordReset",
            "Set a new password",
            """
            Exactly one of any number of confirmations with one token succeeds. It ends all sessions of the account, voids all its \
            device tokens but the one of the response, and does not sign in. A password that is too weak leaves the token usable.
            """,
            answers: [
                APIAnswer(
                    200,
                    "The password has been changed.",
                    .json(
                        AccountAnswers.passwordChanged,
                        example: AccountExamples.passwordChanged(ContractText.passwordChanged.text(in: .english))
                    )
                ).with { $0.isLocalized = true }
            ]
        ).with {
            $0.request = RequestContent(
                AccountRequests.confirmPasswordReset(settings),
                example: ["token": .string(AccountExamples.token), "new_password": "another horse battery"]
            )
            $0.ownCodes = [.authResetTokenInvalid]
            $0.isRepeatable = true
            $0.asksStore = true
            $0.limits = ["token-ip"]
        }
    }

    private static let legacy = APIOperation(
        .post,
        AccountPath.legacyPasswordReset,
        id: "legacyPasswordReset",
        "Ask for a link, as older apps do",
        "Does what the request above does. The answer is wrapped and flat at once, and errors have the form `success`.",
        answers: [
            APIAnswer(
                200,
                "The request has been noted.",
                .json(
                    AccountAnswers.legacyReset,
                    example: [
                        "data": ["message": .string(AccountExamples.requested), "user_exist_status": true],
                        "message": .string(AccountExamples.requested), "success": true, "user_exist_status": true,
                    ]
                )
            ).with { $0.isLocalized = true }
        ]
    ).with {
        $0.request = RequestContent(AccountRequests.passwordReset, example: AccountExamples.email)
        $0.isRepeatable = true
        $0.asksStore = true
        $0.limits = limits
        $0.errorStyle = .form(.success)
    }

    private static func message(_ about: Prose, _ text: String) -> APIAnswer {
        APIAnswer(200, about, .json(AccountAnswers.message, example: AccountExamples.message(text)))
            .with { $0.isLocalized = true }
    }
}
