import AccountContract
import Foundation

/// What an intent comes to when its account has been looked up.
enum MailDraft {
    /// A mail, and the token that its link carries, which nobody has kept yet.
    case mail(Mail, token: MailedToken)
    /// Nobody is to get a mail.
    case nobody
    /// Past the life of its link a mail would only puzzle its reader.
    case expired
}

/// The token that a mail's link carries.
enum MailedToken {
    case reset(StoredResetToken)
    /// "This was not me".
    case lock(TokenDigest, Account.ID, expiresAt: Date)
}

/// Makes drafts: looks the account up, mints the token, renders.
struct MailDrafting: Sendable {
    let accounts: any AccountRepository
    let rendering: any MailRendering
    let rules: RecoveryRules
    let now: @Sendable () -> Date
    /// The time of the queue, by which an intent ages.
    let steady: @Sendable () -> Date

    /// The draft for an intent.
    func draft(for intent: MailIntent) async throws -> MailDraft {
        switch intent.subject {
        case .passwordChanged(let id): try await confirmation(for: id, intent)
        case .passwordReset(let address): try await reset(for: address, intent)
        }
    }

    private func confirmation(for id: Account.ID, _ intent: MailIntent) async throws -> MailDraft {
        let lifetime = rules.accountLockLifetime / .seconds(1)
        guard let account = try await accounts.account(id: id) else { return .nobody }
        // However late it is news; but who has taken no mail for so long will take none.
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

    private func reset(for address: EmailAddress, _ intent: MailIntent) async throws -> MailDraft {
        let lifetime = rules.linkLifetime / .seconds(1)
        let account = try await accounts.account(email: address).flatMap { $0.isRecoverable ? $0 : nil }
        let secret = SecretToken()
        // For an unknown address too, so that its load tells nothing.
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
