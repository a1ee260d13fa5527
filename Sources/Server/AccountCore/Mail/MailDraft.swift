import AccountContract
import Foundation

/// The result of preparing an email for an intent. An intent is an entry of the email queue.
enum MailDraft {
    /// An email and the token of its link. The token is not stored yet.
    case mail(Mail, token: MailedToken)
    /// There is no email to send: the account doesn't exist, the address isn't available, or the email no longer applies to the account.
    case nobody
    /// The link of the email would have expired already.
    case expired
}

/// The token in an email's link.
enum MailedToken {
    /// The token of a reset link.
    case reset(StoredResetToken)
    /// The token of the link "this was not me", and the recipient of its email.
    case lock(TokenDigest, Account.ID, recipient: EmailAddress, expiresAt: Date)
    /// The token of any other link.
    case link(StoredLink)
}

/// Prepares emails: reads the account, creates the token, and renders the email.
struct MailDrafting: Sendable {
    let stores: any AccountStores
    /// Renders the email.
    let rendering: any MailRendering
    /// The lifetimes of the links.
    let rules: RecoveryRules
    let now: @Sendable () -> Date
    /// The steady clock of the email queue. It measures the age of an intent.
    let steady: @Sendable () -> Date

    /// Prepares the email of an intent, and stores nothing.
    func draft(for intent: MailIntent) async throws -> MailDraft {
        switch intent.subject {
        case .passwordReset(let address): try await reset(for: address, intent)
        case .passwordChanged(let id): try await lock(.passwordChanged, of: id, intent)
        case .newDevice(let id, let family): try await lock(.newDevice, of: id, device: family, intent)
        case .registration(let address, let name): try await registration(for: address, name, intent)
        case .verification(let address): try await verification(of: address, intent)
        case .emailChange(let id, let address): try await emailChange(of: id, to: address, intent)
        case .emailChanged(let id, let former): try await undo(.emailChanged, of: id, to: former, intent)
        case .formerAccountDeleted(let id, let former): try await undo(.formerAccountDeleted, of: id, to: former, intent)
        case .accountDeleted(let id): try await deletion(of: id, intent)
        }
    }

    /// Prepares a notice to the present address of the account, with the link "this was not me".
    private func lock(_ kind: MailKind, of id: Account.ID, device: String? = nil, _ intent: MailIntent) async throws -> MailDraft
    {
        guard let account = try await stores.accounts.account(id: id), account.purgeAt == nil else { return .nobody }
        // Before the first failed delivery, the notice is sent even if it is very late, because it is still useful. If deliveries have
        // failed for the whole lifetime of the link, the email is abandoned.
        guard intent.failures == 0 || !isLate(intent, rules.accountLockLifetime) else { return .expired }
        let secret = SecretToken()
        let mail = try render(kind, to: account.email, account, secret, device: device, intent)
        let expiry = now() + rules.accountLockLifetime
        return .mail(mail, token: .lock(secret.digest, account.id, recipient: account.email, expiresAt: expiry))
    }

    /// Prepares the email with a reset link. For an unknown address, the method does the same work, so that the time of the call doesn't
    /// disclose whether an account exists.
    private func reset(for address: EmailAddress, _ intent: MailIntent) async throws -> MailDraft {
        let account = try await stores.accounts.account(email: address).flatMap { $0.isRecoverable ? $0 : nil }
        return try reset(.passwordReset, for: account, address, intent)
    }

    private func reset(_ kind: MailKind, for account: Account?, _ address: EmailAddress, _ intent: MailIntent) throws -> MailDraft
    {
        let secret = SecretToken()
        // The email is also rendered for an unknown address, so that the load of the server doesn't disclose whether an account exists.
        let mail = try render(kind, to: account?.email ?? address, account, secret, intent)
        guard let account else { return .nobody }
        guard !isLate(intent, rules.linkLifetime) else { return .expired }
        let token = StoredResetToken(
            digest: secret.digest,
            accountID: account.id,
            recipient: account.email,
            createdAt: now(),
            expiresAt: now() + rules.linkLifetime
        )
        return .mail(mail, token: .reset(token))
    }

    /// Prepares the email that follows a registration: the link that creates the account, or a reset link if the address has an account.
    private func registration(for address: EmailAddress, _ name: FirstName, _ intent: MailIntent) async throws -> MailDraft {
        if let account = try await stores.accounts.account(email: address) {
            return try reset(.accountExists, for: account.isRecoverable ? account : nil, address, intent)
        }
        // If another account can still restore this address, no link can create an account with this address.
        let isAvailable = try await stores.records.isAvailable(address, to: nil, at: now())
        let draft = try link(.activate, to: address, account: nil, firstName: name, intent)
        return isAvailable ? draft : .nobody
    }

