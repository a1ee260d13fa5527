import AccountContract
import AccountCore
import AccountStoreTesting
import ErrorContract
import Foundation
import GRDB
import Testing

@testable import SQLiteStores

@Suite struct SQLiteDatabaseTests {
    /// The number of steps of the schema.
    private static let migrations = SQLiteSchema.migrator.migrations.count

    @Test("A reported commit is on disk: FULL and WAL on the writer, also after reopening")
    func durability() async throws {
        try await withStores { stores in
            for database in [stores.database, try stores.reopened().database] {
                #expect(try await database.synchronousLevel() == 2)
                let mode = try await database.pool.writeWithoutTransaction {
                    try String.fetchOne($0, sql: "PRAGMA journal_mode")
                }
                #expect(mode == "wal")
            }
            try await stores.database.ping()
            #expect(try await stores.database.synchronousLevel() == 2, "it stays so once there were writes")
        }
    }

    @Test("A database whose file was removed or replaced reports that it is not ready", arguments: [true, false])
    func replaced(by another: Bool) async throws {
        try await withStores { stores in
            try await stores.database.ping()
            let aside = stores.path + ".aside"
            try FileManager.default.moveItem(atPath: stores.path, toPath: aside)
            if another { try FileManager.default.copyItem(atPath: aside, toPath: stores.path) }
            let failure = await #expect(throws: StoreFailure.self) { try await stores.database.ping() }
            #expect(failure?.message.contains("removed or replaced") == true)
            if another { try FileManager.default.removeItem(atPath: stores.path) }
            try FileManager.default.moveItem(atPath: aside, toPath: stores.path)
            try await stores.database.ping()
        }
    }

    @Test("An unwritable database is not ready; an invalid write does not affect readiness")
    func readiness() async throws {
        try await withStores { stores in
            let database = stores.database
            try await stores.addAccount()
            let wrong = StoredResetToken(
                digest: SecretToken().digest,
                accountID: Account.ID(rawValue: UUID()),
                recipient: try EmailAddress("nobody@example.com"),
                createdAt: .after(0),
                expiresAt: .after(1)
            )
            await #expect(throws: StoreFailure.self) { try await stores.resetTokens.insert(wrong, liveLimit: 3) }
            try await database.ping()
            try await database.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA query_only = 1") }
            try await database.ping()
            let failure = await #expect(throws: StoreFailure.self) { try await stores.addAccount("ben@example.com") }
            #expect(failure?.message.contains("SQLite error 8 (") == true, "\(String(describing: failure))")
            for _ in 0..<3 { await #expect(throws: StoreFailure.self) { try await database.ping() } }
            try await database.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA query_only = 0") }
            try await database.ping()
            try await stores.addAccount("ben@example.com")
        }
    }

    @Test("Enforces foreign keys")
    func foreignKeys() async throws {
        try await withStores { stores async throws in
            await #expect(throws: DatabaseError.self) {
                try await stores.execute("INSERT INTO session (id, account_id, created_at, refreshed_at) VALUES ('a', 'b', 0, 0)")
            }
            #expect(try await stores.number("SELECT COUNT(*) FROM session") == 0)
        }
    }

    @Test("A reopened file has its rows and is not migrated twice")
    func reopening() async throws {
        try await withStores { stores in
            let account = try await stores.addAccount()
            try stores.database.close()
            for _ in 0..<3 {
                let again = try stores.reopened()
                #expect(try await again.accounts.accounts() == [account])
                #expect(try await again.number("SELECT COUNT(*) FROM grdb_migrations") == Self.migrations)
                try again.database.close()
            }
        }
    }

