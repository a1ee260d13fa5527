public import AccountContract
public import ErrorContract
public import Foundation

/// An emailed link with a single-use token, as it is stored. Reset links and the links "this was not me" are in other stores.
public struct StoredLink: Hashable, Sendable {
    /// The digest of the token. The token itself is only in its email.
    public let digest: TokenDigest
    /// The change that the link makes.
    public let purpose: AccountLink.Purpose
    /// The account that the link changes; `nil` for a link that creates an account.
    public let accountID: Account.ID?
    /// The address that the link was sent to.
    public let recipient: EmailAddress
    /// The ``Account/epoch`` of the account when the link was created. It is 0 for a link that creates an account.
    public let epoch: Int
    /// The first name of the account to create; `nil` for links of other purposes.
    public let firstName: FirstName?
    /// The language of the account to create.
    public let language: Language
    /// The time at which the link was created.
    public let createdAt: Date
    /// The time from which the link is invalid.
    public let expiresAt: Date

    /// Creates a link from its values.
    public init(
        digest: TokenDigest,
        purpose: AccountLink.Purpose,
        accountID: Account.ID?,
        recipient: EmailAddress,
        epoch: Int = 0,
        firstName: FirstName? = nil,
        language: Language,
        createdAt: Date,
        expiresAt: Date
    ) {
        self.digest = digest
        self.purpose = purpose
        self.accountID = accountID
        self.recipient = recipient
        self.epoch = epoch
        self.firstName = firstName
        self.language = language
        self.createdAt = createdAt
        self.expiresAt = expiresAt
    }
}

/// An address that an account had before its present one.
///
/// Until it expires, no other account can have the address, and its owner can restore it with an emailed link.
public struct FormerAddress: Hashable, Sendable {
    /// The address.
    public let email: EmailAddress
    /// The time at which another address replaced it.
    public let replacedAt: Date
    /// The time from which the address can no longer be restored.
    public let expiresAt: Date

    /// Creates a former address.
    public init(email: EmailAddress, replacedAt: Date, expiresAt: Date) {
        self.email = email
        self.replacedAt = replacedAt
        self.expiresAt = expiresAt
    }
}

/// An account with its former addresses and links. One transaction reads, changes and writes the whole record.
///
/// The methods of a record implement the rules by which links change an account. These methods change only the value in memory.
/// ``AccountRecordStore/change(_:at:_:)`` then writes the value and applies its ``effects``, in one transaction.
public struct AccountRecord: Hashable, Sendable {
    /// The account.
    public package(set) var account: Account
    /// The former addresses that have not expired, oldest first.
    public package(set) var formerAddresses: [FormerAddress]
    /// The links that have not expired.
    public package(set) var links: [StoredLink]
    /// The changes that the store makes in other stores when it writes this value.
    public package(set) var effects = Effects()

    /// Changes of sessions, recovery tokens, the email queue and the audit events. The store makes them in the transaction that writes the
    /// record.
    public struct Effects: Hashable, Sendable {
        /// The sessions that end.
        public enum SessionEnd: Hashable, Sendable {
            /// No session ends.
            case none
            /// All sessions end.
            case all
            /// All sessions end except one.
            case others(StoredSession.ID)
        }

        /// The sessions that end.
        public package(set) var sessions = SessionEnd.none
        /// Whether the store removes all reset links and all links "this was not me" of the account.
        public package(set) var removesRecoveryTokens = false
        /// The emails to add to the queue.
        public package(set) var intents: [MailIntent] = []
        /// The audit event to store; `nil` for none.
        public package(set) var event: AuditEvent?
    }

    /// Creates a record from stored values.
    /// - Parameters:
    ///   - account: The account.
    ///   - formerAddresses: The former addresses that have not expired, in any order.
    ///   - links: The links that have not expired.
    public init(account: Account, formerAddresses: [FormerAddress] = [], links: [StoredLink] = []) {
        self.account = account
        self.formerAddresses = formerAddresses.sorted { $0.replacedAt < $1.replacedAt }
        self.links = links
    }
}

extension AccountRecord {
    /// The time for which a former address can be restored: 7 days.
    public static let undoTime: Duration = .seconds(7 * 86_400)

    /// Returns the stored link of a token. The result is `nil` if the link has expired, has another purpose, or can't be used in the
    /// present state of the account.
    func link(_ digest: TokenDigest, _ purpose: AccountLink.Purpose, at now: Date) -> StoredLink? {
        guard let link = links.first(where: { $0.digest == digest && $0.purpose == purpose && $0.expiresAt > now }) else {
            return nil
        }
        let isUsable =
            switch purpose {
            case .verifyEmail: account.isUsable && link.epoch == account.epoch && link.recipient == account.email
            case .confirmEmail: account.isUsable && link.epoch == account.epoch
            case .undoEmail: formerAddress(of: link, at: now) != nil
            case .keepAccount: account.purgeAt != nil && link.recipient == account.email
            case .activate, .resetPassword: false
            }
        return isUsable ? link : nil
    }

    private func formerAddress(of link: StoredLink, at now: Date) -> Int? {
        formerAddresses.firstIndex { $0.email == link.recipient && $0.expiresAt > now }
    }

    private mutating func consume(_ digest: TokenDigest, _ purpose: AccountLink.Purpose, at now: Date) throws(AccountError)
        -> StoredLink
    {
        guard let link = link(digest, purpose, at: now) else { throw .resetTokenInvalid }
        links.removeAll { $0.digest == digest }
        return link
    }

