import AccountContract
public import AccountCore
public import ErrorContract
public import Foundation

/// Brings people of another system in, as many at once as one commit takes. Beginning again goes on where it ended: who is there
/// already is left as he is.
public struct AccountImport: Sendable {
    /// What has become of the records so far.
    public struct Progress: Hashable, Sendable {
        /// How many records have been looked at.
        public var done = 0
        /// How many records there are.
        public var total = 0
        /// How many accounts are new.
        public var added = 0
        /// Had an account before.
        public var present = 0
        /// How many records can't be taken.
        public var refused = 0
    }

    /// How many accounts are added in one commit.
    public static let batchSize = 500

    private let accounts: any AccountRepository
    private let language: Language
    private let isDryRun: Bool
    private let audit: (any AuditStore)?
    private let now: @Sendable () -> Date

    /// Creates an import.
    /// - Parameters:
    ///   - accounts: The store of accounts.
    ///   - language: For records that name none.
    ///   - isDryRun: Whether nothing is written.
    ///   - audit: Stores the event of each import; `nil` stores none.
    ///   - now: The wall clock.
    public init(
        into accounts: any AccountRepository,
        language: Language,
        isDryRun: Bool = false,
        audit: (any AuditStore)? = nil,
        now: @escaping @Sendable () -> Date
    ) {
        (self.accounts, self.language, self.isDryRun, self.audit, self.now) = (accounts, language, isDryRun, audit, now)
    }

    /// Imports what was read.
    /// - Parameters:
    ///   - readings: The records, or why a line could not be read.
    ///   - refuse: Told the place of each record that can't be imported, and why.
    ///   - report: Told after each commit how far it has come.
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
            let added = isDryRun ? try await missing(batch) : try await insert(batch)
            progress.added += added
            progress.present += batch.count - added
            progress.done += readings.count
            report(progress)
        }
        return progress
    }

    private func insert(_ batch: [Account]) async throws -> Int {
        let added = try await accounts.insert(contentsOf: batch)
        let time = now()
        try await audit?.append(added.map { AuditEvent(kind: .imported, accountID: $0, time: time, origin: .none) })
        return added.count
    }

    private func missing(_ batch: [Account]) async throws -> Int {
        var missing = 0
        for account in batch where try await accounts.account(email: account.email) == nil { missing += 1 }
        return missing
    }
}
