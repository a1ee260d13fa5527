public import Observability

/// All stores of one database.
///
/// Most services of this module take only the stores that they need. A server takes all stores as one value of this type. To store accounts
/// in another database, write a type that conforms to this protocol, and check it with `AccountStoreCheck.all` of `AccountStoreTesting`.
/// ``InMemoryAccountStores`` is the shortest example.
///
/// Several methods read or change more than one store in one transaction, for example
/// ``ResetTokenStore/confirm(_:passwordHash:confirmation:at:)``, ``AccountLockTokenStore/lock(_:at:)``,
/// ``AccountRepository/setState(_:of:event:)``, ``SessionStore/open(_:refresh:epoch:)`` and ``AccountRecordStore/change(_:at:_:)``. So
/// all stores of one value must share one database.
public protocol AccountStores: Sendable {
    /// The accounts.
    var accounts: any AccountRepository { get }
    /// Sessions and their refresh tokens.
    var sessions: any SessionStore { get }
    /// Single-use tokens that set a new password.
    var resetTokens: any ResetTokenStore { get }
    /// Single-use tokens that lock an account.
    var accountLockTokens: any AccountLockTokenStore { get }
    /// The links, former addresses and devices of accounts.
    var records: any AccountRecordStore { get }
    /// The emails to send.
    var intents: any MailIntentQueue & MailQueueInspection { get }
    /// The recently sent emails that clients requested without signing in.
    var sentResets: any SentResetStore { get }
    /// The events of accounts.
    var audit: any AuditStore { get }
    /// The decoys for addresses without an account.
    var decoys: any DecoyStore { get }
    /// The keys that sign access tokens.
    var signingKeys: any SigningKeyStore { get }
}

/// A failed operation of a store.
public struct StoreFailure: LogSafeError, Hashable, Sendable {
    /// Whether the failure is temporary, so that a retry may succeed. Examples are a concurrent writer and a lost connection.
    public let isBusy: Bool
    /// Whether the changes may have been made although the store could not confirm them.
    public let isOutcomeUnknown: Bool
    /// The error of the store, without stored data.
    public let message: String

    /// Creates a failure.
    /// - Parameters:
    ///   - isBusy: Whether a retry may succeed.
    ///   - isOutcomeUnknown: Whether the changes may have been made nevertheless.
    ///   - message: The error, without stored data, because the server logs it.
    public init(isBusy: Bool, isOutcomeUnknown: Bool = false, message: String) {
        (self.isBusy, self.isOutcomeUnknown) = (isBusy, isOutcomeUnknown)
        self.message = message
    }

    public var description: String { message }
}
