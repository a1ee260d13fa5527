import AccountContract
import ErrorContract
import StrictJSON

/// The operations behind emailed links, except links that reset a password. These operations verify an address, confirm a new address,
/// restore a former address, and restore a deleted account.
package enum AccountLinkOperation: String, AccountOperations {
    /// The operations, in the order of the reference:
    ///
    /// - `requestVerification` sends a link that verifies an address.
    /// - `verifyEmail` verifies an address.
    /// - `confirmEmail` changes the address of the account to the address that the link was sent to.
    /// - `undoEmail` restores a former address.
    /// - `keepAccount` restores a deleted account.
    case requestVerification, verifyEmail, confirmEmail, undoEmail, keepAccount

    /// The description of the operation.
    package var row: APIOperation {
        switch self {
        case .requestVerification:
            operation(
                AccountPath.requestVerification,
                "Request a link that verifies an address",
                """
                Sends the link to the address of the access token's account, or to the given address. The response is the same for an \
                address with an account and one without, in status, bytes and time.
                """,
                RequestContent(VerificationRequest.self, example: ["email": "ana@example.com"]),
                .message(200, "The server has accepted the request.", ContractText.nextStepSent),
                codes: Self.tokenCodes,
                idempotency: .byClient,
                limits: [.verifyEmail, .accountIP, .resetGlobal]
            )
        case .verifyEmail:
            operation(
                AccountPath.verifyEmail,
                "Verify an address",
                """
                Verifies the address of the account. A link alone proves access to the mailbox, not that the account belongs to the user. \
                So the request also has the access token of a session, or the current password. Sessions continue.
                """,
                Self.proven,
                .message(200, "The address is verified.", ContractText.emailVerified),
                codes: [.authResetTokenInvalid, .authInvalidCredentials] + Self.tokenCodes,
                idempotency: .byClient,
                limits: [.linkAttempts, .tokenIP]
            )
        case .confirmEmail:
            operation(
                AccountPath.confirmEmail,
                "Confirm a new address",
                """
                Changes the address of the account to the one that the link was sent to. The request also has the access token of a \
                session, or the current password. All other sessions end. The former address gets a notice with a link that restores it.
                """,
                Self.proven,
                .message(200, "The address has been changed.", ContractText.emailChanged),
                codes: [.authResetTokenInvalid, .authInvalidCredentials] + Self.tokenCodes,
                idempotency: .byClient,
                limits: [.linkAttempts, .tokenIP]
            )
        case .undoEmail:
            operation(
                AccountPath.undoEmail,
                "Restore a former address",
                """
                Undoes everything that came after the change of the address: later addresses, links and a pending deletion. All sessions \
                end, and the next sign-in needs a reset of the password.
                """,
                Self.link,
                .message(200, "The address is restored.", ContractText.emailRestored),
                codes: [.authResetTokenInvalid],
                idempotency: .byClient,
                limits: [.linkAttempts, .tokenIP]
            )
        case .keepAccount:
            operation(
                AccountPath.keepAccount,
                "Restore a deleted account",
                "The password is unchanged, and the sessions stay ended.",
                Self.link,
                .message(200, "The account is restored.", ContractText.accountRestored),
                codes: [.authResetTokenInvalid],
                idempotency: .byClient,
                limits: [.linkAttempts, .tokenIP]
            )
        }
    }

    /// The codes of operations that accept an access token but don't need it.
    private static let tokenCodes: [ErrorCode] = [.authTokenInvalid, .authTokenExpired, .authSessionExpired]

    /// The body of an operation that needs the current password or an access token.
    private static let proven = RequestContent(
        ConfirmLinkRequest.self,
        example: ["token": .string(AccountExamples.token), "current_password": "correct horse battery"]
    )
    /// The body of an operation that needs only the token of a link.
    private static let link = RequestContent(LinkRequest.self, example: ["token": .string(AccountExamples.token)])
}

extension OperationGroup {
    /// The group of the operations behind emailed links, except links that reset a password.
    static let accountLinks = OperationGroup(
        "Emailed links",
        "Each link has one purpose and is valid once. A link is refused for every other purpose.",
        AccountLinkOperation.allCases.map(\.row)
    )
}
