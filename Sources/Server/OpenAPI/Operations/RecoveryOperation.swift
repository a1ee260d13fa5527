import AccountContract
import ErrorContract
import StrictJSON

/// The operations with which an app resets a password: request a link, validate the link's token and confirm the new password. A fourth
/// operation requests a link with the path and the format of older apps. ``RecoveryPageOperation`` has the operations for browsers.
package enum RecoveryOperation: String, AccountOperations {
    /// The operations, in the order of the reference:
    ///
    /// - `requestPasswordReset` sends a link by email.
    /// - `validateResetToken` checks the token of a link and changes nothing.
    /// - `confirmPasswordReset` sets a new password with the token. The token is then used up.
    /// - `legacyPasswordReset` is `requestPasswordReset` with the path and the response of older apps.
    case requestPasswordReset, validateResetToken, confirmPasswordReset, legacyPasswordReset

    /// The description of the operation. The server sends the same response whether the account exists or not. The error codes therefore
    /// can't disclose whether an account exists.
    package var row: APIOperation {
        switch self {
        case .requestPasswordReset:
            operation(
                AccountPath.requestPasswordReset,
                "Request a link",
                "The response is the same for an address with an account and one without, in status, bytes and time.",
                Self.address,
                .message(200, Self.requested, ContractText.resetRequested),
                wrapped: DescribedResponse(
                    200,
                    Self.requested,
                    .json(
                        ResetLinkSentResponse.self,
                        example: [
                            "success": true,
                            "data": [
                                "message": Self.requestedText, "reset_method": "email_link", "reset_link_sent": true,
                                "link_expires_in": 3_600,
                            ],
                        ]
                    ),
                    isLocalized: true
                ),
                idempotency: .byClient,
                limits: Self.limits
            )
        case .validateResetToken:
            operation(
                AccountPath.validateResetToken,
                "Validate a link",
                "Changes nothing, so it can be called any number of times.",
                RequestContent(
                    ValidateResetTokenRequest.self,
                    example: ["token": .string(AccountExamples.token), "email": "ana@example.com"]
                ),
                DescribedResponse(
                    200,
                    "The token is valid.",
                    .json(
                        ValidTokenResponse.self,
                        example: [
                            "email": "ana@example.com", "expires_at": "2026-11-21T11:30:00Z", "first_name": "Ana",
                            "user_id": "8c3e0b52-0e0b-4c62-9a4d-0c5a8e3b7f10", "valid": true,
                        ]
                    )
                ),
                codes: [.authResetTokenInvalid],
                limits: [.tokenIP]
            )
        case .confirmPasswordReset:
            operation(
                AccountPath.confirmPasswordReset,
                "Set a new password",
                """
                Only one of all confirmations with a token succeeds. It ends all sessions of the account, and revokes all its device \
                tokens except the one in the response. It does not sign the user in. If the password is too weak, the token stays \
                valid.
                """,
                RequestContent(
                    ConfirmPasswordResetRequest.self,
                    example: ["token": .string(AccountExamples.token), "new_password": "another horse battery"]
                ),
                DescribedResponse(
                    200,
                    "The password has been changed.",
                    .json(
                        PasswordChangedResponse.self,
                        example: [
                            "device_token": AccountExamples.deviceToken,
                            "message": .string(ContractText.passwordChanged.text(in: .english)), "success": true,
                        ]
                    ),
                    isLocalized: true
                ),
                codes: [.authResetTokenInvalid],
                idempotency: .byResetToken,
                limits: [.tokenIP]
            )
        case .legacyPasswordReset:
            operation(
                AccountPath.legacyPasswordReset,
                "Request a link (older apps)",
                "Has the same effect as the request above. The response has wrapped and flat members; errors have the form `success`.",
                Self.address,
                DescribedResponse(
                    200,
                    "The server has accepted the request.",
                    .json(
                        LegacyResetResponse.self,
                        example: [
                            "data": ["message": Self.requestedText, "user_exist_status": true],
                            "message": Self.requestedText, "success": true, "user_exist_status": true,
                        ]
                    ),
                    isLocalized: true
                ),
                idempotency: .byClient,
                limits: Self.limits,
                errorStyle: .form(.success)
            )
        }
    }

    /// The rate limits of each operation that requests a link: one by email address, one by client address, and one for all requests
    /// together.
    static let limits: [AccountLimit] = [.resetEmail, .resetIP, .resetGlobal]
    /// The body of a request for a link.
    private static let address = RequestContent(PasswordResetRequest.self, example: ["email": "ana@example.com"])
    /// The description of the response to a request for a link. The response is the same if the account doesn't exist.
    private static let requested: Prose = "The server has accepted the request. If the account exists, it sends the email."
    /// The message of the response in English, for the examples.
    private static let requestedText = JSONValue.string(ContractText.resetRequested.text(in: .english))
}

extension OperationGroup {
    /// The group of the operations with which an app resets a password.
    static let recovery = OperationGroup(
        "Password reset",
        """
        The server emails a link to the account's address. Its token is valid for one change of the password. No response reveals \
        whether an account exists.
        """,
        RecoveryOperation.allCases.map(\.row)
    )
}
