public import AccountContract
import ErrorContract
public import Foundation
public import Logging
import Observability

/// Signs users in and out, refreshes sessions, and identifies the callers of requests. ``Registration`` creates accounts.
///
/// Signing in verifies a password hash, which takes tens of milliseconds on the threads of a ``HashingGate``. ``account(accessToken:)``
/// only verifies a signature and reads the session and its account.
///
/// This service doesn't apply rate limits. The caller of ``signIn(email:password:on:reportingCheck:)`` counts the attempt before the call.
/// Afterwards, the caller refunds some of the limits, depending on the reported result of the password check. Several tasks can call all
/// methods at the same time.
public struct Authentication: Sendable {
    /// A signed-in account and the tokens for its client.
    public struct Opened: Sendable {
        /// The account.
        public let account: Account
        /// The signed token that authenticates requests.
        public let accessToken: String
        /// The token with which the client can refresh the session once.
        public let refreshToken: SecretToken
        /// The token that the client sends with its next sign-in.
        public let deviceToken: DeviceToken
    }

    /// The result of checking the password of a sign-in.
    public enum PasswordCheck: Hashable, Sendable {
        /// The password was not checked: the lookup of the account failed, the attempt was canceled, or too many callers were waiting for a
        /// password hash.
        case notMade
        /// The password is wrong, or there is no account.
        case wrong
        /// The password is right, whether or not the account may be used.
        case right
    }

    private let stores: any AccountStores
    private let gate: HashingGate
    private let tokens: AccessTokens
    private let devices: DeviceTokens
    private let signInRules: SignInRules
    private let audit: (any AuditNoting)?
    private let metrics: AccountMetrics
    /// The lifetimes of sessions.
    public let rules: SessionRules
    private let now: @Sendable () -> Date
    private let steady: @Sendable () -> Date
    private let logger: Logger

    /// Creates the service.
    /// - Parameters:
    ///   - stores: The stores of accounts.
    ///   - gate: Hashes passwords. It limits the number of concurrent hashes.
    ///   - tokens: Signs access tokens.
    ///   - devices: Recognizes devices that signed in before.
    ///   - signInRules: The accounts that may sign in, and the emails about sign-ins.
    ///   - rules: The lifetimes of sessions.
    ///   - audit: Records the events of accounts; `nil` records none.
    ///   - metrics: Counts the outcomes of sign-ins.
    ///   - now: The wall clock.
    ///   - steady: The clock of sessions and their refresh tokens, which doesn't jump when the wall clock is set; `nil` uses `now`.
    ///   - logger: Reports failures that don't fail a request.
    public init(
        stores: any AccountStores,
        gate: HashingGate,
        tokens: AccessTokens,
        devices: DeviceTokens,
        signInRules: SignInRules = SignInRules(),
        rules: SessionRules = SessionRules(),
        audit: (any AuditNoting)? = nil,
        metrics: AccountMetrics = AccountMetrics(),
        now: @escaping @Sendable () -> Date,
        steady: (@Sendable () -> Date)? = nil,
        logger: Logger = Logger(label: "holdfast.sessions")
    ) {
        self.stores = stores
        self.gate = gate
        self.tokens = tokens
        self.devices = devices
        self.signInRules = signInRules
        self.rules = rules
        self.audit = audit
        self.metrics = metrics
        self.now = now
        self.steady = steady ?? now
        self.logger = logger
    }

    /// Returns the id of the device of a client, if one of the client's device tokens is valid for an address. A device token proves that a
    /// device has signed in to an account before; see ``DeviceTokens``.
    ///
    /// The method ignores a token that belongs to another account, or that is expired, invalid or forged. It looks up accounts only by the
    /// ids in valid tokens. It never looks up the account of the address, so the time of the call doesn't disclose whether the address has
    /// an account.
    /// - Returns: The id of the device, or `nil` if no token is valid for the account of the address.
    public func device(provenBy candidates: [DeviceToken], for email: EmailAddress) async throws -> UUID? {
        for candidate in candidates {
            guard let claims = devices.read(candidate, at: now()),
                let account = try await stores.accounts.account(id: claims.accountID),
                account.email == email, claims.belong(to: account)
            else { continue }
            return claims.deviceID
        }
        return nil
    }

