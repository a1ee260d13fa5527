import AccountContract
public import AccountCore
public import ErrorContract
public import Foundation

/// An import of users from another system, with one transaction for each batch of records. You can repeat an interrupted import, because
/// the import doesn't change existing accounts.
///
/// ```swift
/// let users = AccountImport(into: accounts, language: .english) { Date() }
/// let progress = try await users.run(ImportFile.read(file)) { place, reason in
///     print("\(place): \(reason)")
/// } report: { progress in
///     print("\(progress.done) of \(progress.total)")
/// }
/// ```
///
/// The import needs no passwords. It stores the hashes of the other system, and the server replaces a user's hash when the user signs in.
/// If a record can't become an account, the import reports the reason and continues with the next record. The transaction of a batch also
/// stores the audit event of each new account.
///
/// Servers can run during an import. On SQLite, their writes wait during the transaction of a batch. The import keeps all addresses in
/// memory to detect duplicates, so its memory grows with the number of records.
public struct AccountImport: Sendable {
    /// The counts of an import so far. ``done`` is the sum of ``added``, ``present`` and ``refused``.
    public struct Progress: Hashable, Sendable {
        /// The number of processed records: added, present and refused records together.
        public var done = 0
        /// The number of all records, including those that can't be read.
        public var total = 0
        /// The number of new accounts.
        public var added = 0
        /// The number of records whose address is taken: by an existing account, or as a reserved former address. The import doesn't change
        /// existing accounts, even if a record has other values.
        public var present = 0
        /// The number of refused records: records that are unreadable or invalid, and records with the same address as an earlier record.
        public var refused = 0
    }

    /// The largest number of accounts in one transaction.
    public static let batchSize = 500

    private let accounts: any AccountRepository
    private let records: (any AccountRecordStore)?
    private let language: Language
    private let isDryRun: Bool
    private let now: @Sendable () -> Date

    /// Creates an import.
    /// - Parameters:
    ///   - accounts: The store of accounts.
    ///   - records: The store of former addresses, in the same database; only a dry run needs it. With `nil`, a dry run counts reserved
    ///     former addresses as ``Progress/added``.
    ///   - language: The language of records without a language.
    ///   - isDryRun: Whether the import only counts. If `true`, it writes nothing. With `records`, the counts equal the counts of a real
    ///     import at this time.
    ///   - now: The wall clock.
    public init(
        into accounts: any AccountRepository,
        records: (any AccountRecordStore)? = nil,
        language: Language,
        isDryRun: Bool = false,
        now: @escaping @Sendable () -> Date
    ) {
        (self.accounts, self.records, self.language) = (accounts, records, language)
        (self.isDryRun, self.now) = (isDryRun, now)
    }

    /// Imports records in their order. If several records have the same address, the method imports the first one and refuses the others.
    ///
    /// The method calls the closures in the task of the caller, in the order of the records.
    /// - Parameters:
    ///   - readings: The records, and the errors of unreadable records, which ``ImportFile/read(_:)`` returns.
    ///   - refuse: A closure that the method calls with the place and the reason of each refused record. The reason contains no address and
    ///     no hash.
    ///   - report: A closure that the method calls with the progress after each transaction.
    /// - Returns: The final counts.
    /// - Throws: The error of the store. All batches before the error remain stored. To continue, repeat the import.
    public func run(
        _ readings: [ImportFile.Reading],
        refuse: (_ place: String, _ reason: String) -> Void,
        report: (Progress) -> Void
    ) async throws -> Progress {
        var progress = Progress(total: readings.count)
        var places: [String: String] = [:]
        for start in stride(from: 0, to: readings.count, by: Self.batchSize) {
            let readings = readings[start..<min(start + Self.batchSize, readings.count)]
            var batch: [Account] = []
            for reading in readings {
                do {
                    let record = try reading.get()
                    let account = try Account(record, language: language, now: now())
                    if let first = places.updateValue(record.place, forKey: account.email.normalized) {
                        places[account.email.normalized] = first
                        refuse(record.place, "has the address of \(first)")
                        progress.refused += 1
                    } else {
                        batch.append(account)
                    }
                } catch let refusal as ImportFile.ImportLineRefusal {
                    refuse(refusal.place, refusal.reason)
                    progress.refused += 1
                } catch let refusal as ImportRefusal {
                    refuse((try? reading.get().place) ?? "?", refusal.description)
                    progress.refused += 1
                }
            }
            let added = isDryRun ? try await missing(batch) : try await accounts.insert(contentsOf: batch, event: .imported).count
            progress.added += added
            progress.present += batch.count - added
            progress.done += readings.count
            report(progress)
        }
        return progress
    }

    /// Returns the number of accounts that an import would add, with one lookup per account.
    private func missing(_ batch: [Account]) async throws -> Int {
        var missing = 0
        for account in batch where try await isAvailable(account) { missing += 1 }
        return missing
    }

    /// Returns whether the address of a new account is available, by the same time as the insertion of the account.
    private func isAvailable(_ account: Account) async throws -> Bool {
        guard let records else { return try await accounts.account(email: account.email) == nil }
        return try await records.isAvailable(account.email, to: nil, at: account.createdAt)
    }
}
