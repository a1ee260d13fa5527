import AccountContract
public import AccountCore
public import ErrorContract
public import Foundation

/// The stores that a check tests, and a second set of stores on the same data. The second set, ``others``, represents another process. The
/// properties of `AccountStores`, such as `accounts`, return the first set.
///
/// A check uses the properties of `AccountStores` for sequential steps, ``others`` to observe a change from another process, and
/// ``either(_:)`` for concurrent calls.
struct StoresUnderTest: AccountStores {
    /// The stores that a check uses by default.
    let stores: any AccountStores
    /// Other stores on the same data; the same as `stores` if the test passes no other stores.
    let others: any AccountStores

    var accounts: any AccountRepository { stores.accounts }
    var sessions: any SessionStore { stores.sessions }
    var resetTokens: any ResetTokenStore { stores.resetTokens }
    var accountLockTokens: any AccountLockTokenStore { stores.accountLockTokens }
    var records: any AccountRecordStore { stores.records }
    var intents: any MailIntentQueue & MailQueueInspection { stores.intents }
    var sentResets: any SentResetStore { stores.sentResets }
    var audit: any AuditStore { stores.audit }
    var decoys: any DecoyStore { stores.decoys }
    var signingKeys: any SigningKeyStore { stores.signingKeys }

    /// Returns ``stores`` for an even number, and ``others`` for an odd number, so that a check can send concurrent calls to both.
    func either(_ number: Int) -> any AccountStores { number.isMultiple(of: 2) ? stores : others }

    /// Returns an account with the values that the store has now.
    /// - Throws: ``Difference`` if the account no longer exists.
    func stored(_ account: Account) async throws -> Account {
        guard let stored = try await accounts.account(id: account.id) else {
            throw Difference(description: "The account \(account.email.text) is gone")
        }
        return stored
    }
}

/// Steps that tests of stores share. All times are in seconds after a fixed date (see `Date.after(_:)`).
extension AccountStores {
    /// Adds the account of `Account.sample(_:id:state:language:)`, with the password hash `old hash`.
    /// - Parameters:
    ///   - email: The address, which must be free.
    ///   - state: The state of the account.
    ///   - language: The language of its emails.
    /// - Returns: The account, as it was stored.
    /// - Throws: An error that describes the difference if the address is taken; errors of the store.
    @discardableResult
    public func addAccount(
        _ email: String = "ana@example.com",
        state: Account.State = .active,
        language: Language = .english
    ) async throws -> Account {
        let account = try Account.sample(email, state: state, language: language)
        try require(await accounts.insert(account), "An account with a free address is added")
        return account
    }

    /// Inserts a reset token that is valid for an hour.
    ///
    /// The function sends no email and discards the token itself, so a test can use the token only by its digest.
    /// - Parameters:
    ///   - account: The account whose password the token can set.
    ///   - seconds: The time of the creation.
    ///   - liveLimit: The largest number of valid tokens of the account, including this one. The store removes older tokens.
    /// - Returns: The digest of the token, by which the store identifies it.
    public func mint(for account: Account, after seconds: TimeInterval = 0, liveLimit: Int = 3) async throws -> TokenDigest {
        let token = StoredResetToken.sample(for: account, after: seconds)
        try await resetTokens.insert(token, liveLimit: liveLimit)
        return token.digest
    }

    /// Confirms a reset token with the password hash `new hash`.
    /// - Parameters:
    ///   - token: The digest of the token.
    ///   - account: The account, whose language the confirmation email uses.
    ///   - seconds: The time of the confirmation.
    ///   - epoch: The new epoch of the account. The store increases the epoch at least by 1.
    ///   - intentID: The id of the confirmation email.
    /// - Returns: Whether the token was valid. If not, the store changes nothing.
    public func confirm(
        _ token: TokenDigest,
        of account: Account,
        after seconds: TimeInterval = 1,
        epoch: Int = 0,
        intentID: UUID = UUID()
    ) async throws -> Bool {
        let intent = MailIntent(
            id: intentID,
            subject: .passwordChanged(account.id),
            language: account.language,
            createdAt: .after(seconds)
        )
        return try await resetTokens.confirm(
            token,
            passwordHash: "new hash",
            epoch: epoch,
            confirmation: intent,
            at: .after(seconds)
        )
    }

    /// Returns whether a reset token is valid. The function doesn't consume the token.
    /// - Parameters:
    ///   - token: The digest of the token.
    ///   - seconds: The time of the lookup, in seconds after `Date.after(0)`.
    public func isLive(_ token: TokenDigest, after seconds: TimeInterval = 1) async throws -> Bool {
        try await resetTokens.find(token, at: .after(seconds)) != nil
    }

    /// Returns whether a reset token was never used and is no longer valid.
    func hasExpired(_ token: TokenDigest, after seconds: TimeInterval) async throws -> Bool {
        try await resetTokens.hasExpired(token, at: .after(seconds))
    }

