public import AccountContract
public import ErrorContract
public import Foundation
import HTTPTypes
import ResilientHTTP

/// The changes that a signed-in user makes to the account.
///
/// Each call throws an error with the code `AUTH_TOKEN_MISSING` if no user is signed in. A call belongs to the session that is present when
/// the method begins. If this session ends or another one begins before the request is sent, the call fails with the kind `unauthorized`.
///
/// A change that could help an intruder to take over the account needs the current password. If this password is wrong, the call throws an
/// error with the code `AUTH_INVALID_CREDENTIALS`.
extension AccountClient {
    /// Sets a new password. The server ends all sessions of the account, and returns new tokens, with which the session of this client
    /// continues. If the user has signed out in the meantime, the client revokes the new tokens.
    ///
    /// If the server has changed the password but its response was lost, the client still has the tokens of its ended session. The next
    /// attempt therefore fails. ``Submission/mayHaveTakenEffect`` then reports that the password may have been changed.
    /// - Parameters:
    ///   - currentPassword: The current password.
    ///   - newPassword: The new password.
    ///   - submission: The submission of the form. If the user tries again with the same content, pass the same submission.
    @discardableResult
    public func changePassword(
        currentPassword: Password,
        newPassword: Password,
        submission: Submission = Submission()
    ) async throws(APIError) -> AccountUser {
        let context = "password_change"
        let known = try await credentials(context: context)
        let response: SessionResponse = try await post(
            AccountPath.changePassword,
            ChangePasswordRequest(currentPassword: currentPassword, newPassword: newPassword),
            submission,
            with: known,
            context: context
        )
        return try await begin(response, nil, continuing: known, context: context)
    }

    /// Requests an email to a new address, with a link that changes the address. The response doesn't depend on whether another account has
    /// the address.
    /// - Parameters:
    ///   - newEmail: The new address.
    ///   - currentPassword: The current password.
    ///   - submission: The submission of the form. If the user tries again with the same content, pass the same submission.
    /// - Returns: The text for the user.
    @discardableResult
    public func requestEmailChange(
        to newEmail: EmailAddress,
        currentPassword: Password,
        submission: Submission = Submission()
    ) async throws(APIError) -> String {
        let context = "email_change_request"
        let known = try await credentials(context: context)
        return try await message(
            AccountPath.changeEmail,
            ChangeEmailRequest(currentPassword: currentPassword, newEmail: newEmail),
            submission,
            with: known,
            context: context,
            default: ContractText.nextStepSent
        )
    }

    /// Changes the name of the user, the language of the emails, or both.
    /// - Parameters:
    ///   - firstName: The new name; `nil` to leave it unchanged.
    ///   - language: The new language of the account's emails; `nil` to leave it unchanged.
    ///   - submission: The submission of the form. If the user tries again with the same content, pass the same submission.
    /// - Returns: The changed account.
    @discardableResult
    public func updateUser(
        firstName: FirstName? = nil,
        language: Language? = nil,
        submission: Submission = Submission()
    ) async throws(APIError) -> AccountUser {
        let context = "user_update"
        let known = try await credentials(context: context)
        let request = UpdateUserRequest(firstName: firstName, locale: language)
        let response: UserResponse = try await sending(submission, with: known) { api, headers throws(APIError) in
            try await api.patch(AccountPath.me, request, headers: headers, context: context)
        }
        return response.user
    }

    /// Returns the sessions of the account, most recently used first.
    public func sessions() async throws(APIError) -> [SessionDescription] {
        let context = "sessions_list"
        let response: SessionsResponse = try await signedIn(context: context).get(AccountPath.sessions, context: context)
        return response.sessions
    }

    /// Ends a session of the account on another device. Use ``signOut()`` for the session of this device.
    /// - Parameter id: The id of the session in the list.
    public func endSession(_ id: UserID) async throws(APIError) {
        let context = "session_end"
        let segment = id.rawValue.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(["-", "_", "."])) ?? ""
        try await signedIn(context: context).delete(AccountPath.sessions + "/" + segment, context: context)
    }

    /// Ends all sessions of the account except the session of this device.
    public func endOtherSessions() async throws(APIError) {
        let context = "sessions_end_others"
        try await signedIn(context: context).delete(AccountPath.sessions, context: context)
    }

    /// Deletes the account, and ends the session on this device, unless another session has begun in the meantime. The server sends an
    /// email with a link. The link restores the account until the server removes its data.
    /// - Parameters:
    ///   - password: The current password.
    ///   - submission: The submission of the form. If the user tries again with the same password, pass the same submission.
    /// - Returns: The text for the user, and the time at which the server removes the data.
    @discardableResult
    public func deleteAccount(
        password: Password,
        submission: Submission = Submission()
    ) async throws(APIError) -> AccountDeletedResponse {
        let context = "user_delete"
        let known = try await credentials(context: context)
        var response: AccountDeletedResponse = try await post(
            AccountPath.deleteAccount,
            PasswordRequest(password: password),
            submission,
            with: known,
            context: context
        )
        response.message = response.message ?? text(ContractText.accountDeleted)
        // The server has already ended the session. If the client can't remove the credentials, the store only contains credentials that
        // the server refuses.
        try? await session.endSession(of: known)
        return response
    }

    /// Returns everything that the server stores about the account, as JSON. Servers allow a few exports per day.
    /// - Parameter password: The current password.
    public func exportData(password: Password) async throws(APIError) -> Data {
        let context = "user_export"
        let known = try await credentials(context: context)
        let body = try api.json(PasswordRequest(password: password), context: context)
        return try await sending(Submission(), with: known) { api, headers throws(APIError) in
            Data(try await api.send(.post, AccountPath.export, body: body, headers: headers, context: context).body)
        }
    }
}
