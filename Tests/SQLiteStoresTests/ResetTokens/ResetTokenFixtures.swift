import AccountContract
import AccountCore
import ErrorContract
import Foundation

@testable import SQLiteStores

extension TemporaryStores {
    /// Mints a token that lasts an hour from some seconds after the start.
    func mint(for account: Account, after seconds: TimeInterval = 0, liveLimit: Int = 3) async throws -> TokenDigest {
        let token = StoredResetToken(
            digest: SecretToken().digest,
            accountID: account.id,
            recipient: account.email,
            createdAt: .after(seconds),
            expiresAt: .after(seconds + 3_600)
        )
        try await tokens.insert(token, liveLimit: liveLimit)
        return token.digest
    }

    /// Confirms a token with the password hash "new hash".
    func confirm(
        _ token: TokenDigest,
        of account: Account,
        after seconds: TimeInterval = 1,
        intentID: UUID = UUID()
    ) async throws -> Bool {
        let intent = MailIntent(
            id: intentID,
            subject: .passwordChanged(account.id),
            language: account.language,
            createdAt: .after(seconds)
        )
        return try await tokens.confirm(token, passwordHash: "new hash", confirmation: intent, at: .after(seconds))
    }

    /// Whether a token may be used some seconds after the start.
    func isLive(_ token: TokenDigest, after seconds: TimeInterval = 1) async throws -> Bool {
        try await tokens.find(token, at: .after(seconds)) != nil
    }
}