    /// Returns the account that a valid lock token belongs to; `nil` if the token isn't valid. The function doesn't consume the token.
    func account(ofLock token: TokenDigest, after seconds: TimeInterval) async throws -> Account? {
        try await accountLockTokens.find(token, at: .after(seconds))
    }
}

extension MailIntentQueue {
    /// Claims intents until the end of a lease. Both times are in seconds after `Date.after(0)`.
    func claim(_ limit: Int, after seconds: TimeInterval, until leaseEnd: TimeInterval, includesResets: Bool = true) async throws
        -> [MailIntent]
    {
        try await claim(limit: limit, at: .after(seconds), leaseEnd: .after(leaseEnd), includesResets: includesResets)
    }
}

extension SessionStore {
    /// Refreshes a session by the default rules, and offers a new random token as the successor of its token.
    func use(_ token: TokenDigest, after seconds: TimeInterval) async throws -> (outcome: RotationOutcome, next: TokenDigest) {
        let next = SecretToken().digest
        return (try await rotate(token, to: next, at: .after(seconds), rules: SessionRules()), next)
    }
}

/// A session with its first refresh token. The creation time of the session is `Date.after(0)`.
///
/// ```swift
/// let opened = try await OpenedSession(stores, account: account)
/// let (outcome, next) = try await opened.use(opened.first, after: 100)
/// ```
public struct OpenedSession: Sendable {
    /// The stores of the session.
    public let stores: any AccountStores
    /// The session.
    public let session: StoredSession
    /// The digest of its first refresh token.
    public let first = SecretToken().digest
    /// The default rules, by which ``use(_:after:)`` refreshes the session.
    public let rules = SessionRules()

    /// Opens a session of an account.
    /// - Parameters:
    ///   - stores: The stores.
    ///   - account: The account, which must be active and have its current epoch.
    /// - Throws: An error that describes the difference if the session is refused; errors of the store.
    public init(_ stores: any AccountStores, account: Account) async throws {
        self.stores = stores
        session = StoredSession(id: .init(rawValue: UUID()), accountID: account.id, createdAt: .after(0))
        let isOpen = try await stores.sessions.open(session, refresh: first, epoch: account.epoch)
        try require(isOpen, "A session of an active account opens")
    }

    /// Refreshes the session with a refresh token, and offers a new random token as its successor.
    /// - Parameters:
    ///   - token: The digest of the token.
    ///   - seconds: The time of the refresh, in seconds after `Date.after(0)`.
    /// - Returns: The outcome, and the successor. The successor is only valid if the outcome is `rotated`.
    public func use(
        _ token: TokenDigest,
        after seconds: TimeInterval
    ) async throws -> (outcome: RotationOutcome, next: TokenDigest) {
        try await stores.sessions.use(token, after: seconds)
    }

    /// Whether the session is valid. Each access of this property is a lookup in the store.
    public var isAlive: Bool {
        get async throws { try await stores.sessions.isAlive(session.id) }
    }
}

extension Account {
    /// Returns an account with the first name Ana, the password hash `old hash`, and the creation time `Date.after(0)`.
    /// - Parameters:
    ///   - email: The address.
    ///   - id: The id; a new one by default.
    ///   - state: The state.
    ///   - language: The language.
    /// - Throws: An error of `EmailAddress` if the address is invalid.
    public static func sample(
        _ email: String = "ana@example.com",
        id: ID = ID(rawValue: UUID()),
        state: State = .active,
        language: Language = .english
    ) throws -> Account {
        Account(
            id: id,
            email: try EmailAddress(email),
            firstName: try FirstName("Ana"),
            passwordHash: "old hash",
            state: state,
            language: language,
            createdAt: .after(0),
            isEmailVerified: true
        )
    }
}

extension StoredResetToken {
    /// Returns a new reset token of an account. The token is valid for an hour.
    /// - Parameters:
    ///   - account: The account, whose address is the recipient.
    ///   - seconds: The time of the creation, in seconds after `Date.after(0)`.
    public static func sample(for account: Account, after seconds: TimeInterval = 0) -> StoredResetToken {
        StoredResetToken(
            digest: SecretToken().digest,
            accountID: account.id,
            recipient: account.email,
            createdAt: .after(seconds),
            expiresAt: .after(seconds + 3_600)
        )
    }
}

extension Date {
    /// Returns the date that is `seconds` after a fixed date. The clock of each test starts at this fixed date.
    ///
    /// The returned dates have a precision of a quarter of a microsecond. If a check compares a time with its stored value, use fractions
    /// that are exact in binary, such as 0.5 or 0.25.
    public static func after(_ seconds: TimeInterval) -> Date { Date(timeIntervalSince1970: 1_750_000_000 + seconds) }
}
