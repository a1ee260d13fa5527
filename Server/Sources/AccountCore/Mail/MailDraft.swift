import AccountContract
import Foundation

/// What an intent comes to when its account has been looked up.
enum MailDraft {
    /// A mail, and the reset token that its link carries.
    case mail(Mail, token: StoredResetToken?)
    /// Nobody is to get a mail.
    case nobody
    /// Past the life of its link a mail would only puzzle its reader.
    case expired
}

/// Makes drafts: looks the account up, mints the token, renders.
struct MailDrafting: Sendable {
    let accounts: any AccountRepository
    let freezeTokens: any FreezeTokenStore
    let rendering: any MailRendering
    let rules: RecoveryRules
    let now: @Sendable () -> Date

    /// The draft for an intent.
    func draft(for intent: MailIntent) async throws -> MailDraft {
        switch intent.subject {
        case .passwordChanged(let id): try await confirmation(for: id, intent)
        case .passwordReset(let address): try await reset(for: address, intent)
        }
    }

    private func confirmation(for id: Account.ID, _ intent: MailIntent) async throws -> MailDraft {
        guard let account = try await accounts.account(id: id) else { return .nobody }
        let secret = SecretToken()
        try await freezeTokens.insert(
            secret.digest,
            account: account.id,
            expiresAt: now().addingTimeInterval(rules.freezeLifetime / .seconds(1))
        )
        let mail = try rendering.passwordChanged(
            to: account.email,
            name: account.firstName,
            token: try ResetToken(secret.text),
            language: intent.language
        )
        return .mail(mail, token: nil)
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
        guard now() < intent.createdAt.addingTimeInterval(lifetime) else { return .expired }
        let token = StoredResetToken(
            digest: secret.digest,
            accountID: account.id,
            recipient: account.email,
            createdAt: now(),
            expiresAt: now().addingTimeInterval(lifetime)
        )
        return .mail(mail, token: token)
    }
}
