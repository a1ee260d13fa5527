public import AccountContract
public import ErrorContract
public import Foundation

/// Changes accounts with emailed links: verifies an address, confirms a new address, restores a former address, or restores a deleted
/// account.
///
/// A link proves that its recipient has access to a mailbox, but not that the recipient owns the account. So ``verify(_:by:)`` and
/// ``confirmEmail(_:by:)`` also need a proof, such as the password of the account; see ``AccountProof``.
public struct AccountLinks: Sendable {
    private let authentication: Authentication
    private let stores: any AccountStores
    private let gate: HashingGate
    private let policy: PasswordPolicy
    private let audit: (any AuditNoting)?
    private let now: @Sendable () -> Date
    private let steady: @Sendable () -> Date

    /// Creates the service.
    /// - Parameters:
    ///   - authentication: Checks sessions and passwords.
    ///   - stores: The stores of accounts.
    ///   - gate: Hashes passwords.
    ///   - policy: Decides which passwords are accepted.
    ///   - audit: Records the events of accounts; `nil` records none.
    ///   - now: The wall clock.
    ///   - steady: The clock of the email queue, which doesn't jump when the wall clock is set; `nil` uses `now`.
    public init(
        authentication: Authentication,
        stores: any AccountStores,
        gate: HashingGate,
        policy: PasswordPolicy,
        audit: (any AuditNoting)? = nil,
        now: @escaping @Sendable () -> Date,
        steady: (@Sendable () -> Date)? = nil
    ) {
        self.authentication = authentication
        self.stores = stores
        self.gate = gate
        self.policy = policy
        self.audit = audit
        self.now = now
        self.steady = steady ?? now
    }

    /// Queues an email with a link that verifies an address. The method doesn't look up an account, so it takes the same time for every
    /// address.
    /// - Parameters:
    ///   - email: The address to verify. If the address has no account, or if it is already verified, the worker sends no email.
    ///   - language: The language of the email.
    /// - Throws: ``StoreFailure``. If the method returns without an error, the request survives a crash.
    public func requestVerification(of email: EmailAddress, language: Language) async throws {
        try await stores.intents.enqueue(MailIntent(subject: .verification(email), language: language, createdAt: steady()))
    }

    /// Returns the account that a link changes, and the link. Changes nothing.
    ///
    /// Use this method to show a page. Also use it before a link is consumed, to count the attempt for a rate limit of the account.
    /// - Parameters:
    ///   - token: The token of the link.
    ///   - purpose: The purpose of the page or route. The method refuses a link with another purpose.
    /// - Throws: ``AccountError`` with the code `AUTH_RESET_TOKEN_INVALID` if the link can't be used for the purpose.
    public func find(_ token: ResetToken, for purpose: AccountLink.Purpose) async throws -> (link: StoredLink, account: Account) {
        let digest = TokenDigest(of: token.rawValue)
        guard let record = try await stores.records.find(digest, at: now())?.record,
            let link = record.link(digest, purpose, at: now())
        else {
            throw AccountError.resetTokenInvalid
        }
        return (link, record.account)
    }

    /// Verifies the address of an account. Sessions continue, except with ``AccountProof/newPassword(_:)``.
    /// - Parameters:
    ///   - token: The token of the link. It is consumed if the call succeeds.
    ///   - proof: The proof that the caller owns the account.
    /// - Throws: ``AccountError`` with the code `AUTH_RESET_TOKEN_INVALID`, `AUTH_INVALID_CREDENTIALS`, `AUTH_WEAK_PASSWORD`,
    ///   `SERVER_SERVICE_UNAVAILABLE`, or a code for an invalid access token; ``StoreFailure``.
    public func verify(_ token: ResetToken, by proof: AccountProof) async throws {
        let (link, account) = try await find(token, for: .verifyEmail)
        if case .newPassword(let password) = proof {
            try policy.require(password, email: account.email, firstName: account.firstName)
            let hash = try await gate.hash(password, as: .entitled)
            let confirmation = MailIntent(subject: .passwordChanged(account.id), language: account.language, createdAt: steady())
            try await change(account) { [now] record in
                try record.verify(by: link.digest, settingPassword: hash, confirmation: confirmation, at: now())
            }
            audit?.note(.passwordReset, of: account.id)
        } else {
            _ = try await require(proof, of: account)
            try await change(account) { [now] in try $0.verify(by: link.digest, at: now()) }
        }
        audit?.note(.emailVerified, of: account.id)
    }

