public import AccountContract
public import Foundation

/// A store of the links, the former addresses and the devices of accounts. It can change an account together with its links and former
/// addresses, in one transaction.
///
/// All dates are of the wall clock. All methods can be called by several tasks and processes at the same time, and throw ``StoreFailure``
/// if the store fails.
public protocol AccountRecordStore: Sendable {
    /// Stores a link.
    /// - Throws: ``StoreFailure``, also if the account of the link doesn't exist.
    func insert(_ link: StoredLink) async throws
    /// Removes a link that no user has received. The worker calls this method if it could not deliver the email with the link. An unknown
    /// digest is ignored.
    func discard(_ digest: TokenDigest) async throws
    /// Returns the link with the given digest, and the record of the account that the link changes. Changes nothing.
    /// - Parameters:
    ///   - digest: The digest of the presented token.
    ///   - now: The present time. A link that has expired by then isn't returned.
    /// - Returns: `nil` if the digest is unknown or expired. The record is `nil` for a link that creates an account.
    func find(_ digest: TokenDigest, at now: Date) async throws -> (link: StoredLink, record: AccountRecord?)?
    /// Returns whether an account can get an address: no other account has the address now, and no other account can restore it.
    /// - Parameters:
    ///   - email: The address.
    ///   - account: The account; `nil` for a new one.
    ///   - now: The present time. Former addresses that have expired by then are available.
    func isAvailable(_ email: EmailAddress, to account: Account.ID?, at now: Date) async throws -> Bool
    /// Returns the record of an account, with the links and former addresses that have not expired.
    /// - Returns: The record; `nil` if there is no such account.
    func record(of id: Account.ID, at now: Date) async throws -> AccountRecord?
    /// Changes an account with its links and former addresses, and makes the changes in ``AccountRecord/effects``, all in one transaction.
    /// Concurrent changes of one account are applied one after the other.
    ///
    /// The store writes every value of the account except `id`, `state` and `createdAt`. If the closure removed links or former addresses
    /// from the record, the store removes them. If the closure added former addresses, the store adds them.
    /// - Parameters:
    ///   - id: The account.
    ///   - now: The present time. The record contains only links and former addresses that have not expired by then.
    ///   - body: Changes the record. The store may call it more than once. If it throws, the store rolls the transaction back and throws
    ///     the same error.
    /// - Returns: The result of the closure; `nil` if there is no such account.
    /// - Throws: ``AccountError/emailExists`` if the record has a new address, and another account has this address now, or had it before
    ///   and can still restore it.
    func change<Value: Sendable>(
        _ id: Account.ID,
        at now: Date,
        _ body: @escaping @Sendable (inout AccountRecord) throws -> Value
    ) async throws -> Value?
    /// Consumes a link that creates an account, adds the account, and removes the other links that create an account with this address, in
    /// one transaction.
    /// - Parameters:
    ///   - digest: The digest of the link's token.
    ///   - account: The account. Its address is the recipient of the link.
    ///   - now: The time at which the link must be valid.
    /// - Returns: Whether the account was added. The result is `false` if the link is invalid or the address is taken.
    func activate(_ digest: TokenDigest, as account: Account, at now: Date) async throws -> Bool
    /// Records that an unverified account was used. See ``purgeCandidates(at:unverifiedSince:limit:)``.
    ///
    /// The store contains only one time for each account. If the new time is less than an hour after the stored time, the store doesn't
    /// write it. So frequent refreshes of a session cause few writes. If there is no such account, nothing happens.
    func noteActivity(of id: Account.ID, at now: Date) async throws
    /// Records the family of a device that has signed in. If the result is `true`, the same transaction adds an email to the queue.
    /// - Parameters:
    ///   - family: The family, one of a few fixed texts, such as `iPhone`; see ``ClientDevice/family``.
    ///   - id: The account.
    ///   - now: The time of the sign-in. The store writes this time only for the first sign-in from the family.
    ///   - notice: The email about the new device; `nil` adds no email.
    /// - Returns: Whether the account has signed in before, but never from a device of this family.
    func noteDevice(family: String, of id: Account.ID, at now: Date, notice: MailIntent?) async throws -> Bool
    /// Returns the data that is stored about an account besides its record, its sessions, its devices, its reset links and its events.
    func remainder(of account: Account) async throws -> AccountRemainder
    /// Returns the families of the devices that have signed in, with the time of the first sign-in, in the order of the families.
    func devices(of id: Account.ID) async throws -> [(family: String, firstSeenAt: Date)]
    /// Returns accounts to remove: deleted accounts whose grace time has ended, and unverified accounts that have not been used for a long
    /// time.
    /// - Parameters:
    ///   - now: The present time.
    ///   - unverifiedSince: The method returns unverified accounts that were created before this time and have not been used since. If
    ///     `nil`, it returns no unverified accounts.
    ///   - limit: The largest number of accounts.
    func purgeCandidates(at now: Date, unverifiedSince: Date?, limit: Int) async throws -> [PurgeCandidate]
    /// Removes those of the given accounts that are still candidates, with everything that is stored about them.
    ///
    /// The method also removes all emails and links for their present addresses and unexpired former addresses, even if clients requested
    /// the emails without signing in. The same transaction stores the ids of the removed accounts for ``unlistedPurges(limit:)``. If the
    /// store is a database, it also records each removal as an event with a random id, which doesn't identify the account.
    /// - Parameters:
    ///   - ids: The accounts.
    ///   - now: The time.
    ///   - unverifiedSince: The value that you passed to ``purgeCandidates(at:unverifiedSince:limit:)``. If `isForced` is `true`, the
    ///     method ignores this value.
    ///   - isForced: Whether to remove accounts even if they are not candidates. Pass `true` after a backup was restored, to remove the
    ///     accounts in the list of removed accounts.
    /// - Returns: The ids of the removed accounts.
    func purge(_ ids: [Account.ID], at now: Date, unverifiedSince: Date?, isForced: Bool) async throws -> [Account.ID]
    /// Returns the ids of removed accounts that are not yet in the list of removed accounts, with the times of their removal.
    ///
    /// ``AccountPurge`` adds these ids to the list outside the database (``PurgeList``), and then calls ``markListed(_:)``. If the process
    /// is killed between the two steps, the next run adds the ids to the list a second time.
    /// - Parameter limit: The largest number of ids.
    func unlistedPurges(limit: Int) async throws -> [ListedPurge]
    /// Records that removed accounts are in the list, so that ``unlistedPurges(limit:)`` no longer returns these accounts. Call this method
    /// after the list has been written to the disk.
    func markListed(_ ids: [Account.ID]) async throws
    /// Overwrites the bytes of removed rows, as far as the database supports it. A store without files does nothing.
    func scrub() async throws
    /// Removes expired links and former addresses. The work per call is bounded.
    /// - Returns: Whether there may be more expired links or addresses. If so, call the method again.
    @discardableResult
    func sweep(at now: Date) async throws -> Bool
}