    /// Prepares the link that verifies the address of an account. For an unknown address, the method does the same work.
    private func verification(of address: EmailAddress, _ intent: MailIntent) async throws -> MailDraft {
        let found = try await stores.accounts.account(email: address)
        let account = found.flatMap { $0.isUsable && !$0.isEmailVerified ? $0 : nil }
        let draft = try link(.verifyEmail, to: account?.email ?? address, account: account, intent)
        return account == nil ? .nobody : draft
    }

    /// Prepares an email to a new address, with the link that changes the address of the account. If another account has the address or can
    /// restore it, no email is sent.
    private func emailChange(of id: Account.ID, to address: EmailAddress, _ intent: MailIntent) async throws -> MailDraft {
        let isAvailable = try await stores.records.isAvailable(address, to: id, at: now())
        let account = try await stores.accounts.account(id: id).flatMap { $0.isUsable ? $0 : nil }
        let draft = try link(.confirmEmail, to: address, account: account, intent)
        return isAvailable && account.map { $0.email != address } == true ? draft : .nobody
    }

    /// Prepares a notice to a former address, with the link that restores the address. A notice of a deletion is sent only while the
    /// account is deleted.
    private func undo(_ kind: MailKind, of id: Account.ID, to former: EmailAddress, _ intent: MailIntent) async throws
        -> MailDraft
    {
        guard let record = try await stores.records.record(of: id, at: now()),
            kind != .formerAccountDeleted || record.account.purgeAt != nil,
            let address = record.formerAddresses.last(where: { $0.email == former })
        else { return .nobody }
        return try link(kind, to: former, account: record.account, expiresAt: address.expiresAt, intent)
    }

    /// Prepares the notice of a deletion, with the link that restores the account until it is removed.
    private func deletion(of id: Account.ID, _ intent: MailIntent) async throws -> MailDraft {
        guard let account = try await stores.accounts.account(id: id), let purgeAt = account.purgeAt else { return .nobody }
        return try link(.accountDeleted, to: account.email, account: account, expiresAt: purgeAt, intent)
    }

    /// Prepares an email with a link that is stored as a ``StoredLink``. The link expires at `expiresAt`. If `expiresAt` is `nil`, the link
    /// expires after ``RecoveryRules/confirmationLifetime``. If the link would have expired already, the result is ``MailDraft/expired``.
    private func link(
        _ kind: MailKind,
        to recipient: EmailAddress,
        account: Account?,
        firstName: FirstName? = nil,
        expiresAt: Date? = nil,
        _ intent: MailIntent
    ) throws -> MailDraft {
        guard let purpose = kind.purpose else { preconditionFailure("\(kind) has no link of this kind") }
        let secret = SecretToken()
        let mail = try render(kind, to: recipient, account, secret, intent)
        let expiry = expiresAt ?? now() + rules.confirmationLifetime
        guard expiry > now(), expiresAt != nil || !isLate(intent, rules.confirmationLifetime) else { return .expired }
        let link = StoredLink(
            digest: secret.digest,
            purpose: purpose,
            accountID: account?.id,
            recipient: recipient,
            epoch: account?.epoch ?? 0,
            firstName: firstName,
            language: intent.language,
            createdAt: now(),
            expiresAt: expiry
        )
        return .mail(mail, token: .link(link))
    }

    /// Renders an email. The email contains the name of the user only if the address is verified. Otherwise, an attacker could register the
    /// address of another user with any text as the name, and the server would send this text to that user.
    private func render(
        _ kind: MailKind,
        to recipient: EmailAddress,
        _ account: Account?,
        _ secret: SecretToken,
        device: String? = nil,
        _ intent: MailIntent
    ) throws -> Mail {
        let isKnown = account.map { $0.isEmailVerified && $0.email == recipient } ?? false
        return try rendering.mail(
            MailContent(
                kind,
                to: recipient,
                name: isKnown ? account?.firstName : nil,
                token: try ResetToken(secret.text),
                device: device,
                purgeAt: account?.purgeAt,
                language: intent.language
            )
        )
    }

    private func isLate(_ intent: MailIntent, _ lifetime: Duration) -> Bool { steady() >= intent.createdAt + lifetime }
}