    /// Consumes a link that verifies the address of the account, and marks the address as verified. Sessions continue.
    mutating func verify(by digest: TokenDigest, at now: Date) throws(AccountError) {
        _ = try consume(digest, .verifyEmail, at: now)
        account.isEmailVerified = true
        links.removeAll { $0.purpose == .verifyEmail }
    }

    /// Marks the address as verified, and sets a password that the owner of the mailbox has chosen. The earlier password and all sessions
    /// become invalid, because they may belong to a user who registered this address without owning it.
    mutating func verify(by digest: TokenDigest, settingPassword hash: String, confirmation: MailIntent, at now: Date)
        throws(AccountError)
    {
        try verify(by: digest, at: now)
        setPassword(hash, confirmation: confirmation)
    }

    /// Sets the password. All sessions end, and links that verify or confirm an address become invalid. Reset links and links "this was not
    /// me" stay valid. Only the owner of the mailbox can read them, and an attacker who knows the password must not be able to invalidate
    /// them.
    mutating func setPassword(_ hash: String, confirmation: MailIntent) {
        account.passwordHash = hash
        account.epoch += 1
        links.removeAll { $0.purpose == .confirmEmail || $0.purpose == .verifyEmail }
        endAllSessions()
        effects.intents.append(confirmation)
    }

    /// Changes the address to the address that a link was sent to. All sessions end, except `session`. Reset links and links "this was not
    /// me" become invalid, and the former address gets a notice. If the account already has the address, only the links that verify or
    /// confirm an address become invalid.
    /// - Parameter session: The session that confirms the change; `nil` if the password confirms it.
    mutating func changeEmail(by digest: TokenDigest, keeping session: StoredSession.ID?, at now: Date, queueTime: Date)
        throws(AccountError)
    {
        let link = try consume(digest, .confirmEmail, at: now)
        links.removeAll { $0.purpose == .confirmEmail || $0.purpose == .verifyEmail }
        let former = account.email
        guard former != link.recipient else { return }
        let expiry = now + Self.undoTime
        // The order of the former addresses decides which owner wins. If the wall clock was set back since the last change, `now` would
        // place this address before the earlier ones.
        let replacedAt = formerAddresses.last.map { max(now, $0.replacedAt.addingTimeInterval(0.001)) } ?? now
        formerAddresses.append(FormerAddress(email: former, replacedAt: replacedAt, expiresAt: expiry))
        account.email = link.recipient
        account.isEmailVerified = true
        effects.sessions = session.map { .others($0) } ?? .all
        effects.removesRecoveryTokens = true
        queue(.emailChanged(account.id, from: former), at: queueTime)
    }

    /// Restores the address that a link was sent to. The method also removes later addresses and links, and cancels a pending deletion. The
    /// password becomes unusable, so the next sign-in needs a password reset.
    mutating func undoEmail(by digest: TokenDigest, at now: Date) throws(AccountError) {
        let link = try consume(digest, .undoEmail, at: now)
        guard let index = formerAddress(of: link, at: now) else { throw .resetTokenInvalid }
        account.email = formerAddresses[index].email
        account.isEmailVerified = true
        account.passwordHash = Account.unusablePassword
        account.epoch += 1
        account.purgeAt = nil
        formerAddresses.removeSubrange(index...)
        let earlier = Set(formerAddresses.map(\.email))
        links.removeAll { $0.purpose != .undoEmail || !earlier.contains($0.recipient) }
        endAllSessions()
        effects.removesRecoveryTokens = true
    }

    /// Deletes the account. The account is removed when its grace time has ended and all its former addresses have expired.
    /// - Parameters:
    ///   - grace: The time until the account is removed. If it is 0 and there are no former addresses, no email is sent.
    ///   - now: The present time.
    ///   - queueTime: The present time, by the clock of the email queue.
    ///   - event: The audit event, which the same transaction stores; `nil` if the caller records the event itself.
    /// - Returns: The time at which the account is removed.
    package mutating func delete(grace: Duration, at now: Date, queueTime: Date, event: AuditEvent? = nil) -> Date {
        let live = formerAddresses.filter { $0.expiresAt > now }
        let purge = ([now + grace] + live.map(\.expiresAt)).max() ?? now
        account.purgeAt = purge
        account.epoch += 1
        links.removeAll { $0.purpose != .undoEmail }
        endAllSessions()
        effects.removesRecoveryTokens = true
        effects.event = event
        guard purge > now else { return purge }
        queue(.accountDeleted(account.id), at: queueTime)
        for address in Set(live.map(\.email)) { queue(.formerAccountDeleted(account.id, address), at: queueTime) }
        return purge
    }

    /// Restores a deleted account with the link in the notice of the deletion. The password is unchanged. The sessions that the deletion
    /// ended don't continue.
    mutating func keep(by digest: TokenDigest, at now: Date) throws(AccountError) {
        _ = try consume(digest, .keepAccount, at: now)
        links.removeAll { $0.purpose == .keepAccount }
        account.purgeAt = nil
    }

    /// Changes the name, the language, or both; `nil` changes nothing.
    mutating func update(firstName: FirstName?, language: Language?) {
        if let firstName { account.firstName = firstName }
        if let language { account.language = language }
    }

    private mutating func endAllSessions() { effects.sessions = .all }

    private mutating func queue(_ subject: MailIntent.Subject, at time: Date) {
        effects.intents.append(MailIntent(subject: subject, language: account.language, createdAt: time))
    }
}
