public import AccountContract
public import Foundation
public import Logging
import Observability
import Scheduling
public import ServiceLifecycle

/// Periodically removes two kinds of accounts: deleted accounts whose grace time has ended, and unverified accounts that have not been used
/// for a number of days.
///
/// The service adds the ids of removed accounts to a list outside the database. After a backup was restored, ``reapply(_:)`` can remove
/// these accounts again.
public struct AccountPurge<C: Clock>: Service where C.Duration == Duration {
    /// The largest number of accounts that one transaction removes.
    private static var batch: Int { 100 }

    private let records: any AccountRecordStore
    private let list: any PurgeList
    private let emails: (any SentMailStore)?
    private let unverifiedDays: Int
    private let interval: Duration
    private let clock: C
    private let now: @Sendable () -> Date
    private let logger: Logger

    /// Creates the service.
    /// - Parameters:
    ///   - records: The store of accounts with their links.
    ///   - list: The list of removed accounts outside the database.
    ///   - emails: The store of the emails that the server writes instead of sending them; `nil` if there is no such store.
    ///   - unverifiedDays: The number of days after which unverified and unused accounts are removed; 0 for never.
    ///   - interval: The time between two runs.
    ///   - clock: The clock of the interval.
    ///   - now: The wall clock.
    ///   - logger: Reports removed accounts and failures.
    public init(
        records: any AccountRecordStore,
        list: any PurgeList,
        emails: (any SentMailStore)? = nil,
        unverifiedDays: Int = 0,
        interval: Duration = .seconds(60),
        clock: C,
        now: @escaping @Sendable () -> Date,
        logger: Logger
    ) {
        self.records = records
        self.list = list
        self.emails = emails
        self.unverifiedDays = unverifiedDays
        self.interval = interval
        self.clock = clock
        self.now = now
        self.logger = logger
    }

    /// Removes accounts until the group shuts down. If a run fails, the service logs the failure, and the next run repeats the work.
    public func run() async throws {
        await PeriodicService(every: interval, clock: clock) {
            try await purge()
        } failure: { error in
            logger.error("Purge failed", metadata: .failure(error))
        }.run()
    }

    /// Removes all accounts whose removal is due, and adds them to the list of removed accounts.
    /// - Returns: The number of removed accounts.
    @discardableResult
    public func purge() async throws -> Int {
        // The store records the use of an account at most once an hour, so the recorded time can be up to an hour too early.
        let cutoff = unverifiedDays > 0 ? now().addingTimeInterval(-86_400 * Double(unverifiedDays) - 3_600) : nil
        var count = 0
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
            let due = try await records.purgeCandidates(at: now(), unverifiedSince: cutoff, limit: Self.batch)
            guard !due.isEmpty else { break }
            let removed = try await remove(due, unverifiedSince: cutoff, isForced: false)
            guard removed > 0 else { break }
            count += removed
        }
        try await complete()
        return count
    }

    /// Removes accounts that were removed earlier and that a restored backup contains again.
    /// - Parameter ids: The ids in the list of removed accounts.
    /// - Returns: The number of removed accounts.
    public func reapply(_ ids: [Account.ID]) async throws -> Int {
        var count = 0
        for start in stride(from: 0, to: ids.count, by: Self.batch) {
            let known = try await candidates(ids[start..<min(start + Self.batch, ids.count)])
            if !known.isEmpty { count += try await remove(known, unverifiedSince: nil, isForced: true) }
        }
        try await complete()
        return count
    }

    private func candidates(_ ids: ArraySlice<Account.ID>) async throws -> [PurgeCandidate] {
        var found: [PurgeCandidate] = []
        for id in ids {
            guard let record = try await records.record(of: id, at: now()) else { continue }
            let addresses = Set([record.account.email] + record.formerAddresses.map(\.email) + record.links.map(\.recipient))
            found.append(PurgeCandidate(id: id, addresses: addresses.sorted { $0.text < $1.text }))
        }
        return found
    }

    /// Removes accounts, and the stored emails to their addresses. The method removes the emails first. If the process is killed before it
    /// removes the accounts, the next run finds the accounts and repeats the removal.
    private func remove(_ accounts: [PurgeCandidate], unverifiedSince: Date?, isForced: Bool) async throws -> Int {
        for address in Set(accounts.flatMap(\.addresses)) { try await emails?.removeMails(to: address) }
        let removed = try await records.purge(accounts.map(\.id), at: now(), unverifiedSince: unverifiedSince, isForced: isForced)
        for id in removed { logger.notice("Account removed", metadata: ["account.id": "\(id)"]) }
        return removed.count
    }

    /// Adds the removed accounts to the list outside the database, overwrites the bytes of their rows, and then marks the accounts as
    /// listed. If the process is killed before the last step, the next run repeats all steps.
    private func complete() async throws {
        while true {
            let unlisted = try await records.unlistedPurges(limit: Self.batch)
            guard !unlisted.isEmpty else { return }
            try await list.append(unlisted)
            try await records.scrub()
            try await records.markListed(unlisted.map(\.id))
        }
    }
}

/// The list of removed accounts, outside the database. The list only grows.
public protocol PurgeList: Sendable {
    /// Adds accounts. After this method has returned, the entries survive a crash.
    func append(_ purges: [ListedPurge]) async throws
}

/// A store of emails that the server writes instead of sending them, such as the local mailbox for development.
public protocol SentMailStore: Sendable {
    /// Removes the emails that were sent to an address.
    func removeMails(to address: EmailAddress) async throws
}
