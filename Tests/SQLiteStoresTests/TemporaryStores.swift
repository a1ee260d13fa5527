import AccountContract
import AccountCore
import AccountStoreTesting
import Foundation
import GRDB
import Logging
import Synchronization

@testable import SQLiteStores

/// The stores of one SQLite file.
struct TemporaryStores: AccountStores {
    let path: String
    let database: SQLiteDatabase

    private let stores: SQLiteAccountStores

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

    init(path: String) throws {
        self.path = path
        database = try SQLiteDatabase(path: path)
        stores = SQLiteAccountStores(database)
    }

    /// Opens the same file a second time.
    func reopened() throws -> TemporaryStores {
        try TemporaryStores(path: path)
    }

    /// Runs SQL with direct access to the file.
    func execute(_ sql: String) async throws {
        try await database.pool.write { try $0.execute(sql: sql) }
    }

    /// Returns the number that is the result of a query.
    func number(_ sql: String) async throws -> Int {
        try await database.pool.read { try Int.fetchOne($0, sql: sql) ?? 0 }
    }

    /// Returns the bytes of the file and of its write-ahead log.
    func bytes() throws -> Data {
        let log = FileManager.default.contents(atPath: path + "-wal") ?? Data()
        return try Data(contentsOf: URL(filePath: path)) + log
    }

    /// Returns a worker that sends the emails of the queue.
    func worker(
        delivery: any MailDelivery,
        now: @escaping @Sendable () -> Date,
        steady: (@Sendable () -> Date)? = nil,
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    ) -> MailWorker<ContinuousClock> {
        MailWorker(
            stores: self,
            rendering: PlainRendering(),
            delivery: delivery,
            rules: RecoveryRules(),
            clock: ContinuousClock(),
            now: now,
            steady: steady,
            logger: logger
        )
    }
}

/// Runs a test with a new database in a folder that is removed afterwards.
func withStores<Result>(_ body: (TemporaryStores) async throws -> Result) async throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: "holdfast-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "holdfast.sqlite3").path
    let stores = try TemporaryStores(path: path)
    let result = try await body(stores)
    try stores.database.close()
    return result
}

/// Runs a test with a session in a new database.
func withSession(_ body: (TemporaryStores, OpenedSession) async throws -> Void) async throws {
    try await withStores { stores in
        try await body(stores, try await OpenedSession(stores, account: try await stores.addAccount()))
    }
}

/// A wall clock that advances only when a test moves it.
final class WallClock: Sendable {
    private let date = Mutex(Date.after(0))

    var now: @Sendable () -> Date { { self.date.withLock { $0 } } }

    func advance(by seconds: TimeInterval) {
        date.withLock { $0 = $0.addingTimeInterval(seconds) }
    }
}

/// Runs calls concurrently and returns their results.
func concurrently<Value: Sendable>(
    _ count: Int,
    _ body: @escaping @Sendable (Int) async throws -> Value
) async throws -> [Value] {
    try await withThrowingTaskGroup(of: Value.self) { group in
        for number in 0..<count { group.addTask { try await body(number) } }
        return try await group.reduce(into: []) { $0.append($1) }
    }
}
