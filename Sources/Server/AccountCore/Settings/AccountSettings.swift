public import AccountContract
public import ErrorContract
public import Foundation

/// Makes the changes that a signed-in user requests: password, address, name, sessions and deletion. It also exports the account's data.
///
/// An intruder may have stolen the access token. Therefore, a change that would help an intruder to take over the account also needs the
/// password.
public struct AccountSettings: Sendable {
    private let authentication: Authentication
    private let stores: any AccountStores
    private let gate: HashingGate
    private let policy: PasswordPolicy
    /// The time between the deletion of an account and its removal.
    private let deletionGrace: Duration
    private let audit: (any AuditNoting)?
    private let now: @Sendable () -> Date
    private let steady: @Sendable () -> Date

    /// Creates the service.
    /// - Parameters:
    ///   - authentication: Checks passwords and opens sessions.
    ///   - stores: The stores of accounts.
    ///   - gate: Hashes passwords.
    ///   - policy: Decides which passwords are accepted.
    ///   - deletionGrace: The time between the deletion of an account and its removal; 0 removes it immediately.
    ///   - audit: Records the events of accounts; `nil` records none.
    ///   - now: The wall clock.
    ///   - steady: The clock of the email queue, which doesn't jump when the wall clock is set; `nil` uses `now`.
    public init(
        authentication: Authentication,
        stores: any AccountStores,
        gate: HashingGate,
        policy: PasswordPolicy,
        deletionGrace: Duration = .seconds(7 * 86_400),
        audit: (any AuditNoting)? = nil,
        now: @escaping @Sendable () -> Date,
        steady: (@Sendable () -> Date)? = nil
    ) {
        self.authentication = authentication
        self.stores = stores
        self.gate = gate
        self.policy = policy
        self.deletionGrace = deletionGrace
        self.audit = audit
        self.now = now
        self.steady = steady ?? now
    }

    /// Sets a new password. All sessions end, and the caller gets a new session.
    /// - Parameters:
    ///   - caller: The signed-in account and its session.
    ///   - current: The current password, as the user typed it.
    ///   - new: The new password, which the policy checks.
    ///   - device: The device, for the list of sessions.
    ///   - report: A closure that the method calls exactly once with the result of the password check, as soon as the result is known. The
    ///     method calls it even if the caller is canceled. If the new password is weak, the current one is not checked.
    /// - Returns: The account and the tokens of the new session. Send them to the caller, whose earlier tokens are invalid now.
    /// - Throws: ``AccountError`` with the code `AUTH_INVALID_CREDENTIALS`, `AUTH_WEAK_PASSWORD` or `SERVER_SERVICE_UNAVAILABLE`;
    ///   ``StoreFailure``. If the store is busy after the password was stored, the outcome of the failure is unknown.
    public func changePassword(
        of caller: SignedIn,
        from current: Password,
        to new: Password,
        on device: ClientDevice = ClientDevice(),
        reportingCheck report: (Authentication.PasswordCheck) async -> Void = { _ in }
    ) async throws -> Authentication.Opened {
        let account = caller.account
        do {
            try policy.require(new, email: account.email, firstName: account.firstName)
        } catch {
            await report(.notMade)
            throw error
        }
        try await authentication.requirePassword(current, of: account, reportingCheck: report)
        let hash = try await gate.hash(new, as: .entitled)
        let confirmation = MailIntent(subject: .passwordChanged(account.id), language: account.language, createdAt: steady())
        let changed = try await change(caller) { record in
            record.setPassword(hash, confirmation: confirmation)
            return record.account
        }
        audit?.note(.passwordChanged, of: account.id)
        return try await authentication.openAfterChange(changed, on: device)
    }

    /// Queues an email to the new address, with a link that changes the address of the account. The result does not depend on whether
    /// another account has the address.
    ///
    /// The address of the account changes only when the recipient of the email confirms the new address with
    /// ``AccountLinks/confirmEmail(_:by:)``.
    /// - Parameters:
    ///   - caller: The signed-in account.
    ///   - email: The new address.
    ///   - password: The current password, as the user typed it.
    ///   - report: A closure that the method calls exactly once with the result of the password check, as soon as the result is known. The
    ///     method calls it even if the caller is canceled.
    /// - Throws: ``AccountError`` with the code `AUTH_INVALID_CREDENTIALS` or `SERVER_SERVICE_UNAVAILABLE`; ``StoreFailure``.
    public func requestEmailChange(
        of caller: SignedIn,
        to email: EmailAddress,
        password: Password,
        reportingCheck report: (Authentication.PasswordCheck) async -> Void = { _ in }
    ) async throws {
        let account = caller.account
        try await authentication.requirePassword(password, of: account, reportingCheck: report)
        let intent = MailIntent(subject: .emailChange(account.id, to: email), language: account.language, createdAt: steady())
        try await stores.intents.enqueue(intent)
        audit?.note(.emailChangeRequested, of: account.id)
    }

    /// Changes the name, the language, or both.
    ///
    /// The password isn't needed, because an intruder can't take over an account with these values.
    /// - Parameters:
    ///   - caller: The signed-in account and its session.
    ///   - firstName: The new name; `nil` leaves it unchanged.
    ///   - language: The new language of emails; `nil` leaves it unchanged.
    /// - Returns: The changed account.
    public func update(_ caller: SignedIn, firstName: FirstName?, language: Language?) async throws -> Account {
        let account = try await change(caller) { record in
            record.update(firstName: firstName, language: language)
            return record.account
        }
        audit?.note(.profileChanged, of: account.id)
        return account
    }