    /// Throws if the server is too busy to check the password of a sign-in. Call this method first, so that a refused sign-in causes no
    /// other work.
    /// - Throws: ``AccountError`` with the code `SERVER_SERVICE_UNAVAILABLE`.
    public func requireRoom() throws(AccountError) {
        do {
            try gate.requireRoom()
        } catch {
            metrics.refusedLoginEarly()
            throw error
        }
    }

    /// Signs in. The method does the same work for a wrong password and for a missing account. It discloses the state of the account only
    /// to a caller with the right password.
    ///
    /// - Returns: The account and the tokens of a new session.
    /// - Parameters:
    ///   - email: The address of the account.
    ///   - password: The password as the user typed it.
    ///   - device: The device, for the list of sessions and for the email about a new device.
    ///   - report: A closure that the method calls exactly once with the result of the password check. The method calls it as soon as the
    ///     result is known, even if the caller is canceled.
    /// - Throws: ``AccountError`` with the code `AUTH_INVALID_CREDENTIALS`, `AUTH_USER_INACTIVE`, `AUTH_USER_SUSPENDED`,
    ///   `AUTH_ACCOUNT_DELETED`, `AUTH_EMAIL_NOT_VERIFIED` or `SERVER_SERVICE_UNAVAILABLE`.
    public func signIn(
        email: EmailAddress,
        password: Password,
        on device: ClientDevice = ClientDevice(),
        reportingCheck report: (PasswordCheck) async -> Void = { _ in }
    ) async throws -> Opened {
        try await metrics.watchingLogin { try await openSession(email: email, password: password, on: device, report) }
    }

    /// Checks the password of an account that a session or a link has identified already.
    /// - Parameters:
    ///   - password: The password as the user typed it.
    ///   - account: The account.
    ///   - report: A closure that the method calls exactly once with the result of the check, even if the caller is canceled.
    /// - Throws: ``AccountError`` with the code `AUTH_INVALID_CREDENTIALS` or `SERVER_SERVICE_UNAVAILABLE`; `CancellationError`.
    func requirePassword(
        _ password: Password,
        of account: Account,
        reportingCheck report: (PasswordCheck) async -> Void = { _ in }
    ) async throws {
        guard try await check(password, of: account.email, report, finding: { account }).isRight else {
            audit?.note(.signInFailed, of: account.id)
            throw AccountError.invalidCredentials
        }
    }

    /// Finds the account of an address, checks the password, and reports the result of the check.
    private func check(
        _ password: Password,
        of email: EmailAddress,
        _ report: (PasswordCheck) async -> Void,
        finding find: () async throws -> Account?
    ) async throws -> (account: Account?, isRight: Bool) {
        let result: (account: Account?, isRight: Bool)
        do {
            let account = try await find()
            // If this line throws, the password was not checked.
            result = (account, try await gate.verify(password, against: account?.passwordHash, of: email.normalized))
        } catch {
            await report(.notMade)
            throw error
        }
        await report(result.isRight ? .right : .wrong)
        return result
    }

    /// Checks the password and the state of the account, and opens a session. If the stored hash has other parameters than new hashes, the
    /// method also replaces the hash.
    private func openSession(
        email: EmailAddress,
        password: Password,
        on device: ClientDevice,
        _ report: (PasswordCheck) async -> Void
    ) async throws -> Opened {
        let (account, isRight) = try await check(password, of: email, report) { try await stores.accounts.account(email: email) }
        guard isRight, let account else {
            if let account { audit?.note(.signInFailed, of: account.id) }
            throw AccountError.invalidCredentials
        }
        guard account.isUsable else {
            audit?.note(.signInRefused, of: account.id)
            throw AccountError.outOfUse(account)
        }
        guard account.isEmailVerified || !signInRules.requiresVerifiedEmail else {
            audit?.note(.signInRefused, of: account.id)
            throw AccountError.emailNotVerified
        }
        if gate.needsRehash(account.passwordHash) {
            try await stores.accounts.rehash(
                account.id,
                from: account.passwordHash,
                to: try await gate.hash(password, as: .entitled)
            )
            audit?.note(.hashUpgraded, of: account.id)
        }
        let opened = try await open(account, on: device)
        audit?.note(.signedIn, of: account.id)
        return opened
    }