    /// Changes the address of an account to the address that a link was sent to. All sessions end, except the caller's session. The former
    /// address gets a notice with a link that restores this address.
    /// - Parameters:
    ///   - token: The token of the link. It is consumed if the call succeeds.
    ///   - proof: The session or the password of the account. If the proof is a session, this session continues.
    /// - Throws: ``AccountError`` like ``verify(_:by:)``. If another account has the address now, the link is invalid.
    public func confirmEmail(_ token: ResetToken, by proof: AccountProof) async throws {
        let (link, account) = try await find(token, for: .confirmEmail)
        let session = try await require(proof, of: account)
        do {
            try await change(account) { [now, steady] record in
                try record.changeEmail(by: link.digest, keeping: session, at: now(), queueTime: steady())
            }
        } catch let error as AccountError where error == .emailExists {
            throw AccountError.resetTokenInvalid
        }
        audit?.note(.emailChanged, of: account.id)
    }

    /// Restores the former address that a link was sent to. The method also undoes later changes of the address and a deletion of the
    /// account. It ends all sessions, and the next sign-in needs a password reset.
    ///
    /// No proof is needed besides the link. The owner of the former address must be able to recover the account even if an intruder has
    /// changed the password and the address.
    /// - Parameter token: The token of the link.
    /// - Throws: ``AccountError`` with the code `AUTH_RESET_TOKEN_INVALID`; ``StoreFailure``.
    public func undoEmail(_ token: ResetToken) async throws {
        let (link, account) = try await find(token, for: .undoEmail)
        do {
            try await change(account) { [now] in try $0.undoEmail(by: link.digest, at: now()) }
        } catch let error as AccountError where error == .emailExists {
            throw AccountError.resetTokenInvalid
        }
        audit?.note(.emailRestored, of: account.id)
    }

    /// Restores a deleted account. The password is unchanged. The sessions that the deletion ended don't continue.
    /// - Parameter token: The token of the link in the notice of the deletion.
    /// - Throws: ``AccountError`` with the code `AUTH_RESET_TOKEN_INVALID`; ``StoreFailure``.
    public func keepAccount(_ token: ResetToken) async throws {
        let (link, account) = try await find(token, for: .keepAccount)
        // If the address is not verified, the account may have been unused for so long that `AccountPurge` would remove it directly after
        // its restoration. The use is recorded first, so that a crash between the two steps doesn't lose the account.
        if !account.isEmailVerified { try await stores.records.noteActivity(of: account.id, at: now()) }
        try await change(account) { [now] in try $0.keep(by: link.digest, at: now()) }
        audit?.note(.restored, of: account.id)
    }

    /// Checks that the caller owns an account.
    /// - Returns: The session of the caller; `nil` if the caller gave the password.
    private func require(_ proof: AccountProof, of account: Account) async throws -> StoredSession.ID? {
        switch proof {
        case .session(let token):
            let caller = try await authentication.signedIn(accessToken: token)
            // A session of another account proves nothing. The link isn't consumed, so the owner of the account can still use the link.
            guard caller.account.id == account.id else { throw AccountError.resetTokenInvalid }
            return caller.session
        case .password(let password), .newPassword(let password):
            try await authentication.requirePassword(password, of: account)
            return nil
        }
    }

    private func change(_ account: Account, _ body: @escaping @Sendable (inout AccountRecord) throws -> Void) async throws {
        guard try await stores.records.change(account.id, at: now(), body) != nil else { throw AccountError.resetTokenInvalid }
    }
}

/// The proof that the recipient of a link owns the account that the link changes.
public enum AccountProof: Sendable {
    /// The access token of a session of the account.
    case session(accessToken: String)
    /// The current password of the account.
    case password(Password)
    /// No proof. Instead, the recipient chooses a new password, and all sessions end, as with a password reset. Use it only with
    /// ``AccountLinks/verify(_:by:)``. ``AccountLinks/confirmEmail(_:by:)`` checks the password as the current one.
    case newPassword(Password)
}
