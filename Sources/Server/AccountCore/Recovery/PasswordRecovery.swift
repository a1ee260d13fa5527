public import AccountContract
public import ErrorContract
public import Foundation

/// Resets passwords: queues the email with a link, validates the token of the link, and sets the new password.
///
/// ``request(email:language:)`` only adds an entry to the email queue, and ``MailWorker`` sends the email later.
/// `confirm` hashes a password, which takes tens of milliseconds. ``validate(_:email:)`` only reads the store.
public struct PasswordRecovery: Sendable {
    /// The number by which a reset increases the epoch of the account.
    ///
    /// The new epoch is chosen before the password is stored. Meanwhile, other changes, such as a change of the password by a signed-in
    /// user, can increase the epoch by 1 each. The new epoch must also be higher than theirs, so that the device token of the reset is
    /// valid.
    private static let epochStep = 100

    private let stores: any AccountStores
    private let gate: HashingGate
    private let devices: DeviceTokens
    private let policy: PasswordPolicy
    private let audit: (any AuditNoting)?
    private let metrics: AccountMetrics
    private let now: @Sendable () -> Date
    private let steady: @Sendable () -> Date

    /// Creates the service.
    /// - Parameters:
    ///   - stores: The stores of accounts.
    ///   - gate: Hashes new passwords.
    ///   - devices: Recognizes devices that signed in before.
    ///   - policy: Decides which passwords are accepted.
    ///   - audit: Records the events of accounts; `nil` records none.
    ///   - metrics: Counts resets.
    ///   - now: The wall clock.
    ///   - steady: The clock of the email queue, which doesn't jump when the wall clock is set; `nil` uses `now`.
    public init(
        stores: any AccountStores,
        gate: HashingGate,
        devices: DeviceTokens,
        policy: PasswordPolicy,
        audit: (any AuditNoting)? = nil,
        metrics: AccountMetrics = AccountMetrics(),
        now: @escaping @Sendable () -> Date,
        steady: (@Sendable () -> Date)? = nil
    ) {
        self.stores = stores
        self.gate = gate
        self.devices = devices
        self.policy = policy
        self.audit = audit
        self.metrics = metrics
        self.now = now
        self.steady = steady ?? now
    }

    /// Queues a reset email for an address. The method doesn't look up the account, so it takes the same time for known and unknown
    /// addresses. It doesn't wait for the email server either.
    /// - Parameters:
    ///   - email: The address.
    ///   - language: The language of the email.
    /// - Throws: ``StoreFailure``. If the method returns without an error, the request survives a crash.
    public func request(email: EmailAddress, language: Language) async throws {
        let intent = MailIntent(subject: .passwordReset(email), language: language, createdAt: steady())
        try await stores.intents.enqueue(intent)
        metrics.count(.requested)
    }

    /// Returns the account whose password a token can reset. Changes nothing.
    /// - Parameters:
    ///   - token: The token of the link.
    ///   - email: The address in the link. If it is not `nil`, it must be the address of the account.
    /// - Returns: The account, and the time at which the token expires.
    /// - Throws: ``AccountError`` with the code `AUTH_RESET_TOKEN_INVALID`; ``StoreFailure``.
    public func validate(_ token: ResetToken, email: EmailAddress?) async throws -> (account: Account, expiresAt: Date) {
        let found = try await metrics.watching(.validate) {
            await hasExpired(token)
        } _: {
            try await find(token, email: email)
        }
        metrics.count(.validated)
        return (found.account, found.token.expiresAt)
    }

    /// Sets a new password with the token of a reset link. All sessions of the account end, and a locked account is unlocked.
    ///
    /// If several calls use one token at the same time, exactly one of them succeeds.
    /// - Parameters:
    ///   - token: The token of the link.
    ///   - email: The address in the link. If it is not `nil`, it must be the address of the account.
    ///   - newPassword: The new password, which the policy checks.
    ///   - commit: A closure that must call its second argument and return the result. The second argument writes the new password to the
    ///     store. The first argument is the device token that this method returns. With this token, the closure can create the response
    ///     before the write, and store the response and the password in one transaction.
    /// - Returns: The device token of the caller. All earlier device tokens of the account are invalid.
    /// - Throws: ``AccountError`` with the code `AUTH_WEAK_PASSWORD`, `AUTH_RESET_TOKEN_INVALID` or `SERVER_SERVICE_UNAVAILABLE`;
    ///   ``StoreFailure``. After `AUTH_WEAK_PASSWORD`, the token can be used again.
    @discardableResult
    public func confirm(
        _ token: ResetToken,
        email: EmailAddress?,
        newPassword: Password,
        committing commit: (DeviceToken, () async throws -> Bool) async throws -> Bool = { try await $1() }
    ) async throws -> DeviceToken {
        let device = try await metrics.watching(.confirm) {
            await hasExpired(token)
        } _: {
            try await consume(token, email: email, newPassword: newPassword, committing: commit)
        }
        metrics.count(.confirmed)
        return device
    }

