import AccountContract
import AccountCore
import ErrorContract
import Foundation
import GRDB
import Synchronization

@testable import SQLiteStores

/// The stores over one SQLite file.
struct TemporaryStores: Sendable {
    /// The start of every test's time.
    static let start = Date(timeIntervalSince1970: 1_750_000_000)

    let path: String
    let database: SQLiteDatabase

    var accounts: SQLiteAccountRepository { SQLiteAccountRepository(database) }
    var sessions: SQLiteSessionStore { SQLiteSessionStore(database) }
    var tokens: SQLiteResetTokenStore { SQLiteResetTokenStore(database) }
    var freezeTokens: SQLiteFreezeTokenStore { SQLiteFreezeTokenStore(database) }
    var intents: SQLiteMailIntentQueue { SQLiteMailIntentQueue(database) }

    /// The same file, opened a second time.
    func reopened() throws -> TemporaryStores {
        TemporaryStores(path: path, database: try SQLiteDatabase(path: path))
    }

    /// Runs SQL as only somebody with the file in hand could.
    func execute(_ sql: String) async throws {
        try await database.pool.write { try $0.execute(sql: sql) }
    }

    /// The number that a query gives.
    func number(_ sql: String) async throws -> Int {
        try await database.pool.read { try Int.fetchOne($0, sql: sql) ?? 0 }
    }

    /// The bytes of the file and of its write-ahead log.
    func bytes() throws -> Data {
        let log = FileManager.default.contents(atPath: path + "-wal") ?? Data()
        return try Data(contentsOf: URL(filePath: path)) + log
    }

    /// Adds an account.
    @discardableResult
    func addAccount(
        _ email: String = "ana@example.com",
        state: Account.State = .active,
        language: Language = .english
    ) async throws -> Account {
        let account = try Account.sample(email, state: state, language: language)
        _ = try await accounts.insert(account)
        return account
    }
}

/// Runs a test with a new database in a folder that is removed afterwards.
func withStores<Result>(_ body: (TemporaryStores) async throws -> Result) async throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: "holdfast-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "holdfast.sqlite3").path
    let stores = TemporaryStores(path: path, database: try SQLiteDatabase(path: path))
    let result = try await body(stores)
    try stores.database.close()
    return result
}

extension Account {
    /// An account called Ana.
    static func sample(
        _ email: String = "ana@example.com",
        state: State = .active,
        language: Language = .english
    ) throws -> Account {
        Account(
            id: ID(rawValue: UUID()),
            email: try EmailAddress(email),
            firstName: try FirstName("Ana"),
            passwordHash: "old hash",
            state: state,
            language: language,
            createdAt: TemporaryStores.start
        )
    }
}

extension Date {
    /// The start of every test's time, and some seconds.
    static func after(_ seconds: TimeInterval) -> Date { TemporaryStores.start.addingTimeInterval(seconds) }
}

/// A wall clock that stands still until a test moves it.
final class WallClock: Sendable {
    private let date = Mutex(TemporaryStores.start)

    var now: @Sendable () -> Date { { self.date.withLock { $0 } } }

    func advance(by seconds: TimeInterval) {
        date.withLock { $0 = $0.addingTimeInterval(seconds) }
    }
}

/// What a number of concurrent calls give.
func concurrently<Value: Sendable>(
    _ count: Int,
    _ body: @escaping @Sendable (Int) async throws -> Value
) async throws -> [Value] {
    try await withThrowingTaskGroup(of: Value.self) { group in
        for number in 0..<count { group.addTask { try await body(number) } }
        return try await group.reduce(into: []) { $0.append($1) }
    }
}
