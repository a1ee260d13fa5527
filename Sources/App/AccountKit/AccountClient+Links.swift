public import AccountContract
public import ErrorContract
import ResilientHTTP

/// The calls that use emailed links. Each call accepts only the links of one purpose (see `AccountLink.Purpose`).
///
/// The server refuses an expired, used or unknown link with the code `AUTH_RESET_TOKEN_INVALID`. If the response to an earlier attempt was
/// lost, ``Submission/mayHaveTakenEffect`` is `true`. A refusal with this code then probably means that the earlier attempt has used the
/// link successfully.
extension AccountClient {
    /// Creates the account of a blind registration and signs in. With blind registration, the server creates an account only after the user
    /// has opened an emailed link.
    ///
    /// If the response to an earlier attempt of the submission was lost, that attempt may have created the account. If the server then
    /// refuses the link and `email` is not `nil`, the client signs in with the same password.
    /// - Parameters:
    ///   - token: The token of the link.
    ///   - password: The password of the new account.
    ///   - email: The address of the link, if the link contains it.
    ///   - submission: The submission of the form. If the user tries again with the same password, pass the same submission.
    public func activate(
        token: ResetToken,
        password: Password,
        email: EmailAddress? = nil,
        submission: Submission = Submission()
    ) async throws(APIError) -> AccountUser {
        let context = "user_activate"
        let request = ActivateRequest(token: token, password: password)
        let refusal: APIError
        do throws(APIError) {
            let response: SessionResponse = try await post(AccountPath.activate, request, submission, context: context)
            return try await begin(response, email, context: context)
        } catch {
            guard error.code == .authResetTokenInvalid, submission.mayHaveTakenEffect, email != nil else { throw error }
            refusal = error
        }
        guard let email else { throw refusal }
        do throws(APIError) {
            return try await signIn(email: email, password: password)
        } catch {
            throw error.code == .authInvalidCredentials ? refusal : error
        }
    }

    /// Requests an email with a link that verifies an address. The response doesn't depend on whether the account exists.
    /// - Parameters:
    ///   - email: The address to verify; `nil` for the address of the signed-in account.
    ///   - submission: The submission of the form. If the user tries again, pass the same submission. After a success, create a new
    ///     submission for the next request.
    /// - Returns: The text for the user.
    /// - Throws: An error with the code `AUTH_TOKEN_MISSING` if `email` is `nil` and no user is signed in.
    @discardableResult
    public func requestVerification(
        email: EmailAddress? = nil,
        submission: Submission = Submission()
    ) async throws(APIError) -> String {
        let context = "email_verify_request"
        let known = email == nil ? try await credentials(context: context) : nil
        return try await message(
            AccountPath.requestVerification,
            VerificationRequest(email: email),
            submission,
            with: known,
            context: context,
            default: ContractText.nextStepSent
        )
    }

    /// Verifies an address by a link. Sessions continue.
    ///
    /// The link proves that the user has access to the mailbox. The session or the password proves that the account belongs to the user.
    /// - Parameters:
    ///   - token: The token of the link.
    ///   - currentPassword: The password of the account; `nil` to use the session. If the session belongs to another account, the server
    ///     refuses the request with the code `AUTH_RESET_TOKEN_INVALID`, and the link stays valid.
    ///   - submission: The submission of the form. If the user tries again with the same content, pass the same submission.
    /// - Returns: The text for the user.
    @discardableResult
    public func verifyEmail(
        token: ResetToken,
        currentPassword: Password? = nil,
        submission: Submission = Submission()
    ) async throws(APIError) -> String {
        let context = "email_verify"
        let known = currentPassword == nil ? try await credentials(context: context) : nil
        return try await message(
            AccountPath.verifyEmail,
            ConfirmLinkRequest(token: token, currentPassword: currentPassword),
            submission,
            with: known,
            context: context,
            default: ContractText.emailVerified
        )
    }

    /// Changes the address of the account to the address that received the link. All other sessions end.
    /// - Parameters:
    ///   - token: The token of the link.
    ///   - currentPassword: The password of the account; `nil` to use the session, like
    ///     ``verifyEmail(token:currentPassword:submission:)``.
    ///   - submission: The submission of the form. If the user tries again with the same content, pass the same submission.
    /// - Returns: The text for the user.
    @discardableResult
    public func confirmEmailChange(
        token: ResetToken,
        currentPassword: Password? = nil,
        submission: Submission = Submission()
    ) async throws(APIError) -> String {
        let context = "email_change_confirm"
        let known = currentPassword == nil ? try await credentials(context: context) : nil
        return try await message(
            AccountPath.confirmEmail,
            ConfirmLinkRequest(token: token, currentPassword: currentPassword),
            submission,
            with: known,
            context: context,
            default: ContractText.emailChanged
        )
    }

    /// Restores the former address by a link. All sessions end. Before the next sign-in, the user must reset the password.
    /// - Parameters:
    ///   - token: The token of the link.
    ///   - submission: The submission of the form. If the user tries again, pass the same submission.
    /// - Returns: The text for the user.
    @discardableResult
    public func undoEmailChange(
        token: ResetToken,
        submission: Submission = Submission()
    ) async throws(APIError) -> String {
        try await message(
            AccountPath.undoEmail,
            LinkRequest(token: token),
            submission,
            context: "email_change_undo",
            default: ContractText.emailRestored
        )
    }

    /// Restores a deleted account by a link. The password is unchanged, and the user signs in again.
    /// - Parameters:
    ///   - token: The token of the link.
    ///   - submission: The submission of the form. If the user tries again, pass the same submission.
    /// - Returns: The text for the user.
    @discardableResult
    public func keepAccount(
        token: ResetToken,
        submission: Submission = Submission()
    ) async throws(APIError) -> String {
        try await message(
            AccountPath.keepAccount,
            LinkRequest(token: token),
            submission,
            context: "user_keep",
            default: ContractText.accountRestored
        )
    }

    /// Returns a text in the client's language.
    func text(_ text: LocalizedText) -> String { api.catalogue.text(text, in: api.language) }
}
