public import Foundation

/// Something that happened to an account and that its owner or an operator may ask about. It names no secret and no address.
public struct AuditEvent: Hashable, Sendable {
    /// What happened.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The user registered.
        case registered
        /// The account was imported from another system.
        case imported
        /// The user signed in.
        case signedIn = "signed_in"
        /// A wrong password.
        case signInFailed = "sign_in_failed"
        /// The right password, for an account that is out of use.
        case signInRefused = "sign_in_refused"
        /// A hash of another system, or of weaker parameters, was replaced by one of our own.
        case hashUpgraded = "hash_upgraded"
        /// A reset link was asked for, made and handed over.
        case resetLinkSent = "reset_link_sent"
        /// A reset link was requested, and no email was sent because the account had got too many.
        case resetLinkLimited = "reset_link_limited"
        /// The user set a new password by a link.
        case passwordReset = "password_reset"
        /// A reset put a frozen account back into use.
        case recovered
        /// The owner said "this was not me".
        case locked = "frozen"
        /// A refresh token was used a second time, and its session ended.
        case refreshReused = "refresh_reused"
        /// The operator suspended, deactivated or activated the account.
        case suspended, deactivated, activated
    }

    /// What happened.
    public let kind: Kind
    /// To whose account.
    public let accountID: Account.ID
    /// When.
    public let time: Date
    /// By which request.
    public let origin: AuditOrigin

    /// Creates an event.
    public init(kind: Kind, accountID: Account.ID, time: Date, origin: AuditOrigin) {
        self.kind = kind
        self.accountID = accountID
        self.time = time
        self.origin = origin
    }
}

/// Where a request came from, as far as an audit keeps it.
public struct AuditOrigin: Hashable, Sendable {
    /// The network of the client, not its address.
    public let client: String?
    /// The id of the request; `nil` without one.
    public let requestID: String?

    /// Creates an origin.
    public init(client: String?, requestID: String?) {
        self.client = client
        self.requestID = requestID
    }

    /// No request: a command, or a worker.
    public static let none = AuditOrigin(client: nil, requestID: nil)

    /// The origin of the request that the current task answers.
    @TaskLocal public static var current = AuditOrigin.none
}

/// The events of accounts, kept for a time.
public protocol AuditStore: Sendable {
    /// Keeps events; those of accounts that are not there are left out.
    func append(_ events: [AuditEvent]) async throws
    /// The newest events of an account, newest first.
    func events(of account: Account.ID, limit: Int) async throws -> [AuditEvent]
    /// Removes events from before a time, and of each account and kind all but the newest `limit`: whoever guesses passwords can't
    /// push out what else happened. Removes a bounded number per call.
    /// - Returns: Whether there may be more.
    @discardableResult
    func sweep(before: Date, limit: Int) async throws -> Bool
}

/// How long events of accounts are kept.
public enum AuditRetention {
    /// A year, in seconds.
    public static let age: TimeInterval = 365 * 86_400
    /// The most events of one kind that an account keeps.
    public static let perKind = 200
}
