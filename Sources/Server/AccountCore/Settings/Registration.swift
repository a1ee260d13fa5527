public import AccountContract
public import ErrorContract
public import Foundation

/// Creates accounts.
///
/// With ``Mode/open``, ``register(email:password:firstName:language:on:)`` creates an account immediately. Its response reveals whether an
/// address is taken. With ``Mode/blind``, ``request(email:firstName:language:)`` only queues an email, and the owner of the mailbox creates
/// the account with ``activate(_:password:on:)``. So the response of a blind registration doesn't reveal whether an address has an account,
/// and no user can register the address of another user.
public struct Registration: Sendable {
    /// The way in which clients can register.
    public enum Mode: String, Hashable, Sendable, CaseIterable {
        /// A registration creates an account immediately.
        case open
        /// A registration sends an email with a link, which creates the account.
        case blind
        /// Clients can't register. The operator adds accounts.
        case closed
    }

    private let authentication: Authentication
    private let stores: any AccountStores
    private let gate: HashingGate
    private let policy: PasswordPolicy
    /// The way in which clients can register.
    public let mode: Mode
    private let audit: (any AuditNoting)?
    private let now: @Sendable () -> Date
    private let steady: @Sendable () -> Date

    /// Creates the service.
    /// - Parameters:
    ///   - authentication: Opens the session of a new account.
    ///   - stores: The stores of accounts.
    ///   - gate: Hashes passwords.
    ///   - policy: Decides which passwords are accepted.
    ///   - mode: The way in which clients can register.
    ///   - audit: Records the registrations of clients; `nil` records none.
    ///   - now: The wall clock.
    ///   - steady: The clock of the email queue, which doesn't jump when the wall clock is set; `nil` uses `now`.
    public init(
        authentication: Authentication,
        stores: any AccountStores,
        gate: HashingGate,
        policy: PasswordPolicy,
        mode: Mode = .open,
        audit: (any AuditNoting)? = nil,
        now: @escaping @Sendable () -> Date,
        steady: (@Sendable () -> Date)? = nil
    ) {
        self.authentication = authentication
        self.stores = stores
        self.gate = gate
        self.policy = policy
        self.mode = mode
        self.audit = audit
        self.now = now
        self.steady = steady ?? now
    }

    /// Creates an account, signs it in, and queues the email that verifies its address.
    ///
    /// One transaction stores the account and the email. In separate transactions, a crash or a busy store between them would lose the
    /// email, because a repeated registration finds a taken address.
    /// - Parameters:
    ///   - email: The address.
    ///   - password: The password, which the policy checks.
    ///   - firstName: The name of the user, for the greeting in emails.
    ///   - language: The language of emails.
    ///   - device: The device of the user.
    /// - Throws: ``AccountError`` with the code `AUTH_WEAK_PASSWORD`, `AUTH_EMAIL_EXISTS` or `SERVER_SERVICE_UNAVAILABLE`;
    ///   ``StoreFailure``.
    public func register(
        email: EmailAddress,
        password: Password,
        firstName: FirstName,
        language: Language,
        on device: ClientDevice = ClientDevice()
    ) async throws -> Authentication.Opened {
        let account = try await makeAccount(email: email, password: password, firstName: firstName, language: language)
        let notice = MailIntent(subject: .verification(email), language: language, createdAt: steady())
        guard try await stores.accounts.insert(account, notice: notice) else { throw AccountError.emailExists }
        audit?.note(.registered, of: account.id)
        return try await authentication.openAfterChange(account, on: device)
    }

    /// Creates an account, and stores its audit event in the same transaction. The method opens no session and queues no email.
    ///
    /// Use it in commands of an operator. For requests of clients, use ``register(email:password:firstName:language:on:)``.
    /// - Parameters:
    ///   - email: The address of the account.
    ///   - password: The password as the user typed it.
    ///   - firstName: The first name of the user.
    ///   - language: The language of emails to the user.
    ///   - isEmailVerified: Whether the operator knows that the address belongs to the user.
    /// - Throws: ``AccountError`` like ``register(email:password:firstName:language:on:)``.
    public func add(
        email: EmailAddress,
        password: Password,
        firstName: FirstName,
        language: Language,
        isEmailVerified: Bool = false
    ) async throws -> Account {
        var account = try await makeAccount(email: email, password: password, firstName: firstName, language: language)
        account.isEmailVerified = isEmailVerified
        let added = try await stores.accounts.insert(contentsOf: [account], event: .registered)
        guard !added.isEmpty else { throw AccountError.emailExists }
        return account
    }

