import AccountContract
public import ErrorContract
public import Foundation
public import Observation

/// The model of the screen on which a signed-in user changes the password.
///
/// After a success, the session of the client continues, and all other sessions have ended.
@Observable
@MainActor
public final class ChangePasswordModel: FormModel {
    /// Creates the model.
    /// - Parameters:
    ///   - client: The account API. The model uses a copy of it with the language of the screen.
    ///   - language: The user's language.
    ///   - rules: The rules that the new password must satisfy before it is sent.
    ///   - wallClock: Returns the local time, from which the model computes the time of `ErrorPresentation.Action.retryAt(_:)`.
    public init(
        client: AccountClient,
        language: Language,
        rules: PasswordRules = PasswordRules(),
        wallClock: @escaping @Sendable () -> Date = { Date() }
    ) {
        super.init(
            [.currentPassword, .password, .confirmation],
            FormTexts(
                title: ContractText.changePassword,
                introduction: ContractText.changePasswordEffect,
                progress: ScreenText.savingPassword
            ),
            FormContext(client: client, language: language, rules: rules, wallClock: wallClock)
        )
    }

    override var needsSession: Bool { true }

    override func send(_ input: FormInput, _ submission: Submission) async throws(APIError) -> String {
        guard let current = input.currentPassword, let new = input.password else { throw .incompleteForm }
        try await client.changePassword(currentPassword: current, newPassword: new, submission: submission)
        return presenter.text(ContractText.passwordChanged)
    }

    /// Returns the page for a password that was probably changed; `nil` for other errors. A change is probable if the response to an
    /// earlier attempt was lost and the server now responds with 401: the old password and the old session are then no longer valid.
    override func refusal(_ error: APIError) async -> State? {
        guard mayHaveTakenEffect, error.kind == .unauthorized else { return nil }
        let text = ContractText.resetProbablySucceeded
        return .ended(presenter.probablySucceeded(title: ContractText.changePassword, text))
    }
}

/// The model of the screen on which a signed-in user requests a change of the account's email address.
///
/// After a success, the server sends an email to the new address. The link in this email opens the screen of ``ConfirmEmailModel``.
@Observable
@MainActor
public final class ChangeEmailModel: FormModel {
    /// Creates the model.
    /// - Parameters:
    ///   - client: The account API. The model uses a copy of it with the language of the screen.
    ///   - language: The user's language.
    ///   - wallClock: Returns the local time, from which the model computes the time of `ErrorPresentation.Action.retryAt(_:)`.
    public init(
        client: AccountClient,
        language: Language,
        wallClock: @escaping @Sendable () -> Date = { Date() }
    ) {
        super.init(
            [.email, .currentPassword],
            FormTexts(
                title: ContractText.changeEmail,
                progress: ScreenText.sendingLink,
                labels: [.email: ContractText.newEmail]
            ),
            FormContext(client: client, language: language, wallClock: wallClock)
        )
    }

    override var needsSession: Bool { true }

    override func send(_ input: FormInput, _ submission: Submission) async throws(APIError) -> String {
        guard let email = input.email, let password = input.currentPassword else { throw .incompleteForm }
        try await client.requestEmailChange(to: email, currentPassword: password, submission: submission)
        return presenter.text(ContractText.checkEmail(email.text))
    }
}

/// The model of the screen on which a signed-in user deletes the account.
///
/// After a success, no user is signed in. The server sends an email with a link that restores the account (``KeepAccountModel``).
@Observable
@MainActor
public final class DeleteAccountModel: FormModel {
    /// The time at which the server removes the account's data; `nil` before the deletion, or if the server doesn't send the time.
    public private(set) var purgeAt: Date?

    /// Creates the model.
    /// - Parameters:
    ///   - client: The account API. The model uses a copy of it with the language of the screen.
    ///   - language: The user's language.
    ///   - wallClock: Returns the local time, from which the model computes the time of `ErrorPresentation.Action.retryAt(_:)`.
    public init(
        client: AccountClient,
        language: Language,
        wallClock: @escaping @Sendable () -> Date = { Date() }
    ) {
        super.init(
            [.currentPassword],
            FormTexts(
                title: ContractText.deleteAccount,
                introduction: ContractText.deleteAccountEffect,
                progress: ContractText.deletingAccount,
                labels: [.currentPassword: ContractText.passwordLabel]
            ),
            FormContext(client: client, language: language, wallClock: wallClock)
        )
    }

    override var needsSession: Bool { true }

    override func send(_ input: FormInput, _ submission: Submission) async throws(APIError) -> String {
        guard let password = input.currentPassword else { throw .incompleteForm }
        let response = try await client.deleteAccount(password: password, submission: submission)
        purgeAt = response.purgeAt
        return response.message ?? presenter.text(ContractText.accountDeleted)
    }
}