    /// Refreshes a session: uses up a refresh token and returns new tokens.
    ///
    /// If the token was used before, the method ends the session. There is one exception, because the response to the first use may have
    /// been lost. The method accepts the token again within ``SessionRules/repeatWindow``, unless the client has already used a token that
    /// replaced it; see ``SessionStore/rotate(_:to:at:rules:)``.
    ///
    /// - Parameter token: The refresh token, as the client sent it.
    /// - Returns: The account and new tokens. The access token has the present epoch of the account.
    /// - Throws: ``AccountError`` with the code `AUTH_REFRESH_FAILED` if the token is unknown or was used before, or if the account is
    ///   deleted or not active; `AUTH_SESSION_EXPIRED` if the session was idle for too long or has reached its longest lifetime.
    public func refresh(_ token: RefreshToken) async throws -> Opened {
        let next = SecretToken()
        let outcome = try await stores.sessions.rotate(
            TokenDigest(of: token.rawValue),
            to: next.digest,
            at: steady(),
            rules: rules
        )
        switch outcome {
        case .expired: throw AccountError.sessionExpired
        case .refused: throw AccountError.refreshFailed
        case .reused(let session):
            audit?.note(.refreshReused, of: session.accountID)
            throw AccountError.refreshFailed
        case .rotated(let session):
            guard let account = try await stores.accounts.account(id: session.accountID), account.isUsable else {
                throw AccountError.refreshFailed
            }
            // The presented token is used up already. If this step failed the refresh, the client would lose its session unless it repeated
            // the request within the repeat window.
            do {
                try await noteActivity(of: account)
            } catch {
                logger.warning("Account activity not recorded", metadata: .failure(error, ["account.id": "\(account.id)"]))
            }
            return try await opened(account, session: session.id, refresh: next)
        }
    }

    /// Ends a session. If the token is unknown or its session has ended, nothing happens.
    public func signOut(_ token: RefreshToken) async throws {
        try await stores.sessions.end(refresh: TokenDigest(of: token.rawValue))
    }

    /// Returns the account of an access token.
    ///
    /// The method reads the account and the session each time, so the end of a session and a changed password take effect immediately. If a
    /// service may accept tokens of ended sessions until the tokens expire, it can verify tokens with `TokenVerifier`, which needs no
    /// store.
    /// - Throws: ``AccountError`` with the code `AUTH_TOKEN_INVALID`, `AUTH_TOKEN_EXPIRED` or `AUTH_SESSION_EXPIRED`.
    public func account(accessToken: String) async throws -> Account { try await signedIn(accessToken: accessToken).account }

    /// Returns the account and the session of an access token. It makes the same checks as ``account(accessToken:)`` and throws the same
    /// errors.
    public func signedIn(accessToken: String) async throws -> SignedIn {
        let claims = try await tokens.read(accessToken, at: now())
        guard let account = try await stores.accounts.account(id: claims.accountID), account.epoch == claims.epoch,
            account.isUsable, try await stores.sessions.isAlive(claims.sessionID)
        else { throw AccountError.sessionExpired }
        return SignedIn(account: account, session: claims.sessionID)
    }

    /// Opens a session for an account whose password was checked. If the epoch of the account has changed since the check, for example
    /// because of a password reset, the method throws.
    func open(_ account: Account, on device: ClientDevice) async throws -> Opened {
        let refresh = SecretToken()
        let session = StoredSession(
            id: StoredSession.ID(rawValue: UUID()),
            accountID: account.id,
            createdAt: steady(),
            deviceName: device.name
        )
        do {
            guard try await stores.sessions.open(session, refresh: refresh.digest, epoch: account.epoch) else {
                throw AccountError.invalidCredentials
            }
            try await noteActivity(of: account)
            if let family = device.family { try await noteDevice(family, of: account) }
            return try await opened(account, session: session.id, refresh: refresh)
        } catch {
            // The client gets no token of the session.
            await end(refresh, of: account)
            throw error
        }
    }