    /// Checks and hashes a password, and returns a new, unverified account, which is not stored yet.
    private func makeAccount(
        email: EmailAddress,
        password: Password,
        firstName: FirstName,
        language: Language
    ) async throws -> Account {
        try policy.require(password, email: email, firstName: firstName)
        return Account(
            id: Account.ID(rawValue: UUID()),
            email: email,
            firstName: firstName,
            passwordHash: try await gate.hash(password),
            language: language,
            createdAt: now()
        )
    }

    /// Queues the email of a blind registration. The method doesn't look up an account, so it takes the same time for every address.
    /// - Parameters:
    ///   - email: The address. If it already has an account, the email contains a reset link instead of a link that creates an account.
    ///   - firstName: The name of the account.
    ///   - language: The language of the email and of the account.
    /// - Throws: ``StoreFailure``. If the method returns without an error, the request survives a crash.
    public func request(email: EmailAddress, firstName: FirstName, language: Language) async throws {
        try await stores.intents.enqueue(
            MailIntent(subject: .registration(email, firstName), language: language, createdAt: steady())
        )
    }

    /// Returns the stored link of a blind registration. Changes nothing.
    ///
    /// Use it to show the form for a password. Opening a link doesn't consume it, because email scanners open links.
    /// - Parameter token: The token of the link.
    /// - Throws: ``AccountError`` with the code `AUTH_RESET_TOKEN_INVALID`.
    public func find(_ token: ResetToken) async throws -> StoredLink {
        guard let link = try await stores.records.find(TokenDigest(of: token.rawValue), at: now())?.link,
            link.purpose == .activate
        else {
            throw AccountError.resetTokenInvalid
        }
        return link
    }

    /// Creates an account with the link of a blind registration, and signs it in. The address of the account is verified.
    ///
    /// For a client that doesn't need a session, such as a page, use ``create(by:password:)``.
    /// - Parameters:
    ///   - token: The token of the link. It is consumed if the call succeeds.
    ///   - password: The password, which the policy checks.
    ///   - device: The device of the user, for the list of sessions.
    /// - Returns: The account and the tokens of its first session.
    /// - Throws: ``AccountError`` with the code `AUTH_WEAK_PASSWORD`, `AUTH_RESET_TOKEN_INVALID` or `SERVER_SERVICE_UNAVAILABLE`;
    ///   ``StoreFailure``. After `AUTH_WEAK_PASSWORD`, the link can be used again.
    public func activate(
        _ token: ResetToken,
        password: Password,
        on device: ClientDevice = ClientDevice()
    ) async throws -> Authentication.Opened {
        try await authentication.openAfterChange(try await create(by: token, password: password), on: device)
    }

    /// Creates an account with the link of a blind registration, without a session. The address of the account is verified.
    /// - Parameters:
    ///   - token: The token of the link. It is consumed if the call succeeds.
    ///   - password: The password, which the policy checks.
    /// - Throws: ``AccountError`` like ``activate(_:password:on:)``.
    public func create(by token: ResetToken, password: Password) async throws -> Account {
        let link = try await find(token)
        guard let firstName = link.firstName else { throw AccountError.resetTokenInvalid }
        try policy.require(password, email: link.recipient, firstName: firstName)
        // If another account has taken the address, the method throws before it hashes the password.
        guard try await stores.records.isAvailable(link.recipient, to: nil, at: now()) else {
            throw AccountError.resetTokenInvalid
        }
        let account = Account(
            id: Account.ID(rawValue: UUID()),
            email: link.recipient,
            firstName: firstName,
            passwordHash: try await gate.hash(password, as: .entitled),
            language: link.language,
            createdAt: now(),
            isEmailVerified: true
        )
        guard try await stores.records.activate(link.digest, as: account, at: now()) else { throw AccountError.resetTokenInvalid }
        audit?.note(.registered, of: account.id)
        return account
    }
}
