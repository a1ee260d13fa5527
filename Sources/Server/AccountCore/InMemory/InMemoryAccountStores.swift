import AccountContract
import Foundation
import Synchronization

/// Stores that are in the memory of one process. Use these stores for tests and experiments, and as an example for your own stores.
///
/// One lock protects the state of all stores, so each method is one atomic step, even if it changes several stores. When the process ends,
/// all data is lost.
///
/// ```swift
/// let stores = InMemoryAccountStores()
/// let recovery = PasswordRecovery(stores: stores, gate: gate, …)
/// ```
///
/// A test can pass a closure, to make a store fail or to run code between two steps of a service:
///
/// ```swift
/// let stores = InMemoryAccountStores { operation in
///     if operation == "intents.settle" { throw StoreFailure(isBusy: true, message: "busy") }
/// }
/// ```
///
/// - Complexity: Lookups by id, address and digest are O(1). Claiming an email, locking an account and sweeping are O(n) for n stored
///   entries.
public final class InMemoryAccountStores: AccountStores {
    private let state = Mutex(InMemoryState())
    private let before: (@Sendable (_ operation: String) async throws -> Void)?

    /// Creates empty stores.
    /// - Parameter before: A closure that the stores call before each operation, with the name of the operation. If the closure throws, the
    ///   operation throws the same error and changes nothing. The name of an operation, such as `sessions.rotate`, consists of the property
    ///   of this class and the name of the method. A few names differ: `intents.giveUp` for `abandon`, `sessions.endSession` for
    ///   `end(_:of:)`, `freezeTokens` for `accountLockTokens`, and `freezeTokens.freeze` for `lock`.
    public init(before: (@Sendable (_ operation: String) async throws -> Void)? = nil) {
        self.before = before
    }

    public var accounts: any AccountRepository { InMemoryAccounts(stores: self) }
    public var sessions: any SessionStore { InMemorySessions(stores: self) }
    public var resetTokens: any ResetTokenStore { InMemoryResetTokens(stores: self) }
    public var accountLockTokens: any AccountLockTokenStore { InMemoryAccountLockTokens(stores: self) }
    public var records: any AccountRecordStore { InMemoryAccountRecords(stores: self) }
    public var intents: any MailIntentQueue & MailQueueInspection { InMemoryMailIntents(stores: self) }
    public var sentResets: any SentResetStore { InMemorySentResets(stores: self) }
    public var audit: any AuditStore { InMemoryAudit(stores: self) }
    public var decoys: any DecoyStore { InMemoryDecoys(stores: self) }
    public var signingKeys: any SigningKeyStore { InMemorySigningKeys(stores: self) }

    /// Performs one operation of a store under the lock. If `body` throws, the method doesn't undo changes, so `body` must not change the
    /// state before it throws.
    func perform<Value: Sendable>(
        _ operation: String,
        _ body: @Sendable (inout InMemoryState) throws -> Value
    ) async throws -> Value {
        try await before?(operation)
        return try read(body)
    }

    /// Reads or changes the state under the lock, without a call of `before`.
    func read<Value: Sendable>(_ body: @Sendable (inout InMemoryState) throws -> Value) rethrows -> Value {
        try state.withLock { try body(&$0) }
    }
}

/// The data of all stores, which one lock protects.
struct InMemoryState: Sendable {
    var accounts: [Account.ID: Account] = [:]
    /// The ids of accounts by their normalized addresses.
    var addresses: [String: Account.ID] = [:]
    var decoys: [DecoySpan] = []
    var signingKeys = SigningKeySet()
    var sessions: [StoredSession.ID: InMemorySession] = [:]
    /// The id of the session to which each refresh token belongs.
    var refreshTokens: [TokenDigest: StoredSession.ID] = [:]
    var resetTokens: [TokenDigest: InMemoryResetToken] = [:]
    var accountLockTokens: [TokenDigest: InMemoryAccountLockToken] = [:]
    var links: [TokenDigest: StoredLink] = [:]
    var formerAddresses: [Account.ID: [FormerAddress]] = [:]
    /// For each account, the families of the devices that have signed in, with the time of the first sign-in. A family is a text such as
    /// `iPhone`.
    var devices: [Account.ID: [String: Date]] = [:]
    /// The time at which each unverified account was last used.
    var activity: [Account.ID: Date] = [:]
    var unlistedPurges: [ListedPurge] = []
    var intents: [MailIntent.ID: InMemoryIntent] = [:]
    var turns = MailTurns()
    var lastRetry: Date?
    var sentResets: [MailIntent.ID: InMemorySentReset] = [:]
    /// The events of each account. Events with the same time are in the order in which they were appended.
    var events: [Account.ID: [AuditEvent]] = [:]

    /// Returns the account with an id.
    /// - Throws: ``StoreFailure`` if there is no such account.
    func requireAccount(_ id: Account.ID) throws -> Account {
        guard let account = accounts[id] else { throw StoreFailure(isBusy: false, message: "no such account") }
        return account
    }

    /// Ends all sessions of an account, except one.
    mutating func endSessions(of account: Account.ID, except kept: StoredSession.ID? = nil) {
        for session in sessions.values.map(\.session) where session.accountID == account && session.id != kept {
            endSession(session.id)
        }
    }

    /// Ends a session, with its refresh tokens.
    mutating func endSession(_ id: StoredSession.ID) {
        for digest in sessions.removeValue(forKey: id)?.tokens.keys ?? [:].keys { refreshTokens[digest] = nil }
    }

    /// Consumes all valid reset tokens of an account.
    mutating func consumeResetTokens(of account: Account.ID) {
        for (digest, stored) in resetTokens where stored.token.accountID == account { resetTokens[digest]?.isConsumed = true }
    }
}