    /// Checks the password and the token, and sets the new password.
    ///
    /// The method checks the password twice. The first check comes before the method reads the token, so the method refuses a weak password
    /// even with an invalid token. The second check comes after that, and also compares the password with the address and the name of the
    /// account. The method hashes the password only if the token is valid.
    private func consume(
        _ token: ResetToken,
        email: EmailAddress?,
        newPassword: Password,
        committing commit: (DeviceToken, () async throws -> Bool) async throws -> Bool
    ) async throws -> DeviceToken {
        try policy.require(newPassword, email: email, firstName: nil)
        let account = try await find(token, email: email).account
        try policy.require(newPassword, email: account.email, firstName: account.firstName)
        let hash = try await gate.hash(newPassword, as: .entitled)
        let confirmation = MailIntent(subject: .passwordChanged(account.id), language: account.language, createdAt: steady())
        let digest = TokenDigest(of: token.rawValue)
        // The write increases the epoch of the account, which invalidates all earlier device tokens. So the new device token is created
        // with the new epoch.
        var confirmed = account
        confirmed.epoch += Self.epochStep
        let (device, epoch) = (devices.issue(for: confirmed, device: UUID(), at: now()), confirmed.epoch)
        let isConfirmed = try await commit(device) {
            try await stores.resetTokens.confirm(digest, passwordHash: hash, epoch: epoch, confirmation: confirmation, at: now())
        }
        guard isConfirmed else { throw AccountError.resetTokenInvalid }
        audit?.note(.passwordReset, of: account.id)
        if account.state == .locked { audit?.note(.recovered, of: account.id) }
        return device
    }

    /// Returns the stored token with the account that it can reset. The method throws if the token is invalid, or if `email` is neither
    /// `nil` nor the address of the account.
    private func find(
        _ token: ResetToken,
        email: EmailAddress?
    ) async throws -> (token: StoredResetToken, account: Account) {
        guard let found = try await stores.resetTokens.find(TokenDigest(of: token.rawValue), at: now()),
            email == nil || email == found.account.email
        else { throw AccountError.resetTokenInvalid }
        return found
    }

    /// Returns whether an invalid token was valid earlier and has expired. Only metrics use the result. If the store fails, returns
    /// `false`.
    private func hasExpired(_ token: ResetToken) async -> Bool {
        (try? await stores.resetTokens.hasExpired(TokenDigest(of: token.rawValue), at: now())) ?? false
    }
}

/// The lifetimes of emailed links, and the number of valid reset links per account.
public struct RecoveryRules: Hashable, Sendable {
    /// The lifetime of a reset link.
    public let linkLifetime: Duration
    /// The largest number of valid reset links of one account. With 1, only the newest link is valid.
    public let liveLinks: Int

    /// The lifetime of a link that verifies an address, creates an account or confirms a new address.
    public let confirmationLifetime: Duration = .seconds(86_400)
    /// The lifetime of the link "this was not me", with which a user locks the account.
    public let accountLockLifetime: Duration = .seconds(7 * 86_400)

    /// Creates rules.
    /// - Parameters:
    ///   - linkLifetime: The lifetime of a reset link.
    ///   - liveLinks: The largest number of valid reset links of one account.
    /// - Precondition: Both values are positive.
    public init(linkLifetime: Duration = .seconds(3_600), liveLinks: Int = 3) {
        precondition(linkLifetime > .zero, "linkLifetime must be positive (is \(linkLifetime))")
        precondition(liveLinks > 0, "liveLinks must be positive (is \(liveLinks))")
        self.linkLifetime = linkLifetime
        self.liveLinks = liveLinks
    }
}