    /// Ends a session whose tokens no client gets. If the store fails, the session stays in the user's list until it expires.
    private func end(_ refresh: SecretToken, of account: Account) async {
        // The session must end also if the task of the request was canceled.
        let ending = Task { [stores] in try await stores.sessions.end(refresh: refresh.digest) }
        guard case .failure(let error) = await ending.result else { return }
        logger.warning("Unused session not ended", metadata: .failure(error, ["account.id": "\(account.id)"]))
    }

    /// Opens a session for an account that the caller has just created or changed.
    ///
    /// The failure of a busy store means that nothing was changed. Here, the earlier change remains, and a second request would be refused.
    /// Therefore, the method reports this failure as an unknown outcome, so that clients ask the user or read the state.
    func openAfterChange(_ account: Account, on device: ClientDevice) async throws -> Opened {
        do {
            return try await open(account, on: device)
        } catch let failure as StoreFailure where failure.isBusy {
            throw StoreFailure(isBusy: true, isOutcomeUnknown: true, message: failure.message)
        }
    }

    /// Records the use of an unverified account, so that ``AccountPurge`` doesn't remove the account as unused.
    private func noteActivity(of account: Account) async throws {
        if !account.isEmailVerified { try await stores.records.noteActivity(of: account.id, at: now()) }
    }

    /// Records the family of a device, such as `iPhone`. If the user has signed in before, but only from devices of other families, the
    /// method queues an email to the user.
    ///
    /// One transaction stores the family and the email. In separate transactions, a crash or a cancellation between them would lose the
    /// email, because the next sign-in finds a known family.
    private func noteDevice(_ family: String, of account: Account) async throws {
        let subject = MailIntent.Subject.newDevice(account.id, family: family)
        let notice = MailIntent(subject: subject, language: account.language, createdAt: steady())
        let isNew = try await stores.records.noteDevice(
            family: family,
            of: account.id,
            at: now(),
            notice: signInRules.sendsNewDeviceEmails ? notice : nil
        )
        if isNew { audit?.note(.newDevice, of: account.id) }
    }

    /// Creates the access token and the device token of a session.
    private func opened(_ account: Account, session: StoredSession.ID, refresh: SecretToken) async throws -> Opened {
        let access = try await tokens.issue(for: account, session: session, at: now(), lifetime: rules.accessTokenLifetime)
        // All device tokens of a session have the id of the session as the id of the device. So a device doesn't get a new quota of failed
        // sign-ins when it refreshes its session.
        let device = devices.issue(for: account, device: session.rawValue, at: now())
        return Opened(account: account, accessToken: access, refreshToken: refresh, deviceToken: device)
    }
}

/// The rules of sign-ins: the accounts that may sign in, and the email about a new device.
public struct SignInRules: Hashable, Sendable {
    /// Whether an account must have a verified address to sign in.
    public var requiresVerifiedEmail: Bool
    /// Whether the first sign-in from a new device family sends an email.
    public var sendsNewDeviceEmails: Bool

    /// Creates rules.
    /// - Parameters:
    ///   - requiresVerifiedEmail: Whether an account must have a verified address to sign in.
    ///   - sendsNewDeviceEmails: Whether the first sign-in from a new device family sends an email.
    public init(requiresVerifiedEmail: Bool = false, sendsNewDeviceEmails: Bool = true) {
        self.requiresVerifiedEmail = requiresVerifiedEmail
        self.sendsNewDeviceEmails = sendsNewDeviceEmails
    }
}

/// A signed-in account and its session: the caller of a request with an access token.
public struct SignedIn: Hashable, Sendable {
    /// The account.
    public let account: Account
    /// The session of the access token.
    public let session: StoredSession.ID
}
