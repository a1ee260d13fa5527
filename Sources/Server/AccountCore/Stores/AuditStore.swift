public import Foundation

/// An event of an account that the user or an operator may want to know about. The event contains no secret and no address.
public struct AuditEvent: Hashable, Sendable {
    /// The kind of an event.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The user registered.
        case registered
        /// The account was imported from another system.
        case imported
        /// The user signed in.
        case signedIn = "signed_in"
        /// A sign-in with a wrong password.
        case signInFailed = "sign_in_failed"
        /// The server refused a sign-in with the right password, because the account is not active, is deleted, or has an unverified
        /// address.
        case signInRefused = "sign_in_refused"
        /// The server replaced a hash of another system, or a hash with other parameters, by a new hash.
        case hashUpgraded = "hash_upgraded"
        /// A reset link was requested and delivered.
        case resetLinkSent = "reset_link_sent"
        /// A reset link was requested, but the account's limit for reset emails was exhausted, so no email was sent.
        case resetLinkLimited = "reset_link_limited"
        /// The user set a new password by a link.
        case passwordReset = "password_reset"
        /// A reset unlocked a locked account.
        case recovered
        /// The user locked the account with the link "this was not me".
        case locked = "frozen"
        /// A refresh token was used a second time, and its session ended.
        case refreshReused = "refresh_reused"
        /// The user proved access to the mailbox.
        case emailVerified = "email_verified"
        /// The user set a new password while signed in.
        case passwordChanged = "password_changed"
        /// The user requested a change of the address.
        case emailChangeRequested = "email_change_requested"
        /// The user confirmed a new address.
        case emailChanged = "email_changed"
        /// The owner of a former address restored it.
        case emailRestored = "email_restored"
        /// The user changed the name or the language.
        case profileChanged = "profile_changed"
        /// The user ended one session, or all sessions except the current one.
        case sessionsEnded = "sessions_ended"
        /// A device of a new family, such as `iPhone`, signed in. Only devices of other families had signed in before.
        case newDevice = "new_device"
        /// The user exported the data of the account.
        case exported
        /// The user or the operator deleted the account.
        case deleted
        /// The user restored the deleted account.
        case restored
        /// The operator suspended, deactivated or activated the account.
        case suspended, deactivated, activated

        /// The name of the kind for operators, in commands and in the log. Stores and exports contain the raw value instead, which differs
        /// for ``locked``.
        package var name: String { self == .locked ? "locked" : rawValue }
    }

    /// The kind.
    public let kind: Kind
    /// The account.
    public let accountID: Account.ID
    /// The time.
    public let time: Date
    /// The origin of the request.
    public let origin: AuditOrigin

    /// Creates an event.
    /// - Parameters:
    ///   - kind: The kind.
    ///   - accountID: The account.
    ///   - time: The time, by the wall clock.
    ///   - origin: The origin of the request.
    public init(kind: Kind, accountID: Account.ID, time: Date, origin: AuditOrigin) {
        self.kind = kind
        self.accountID = accountID
        self.time = time
        self.origin = origin
    }

    /// Creates the event of a new account without a request, such as an account that an operator adds.
    /// - Parameters:
    ///   - account: The account. The time of the event is its `createdAt`.
    ///   - kind: The kind.
    package init(creating account: Account, as kind: Kind) {
        self.init(kind: kind, accountID: account.id, time: account.createdAt, origin: .none)
    }
}

/// The parts of a request's origin that are stored with events. A middleware sets ``current`` for each request.
public struct AuditOrigin: Hashable, Sendable {
    /// The network of the client, such as `198.51.100.0/24`, not the client's address; `nil` if the network is unknown.
    public let client: String?
    /// The id of the request; `nil` if there is none.
    public let requestID: String?

    /// Creates an origin.
    /// - Parameters:
    ///   - client: The network of the client, not the client's address; `nil` if the network is unknown.
    ///   - requestID: The id of the request; `nil` if there is none.
    public init(client: String?, requestID: String?) {
        self.client = client
        self.requestID = requestID
    }

    /// The origin of commands and workers, which have no request.
    public static let none = AuditOrigin(client: nil, requestID: nil)

    /// The origin of the request that the current task handles.
    @TaskLocal public static var current = AuditOrigin.none
}

/// A store of the events of accounts. ``AuditTrail`` writes events in batches; operators and exports read them.
///
/// All dates are of the wall clock. All methods can be called by several tasks and processes at the same time, and throw ``StoreFailure``
/// if the store fails. Check an implementation with `AccountStoreCheck` of `AccountStoreTesting`.
public protocol AuditStore: Sendable {
    /// Stores events, in their order. Events of accounts that don't exist are skipped.
    func append(_ events: [AuditEvent]) async throws
    /// Returns the newest events of an account, newest first.
    /// - Parameters:
    ///   - account: The account.
    ///   - limit: The largest number of events.
    func events(of account: Account.ID, limit: Int) async throws -> [AuditEvent]
    /// Removes the events before a time. For each account and kind, the method also removes all events except the newest `limit`. The limit
    /// applies to each kind separately, so that many failed sign-ins can't displace other events. The work per call is bounded.
    /// - Parameters:
    ///   - before: The method removes events before this time; see ``AuditRetention/age``.
    ///   - limit: The largest number of events of one kind per account; see ``AuditRetention/perKind``.
    /// - Returns: Whether there may be more events to remove.
    @discardableResult
    func sweep(before: Date, limit: Int) async throws -> Bool
}

/// The time for which the events of accounts are stored, and their largest number.
public enum AuditRetention {
    /// The time for which events are stored: a year, in seconds.
    public static let age: TimeInterval = 365 * 86_400
    /// The largest number of events of one kind per account.
    public static let perKind = 200
}