    @Test("One of many processes that open a new file migrates it")
    func concurrentOpening() async throws {
        for _ in 0..<10 {
            let folder = FileManager.default.temporaryDirectory.appending(path: "holdfast-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let path = folder.appending(path: "new.sqlite3").path
            let databases = try await concurrently(4) { _ in try SQLiteDatabase(path: path) }
            for database in databases { try await database.ping() }
            let steps = try await databases[0].pool.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM grdb_migrations") }
            #expect(steps == Self.migrations)
            for database in databases { try database.close() }
        }
    }

    @Test("A ping succeeds until the database is closed, and writes nothing")
    func ping() async throws {
        try await withStores { stores in
            let before = try stores.bytes()
            try await stores.database.ping()
            #expect(try stores.bytes() == before)
            try stores.database.close()
            await #expect(throws: (any Error).self) { try await stores.database.ping() }
        }
    }

    @Test("Refuses a file that is not a database, and does not change it")
    func noDatabase() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "holdfast-\(UUID().uuidString).sqlite3")
        defer { for suffix in ["", "-lock"] { try? FileManager.default.removeItem(atPath: file.path + suffix) } }
        let content = Data(String(repeating: "This is a letter, not a database. ", count: 200).utf8)
        try content.write(to: file)
        #expect(throws: DatabaseError.self) { try SQLiteDatabase(path: file.path) }
        #expect(try Data(contentsOf: file) == content)
    }

    @Test("Refuses another application's database, and does not change its tables")
    func foreignDatabase() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "holdfast-\(UUID().uuidString).sqlite3")
        defer {
            for suffix in ["", "-wal", "-shm", "-lock"] { try? FileManager.default.removeItem(atPath: file.path + suffix) }
        }
        let foreign = try DatabaseQueue(path: file.path)
        try foreign.write { try $0.execute(sql: "CREATE TABLE account (name TEXT); INSERT INTO account VALUES ('x')") }
        try foreign.close()
        #expect(throws: DatabaseError.self) { try SQLiteDatabase(path: file.path) }
        let names = try DatabaseQueue(path: file.path).read { try String.fetchAll($0, sql: "SELECT name FROM account") }
        #expect(names == ["x"])
    }

    @Test("Refuses a path that can't be opened", arguments: ["/nonexistent/folder/x.sqlite3", "/proc/x.sqlite3"])
    func badPath(_ path: String) {
        #expect(throws: DatabaseError.self) { try SQLiteDatabase(path: path) }
    }

    @Test("After a purge, no byte of the files has the address or the name of the account")
    func purge() async throws {
        try await withStores { stores in
            var account = try Account.sample("canary.address@example.com")
            account.firstName = try FirstName("Canaryname")
            #expect(try await stores.accounts.insert(account))
            try await stores.addAccount("other@example.com")
            try await stores.move(account, to: "canary.second@example.com", until: 1_000)
            try await stores.intents.enqueue(
                MailIntent(
                    subject: .registration(try EmailAddress("Canary.Address@example.com"), account.firstName),
                    language: .english,
                    createdAt: .after(0)
                )
            )
            try await stores.records.insert(try .registration(of: "canary.second@example.com", name: "Canaryname"))
            let canaries = ["canary", "Canary"].map { Data($0.utf8) }
            for canary in canaries { #expect(try stores.bytes().firstRange(of: canary) != nil) }
            // Some pages are already in the file, and some only in the log.
            _ = try await stores.records.purge([account.id], at: .after(5), unverifiedSince: nil, isForced: true)
            try await stores.records.scrub()
            for canary in canaries { #expect(try stores.bytes().firstRange(of: canary) == nil) }
            #expect(try stores.bytes().firstRange(of: Data("other@example.com".utf8)) != nil)
        }
    }

    @Test("Scrubbing waits for an older read, and fails as busy only if the read continues")
    func scrub() async throws {
        try await withStores { stores in
            try await stores.addAccount()
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            let reader = try DatabaseQueue(path: stores.path, configuration: configuration)
            try reader.inDatabase { database in
                try database.execute(sql: "BEGIN")
                _ = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM account")
            }
            try await stores.addAccount("ben@example.com")
            async let scrub: Void = stores.records.scrub()
            try await Task.sleep(for: .milliseconds(400))
            // A write is not blocked by the waiting truncation.
            try await stores.addAccount("carla@example.com")
            try reader.inDatabase { try $0.execute(sql: "COMMIT") }
            do {
                try await scrub
            } catch let failure as StoreFailure where failure.isBusy {
                // The machine paused for longer than a scrub waits. No read prevents the next one.
                try await stores.records.scrub()
            }
            let log = try FileManager.default.attributesOfItem(atPath: stores.path + "-wal")[.size] as? Int
            #expect(log == 0)
        }
    }
}
