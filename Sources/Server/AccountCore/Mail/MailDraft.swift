import AccountContract
import Foundation

/// The result of preparing an intent's email.
enum MailDraft {
    /// An email, and the token of its link, which is not stored yet.
    case mail(Mail, token: MailedToken)
    /// There is no recipient, because the account doesn't exist or can't be recovered.
    case nobody
    /// The link of the email would have expired already.
    case expired
}

/// The token in an email's link.
enum MailedToken {
    /// The token of a reset link.
    case reset(StoredResetToken)
    /// The token of "this was not me".
    case lock(TokenDigest, Account.ID, expiresAt: Date)
}

/// Prepares emails: looks the account up, creates the token, and renders the email.
struct MailDrafting: Sendable {
    let accounts: any AccountRepository
    /// Renders the email.
    let rendering: any MailRendering
    /// The lifetimes of the links.
    let rules: RecoveryRules
    let now: @Sendable () -> Date
    /// The time of the queue, from which the age of an intent is computed.
    let steady: @Sendable () -> Date

    /// Returns the draft for an intent.
    func draft(for intent: MailIntent) async throws -> MailDraft {
        switch intent.subject {
        case .passwordChanged(let id): try await confirmation(for: id, intent)
        case .passwordReset(let address): try await reset(for: address, intent)
        }
    }

    /// Prepares the confirmation of a password change, to the present address of the account.
    private func confirmation(for id: Account.ID, _ intent: MailIntent) async throws -> MailDraft {
        let lifetime = rules.accountLockLifetime / .seconds(1)
        guard let account = try await accounts.account(id: id) else { return .nobody }
        // A late confirmation is still useful. But if deliveries have failed for so long, the email will never arrive.
        guard intent.failures == 0 || steady() < intent.createdAt.addingTimeInterval(lifetime) else { return .expired }
        let secret = SecretToken()
        let mail = try rendering.passwordChanged(
            to: account.email,
            name: account.firstName,
            token: try ResetToken(secret.text),
            language: intent.language
        )
        return .mail(mail, token: .lock(secret.digest, account.id, expiresAt: now().addingTimeInterval(lifetime)))
    }

    /// Prepares the email with a reset link. The same work is done for an unknown address.
    private func reset(for address: EmailAddress, _ intent: MailIntent) async throws -> MailDraft {
        let lifetime = rules.linkLifetime / .seconds(1)
        let account = try await accounts.account(email: address).flatMap { $0.isRecoverable ? $0 : nil }
        let secret = SecretToken()
        // Also rendered for an unknown address, so that the load doesn't disclose whether an account exists.
        let mail = try rendering.passwordReset(
            to: account?.email ?? address,
            name: try account?.firstName ?? FirstName("Nobody"),
            token: try ResetToken(secret.text),
            language: intent.language
        )
        guard let account else { return .nobody }
        guard steady() < intent.createdAt.addingTimeInterval(lifetime) else { return .expired }
        let token = StoredResetToken(
            digest: secret.digest,
            accountID: account.id,
            recipient: account.email,
            createdAt: now(),
            expiresAt: now().addingTimeInterval(lifetime)
        )
        return .mail(mail, token: .reset(token))
    }
}