/// The data that is stored about an account besides its record, its sessions, its devices, its reset links and its events.
public struct AccountRemainder: Hashable, Sendable {
    /// An email in the queue that was not delivered yet.
    public struct QueuedEmail: Hashable, Sendable {
        /// The kind of the email; see ``MailIntent/Subject/kind``.
        public let kind: String
        /// The time of the request.
        public let createdAt: Date

        /// Creates a description.
        public init(kind: String, createdAt: Date) {
            (self.kind, self.createdAt) = (kind, createdAt)
        }
    }

    /// The time at which the account was last used while its address was not verified; `nil` if there is no such time.
    public let activeAt: Date?
    /// The times at which the links "this was not me" expire, earliest first. Used links are included.
    public let lockLinkExpiries: [Date]
    /// The emails in the queue for the account or its present address, oldest first. Emails to other addresses, such as former addresses,
    /// are not included.
    public let queuedEmails: [QueuedEmail]
    /// The times at which reset emails were sent recently, earliest first.
    public let resetEmailTimes: [Date]

    /// Creates a description.
    /// - Parameters:
    ///   - activeAt: The time of the last use while the address was not verified.
    ///   - lockLinkExpiries: The times at which the links "this was not me" expire.
    ///   - queuedEmails: The emails in the queue.
    ///   - resetEmailTimes: The times at which reset emails were sent.
    public init(activeAt: Date?, lockLinkExpiries: [Date], queuedEmails: [QueuedEmail], resetEmailTimes: [Date]) {
        self.activeAt = activeAt
        self.lockLinkExpiries = lockLinkExpiries
        self.queuedEmails = queuedEmails
        self.resetEmailTimes = resetEmailTimes
    }
}

/// An account that is to be removed, and all addresses that are stored for it.
public struct PurgeCandidate: Hashable, Sendable {
    /// The account.
    public let id: Account.ID
    /// The address of the account, its former addresses, and the recipients of its stored links, such as a new address that is not
    /// confirmed yet.
    public let addresses: [EmailAddress]

    /// Creates a candidate.
    public init(id: Account.ID, addresses: [EmailAddress]) {
        (self.id, self.addresses) = (id, addresses)
    }
}

/// An entry in the list of removed accounts; see ``PurgeList``.
public struct ListedPurge: Hashable, Sendable {
    /// The account.
    public let id: Account.ID
    /// The time of the removal.
    public let purgedAt: Date

    /// Creates an entry.
    public init(id: Account.ID, purgedAt: Date) {
        (self.id, self.purgedAt) = (id, purgedAt)
    }
}