    /// Returns the 100 most recently used sessions of the account. The session with the newest use comes first.
    public func sessions(of caller: SignedIn) async throws -> [SessionUse] {
        try await stores.sessions.sessions(of: caller.account.id, limit: 100)
    }

    /// Ends a session of the account. A session of another account is left unchanged.
    ///
    /// If no session has the id, the method doesn't throw. So the result doesn't disclose whether a session exists.
    /// - Parameters:
    ///   - id: The session to end. It may be the caller's own session.
    ///   - caller: The signed-in account.
    /// - Throws: ``StoreFailure``.
    public func endSession(_ id: StoredSession.ID, of caller: SignedIn) async throws {
        if try await stores.sessions.end(id, of: caller.account.id) { audit?.note(.sessionsEnded, of: caller.account.id) }
    }

    /// Ends all sessions of the account except the caller's. The refresh tokens of the ended sessions become invalid. Servers that read the
    /// store also refuse the access tokens of these sessions.
    /// - Throws: ``StoreFailure``.
    public func endOtherSessions(of caller: SignedIn) async throws {
        try await stores.sessions.endAll(of: caller.account.id, except: caller.session)
        audit?.note(.sessionsEnded, of: caller.account.id)
    }

    /// Deletes the account. All sessions end immediately. The user receives an email with a link that restores the account.
    ///
    /// Until the account is removed, it can't be used, and its address stays taken. ``AccountPurge`` removes it after the grace time.
    /// - Parameters:
    ///   - caller: The signed-in account and its session.
    ///   - password: The current password, as the user typed it.
    ///   - report: A closure that the method calls exactly once with the result of the password check, as soon as the result is known. The
    ///     method calls it even if the caller is canceled.
    /// - Returns: The time at which the account is removed with its data.
    /// - Throws: ``AccountError`` with the code `AUTH_INVALID_CREDENTIALS` or `SERVER_SERVICE_UNAVAILABLE`; ``StoreFailure``.
    public func delete(
        _ caller: SignedIn,
        password: Password,
        reportingCheck report: (Authentication.PasswordCheck) async -> Void = { _ in }
    ) async throws -> Date {
        try await authentication.requirePassword(password, of: caller.account, reportingCheck: report)
        let purgeAt = try await change(caller) { [deletionGrace, now, steady] record in
            record.delete(grace: deletionGrace, at: now(), queueTime: steady())
        }
        audit?.note(.deleted, of: caller.account.id)
        return purgeAt
    }

    /// Returns everything that is stored about the account, except links that confirm a new address.
    ///
    /// The result contains all events of the account, so don't call this method often: the account routes allow a few exports per day.
    /// - Parameters:
    ///   - caller: The signed-in account.
    ///   - password: The current password, as the user typed it.
    ///   - report: A closure that the method calls exactly once with the result of the password check, as soon as the result is known. The
    ///     method calls it even if the caller is canceled.
    /// - Throws: ``AccountError`` with the code `AUTH_INVALID_CREDENTIALS` or `SERVER_SERVICE_UNAVAILABLE`; ``StoreFailure``.
    public func export(
        _ caller: SignedIn,
        password: Password,
        reportingCheck report: (Authentication.PasswordCheck) async -> Void = { _ in }
    ) async throws -> AccountExport {
        let id = caller.account.id
        try await authentication.requirePassword(password, of: caller.account, reportingCheck: report)
        guard var record = try await stores.records.record(of: id, at: now()) else { throw AccountError.sessionExpired }
        // If another account has the new address, the server doesn't store a link that confirms it. So an export with these links would
        // reveal whether another account has the address.
        record.links.removeAll { $0.purpose == .confirmEmail }
        let export = AccountExport(
            record: record,
            sessions: try await stores.sessions.sessions(of: id, limit: .max),
            devices: try await stores.records.devices(of: id),
            resetLinks: try await stores.resetTokens.tokens(of: id),
            events: try await stores.audit.events(of: id, limit: .max),
            remainder: try await stores.records.remainder(of: record.account),
            exportedAt: now()
        )
        audit?.note(.exported, of: id)
        return export
    }

    /// Changes the caller's account, with its links and former addresses, in one transaction. If all sessions have ended since the check of
    /// the access token, for example because of a reset, the method throws.
    private func change<Value: Sendable>(
        _ caller: SignedIn,
        _ body: @escaping @Sendable (inout AccountRecord) throws -> Value
    ) async throws -> Value {
        let changed = try await stores.records.change(caller.account.id, at: now()) { record in
            // After the check of the access token, a reset, a lock or a deletion may have ended the session.
            guard record.account.epoch == caller.account.epoch, record.account.isUsable else { throw AccountError.sessionExpired }
            return try body(&record)
        }
        guard let changed else { throw AccountError.sessionExpired }
        return changed
    }
}

/// Everything that is stored about an account, for its user.
public struct AccountExport: Sendable {
    /// The account, its former addresses and its links.
    public let record: AccountRecord
    /// The sessions.
    public let sessions: [SessionUse]
    /// The families of the devices that have signed in, such as `iPhone`, with the time of the first sign-in.
    public let devices: [(family: String, firstSeenAt: Date)]
    /// The reset links.
    public let resetLinks: [StoredResetToken]
    /// The events.
    public let events: [AuditEvent]
    /// All other stored data.
    public let remainder: AccountRemainder
    /// The time of the export.
    public let exportedAt: Date
}
