import AccountContract
import AccountCore
import AccountStoreTesting
import ErrorContract
import Foundation
import GRDB
import HTTPTypes
import Idempotency
import Testing

@testable import SQLiteStores

@Suite struct MigrationTests {
    private func makeIntent(_ number: Int = 0, after seconds: TimeInterval = 0) throws -> MailIntent {
        MailIntent(
            subject: .passwordReset(try EmailAddress("Ana\(number)@example.com")),
            language: Language("es-MX"),
            createdAt: .after(seconds)
        )
    }

    @Test("Links of a database from before the address was stored remain valid")
    func resetTokens() async throws {
        let token = SecretToken().digest
        let account = try Account.sample()
        try await withStores(before: "reset tokens belong") { database in
            try insert(account, into: database)
            try database.execute(
                sql: "INSERT INTO reset_token (digest, account_id, created_at, expires_at) VALUES (?, ?, ?, ?)",
                arguments: [
                    token.bytes, account.id.description, Date.after(0).timeIntervalSince1970,
                    Date.after(3_600).timeIntervalSince1970,
                ]
            )
        } then: { stores async throws in
            #expect(try await stores.isLive(token))
            #expect(try await stores.resetTokens.tokens(of: account.id).map(\.recipient) == [account.email])
        }
    }

    @Test("Idempotency keys without a size are found until expiry and count as 0 bytes")
    func idempotencyKeys() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).sqlite3")
        defer { for suffix in ["", "-wal", "-shm", "-lock"] { try? FileManager.default.removeItem(atPath: file.path + suffix) } }
        let claim = try IdempotencyClaim.sample(owner: .address("ana", network: "home"))
        let response = try #require(IdempotentResponse(status: 204, headers: [:], body: []))
        let pool = try DatabasePool(path: file.path)
        let migrations = SQLiteSchema.migrator.migrations
        let last = try #require(migrations.firstIndex { $0.hasPrefix("idempotency keys count") })
        try SQLiteSchema.migrator.migrate(pool, upTo: migrations[last - 1])
        try await pool.write { database in
            try database.execute(
                sql: """
                    INSERT INTO idempotency_key (digest, client, fingerprint, claim, is_finished, ends_at, status, headers, body)
                    VALUES (?, 7, ?, 1, 1, ?, 204, '[]', x'')
                    """,
                arguments: [Data(claim.key.rawValue), Data(claim.fingerprint.rawValue), Date.after(100).timeIntervalSince1970]
            )
        }
        try pool.close()
        let database = try SQLiteDatabase(path: file.path)
        let store = SQLiteIdempotencyStore(database)
        #expect(try await store.claim(claim, after: 99) == .finished(response))
        #expect(try await store.claim(claim, after: 100) == .claimed)
        try await store.release(claim)
        let counted = try await database.read { database in
            try Int.fetchAll(database, sql: "SELECT size FROM idempotency_usage UNION SELECT size FROM idempotency_pool")
        }
        #expect(counted == [0])
        try database.close()
    }

    @Test(
        "Intents of an earlier version keep their states",
        arguments: ["mail intents lie in the order", "mails in turn by network", "verified addresses"]
    )
    func intents(_ migration: String) async throws {
        let intents = try (0..<3).map { try makeIntent($0, after: TimeInterval($0)) }
        let confirmation = MailIntent(
            subject: .passwordChanged(.init(rawValue: UUID())),
            language: .english,
            createdAt: .after(3),
            origin: AuditOrigin(client: "203.0.113.7", requestID: "request")
        )
        try await withStores(before: migration) { database in
            for (intent, state) in zip(intents + [confirmation], ["failed", "taken", "waiting", "waiting"]) {
                let columns = intent.subject.columns
                try database.execute(
                    sql: """
                        INSERT INTO mail_intent
                            (id, kind, email, account_id, language, created_at, due_at, failures, state, client, request_id)
                        VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?)
                        """,
                    arguments: [
                        intent.id.uuidString.lowercased(), columns.kind, columns.email?.text, columns.account?.description,
                        intent.language.rawValue, intent.createdAt.timeIntervalSince1970,
                        (state == "waiting" ? intent.createdAt : .after(100)).timeIntervalSince1970, state, intent.origin.client,
                        intent.origin.requestID,
                    ]
                )
            }
        } then: { stores async throws in
            #expect(try await stores.intents.mails(limit: 9).map(\.state) == [.failed, .taken, .waiting, .waiting])
            let claimed = try await stores.intents.claim(limit: 9, at: .after(100), leaseEnd: .after(200))
            #expect(Set(claimed) == [confirmation, intents[2], intents[1]])
            try await stores.intents.settle(intents[2])
            try await stores.intents.settle(confirmation)
            #expect(try await stores.intents.mails(limit: 9).map(\.id) == intents[..<2].map(\.id))
        }
    }

    @Test("Accounts of an earlier version are verified, keep sessions, and are not removed")
    func accounts() async throws {
        let account = try Account.sample()
        let (session, token) = (StoredSession.ID(rawValue: UUID()), SecretToken().digest)
        try await withStores(before: "verified addresses") { database in
            try insert(account, into: database)
            try database.execute(
                sql: "INSERT INTO session (id, account_id, created_at, refreshed_at) VALUES (?1, ?2, ?3, ?3)",
                arguments: [session.description, account.id.description, Date.after(0).timeIntervalSince1970]
            )
            try database.execute(
                sql: "INSERT INTO refresh_token (digest, session_id) VALUES (?, ?)",
                arguments: [token.bytes, session.description]
            )
        } then: { stores async throws in
            #expect(try await stores.accounts.account(id: account.id) == account)
            #expect(account.isEmailVerified)
            let expected = StoredSession(id: session, accountID: account.id, createdAt: .after(0))
            #expect(try await stores.sessions.sessions(of: account.id, limit: .max).map(\.session) == [expected])
            let outcome = try await stores.sessions.rotate(
                token,
                to: SecretToken().digest,
                at: .after(31 * 86_400 - 86_400),
                rules: SessionRules()
            )
            #expect(outcome == .rotated(expected))
            let later = Date.after(400 * 86_400)
            #expect(try await stores.records.purgeCandidates(at: later, unverifiedSince: later, limit: 9).isEmpty)
        }
    }

    @Test("A migration seals the new tables of a sealed database")
    func seal() async throws {
        try await withStores(before: "verified addresses") { database in
            for (table, change) in [("account", "insert"), ("mail_intent", "delete")] {
                try database.execute(
                    sql: """
                        CREATE TRIGGER moved_\(table)_\(change) BEFORE \(change) ON \(table)
                        BEGIN SELECT RAISE(ABORT, 'the data was moved'); END
                        """
                )
            }
        } then: { stores async throws in
            let failure = StoreFailure.moved
            await #expect(throws: failure) { try await stores.records.insert(try .registration(of: "ana@example.com")) }
            await #expect(throws: failure) { try await stores.intents.enqueue(try makeIntent()) }
            #expect(try SQLiteSeal.isClosed(URL(filePath: stores.path)))
        }
    }

    @Test("A migration removes the log of an incomplete copy, which must begin again")
    func copyLog() async throws {
        let account = try Account.sample()
        try await withStores(before: "verified addresses") { database in
            try database.execute(
                sql: """
                    CREATE TABLE copy_change (number INTEGER PRIMARY KEY, source INTEGER NOT NULL, key1, key2, key3);
                    CREATE TABLE copy_log (name TEXT NOT NULL);
                    CREATE TRIGGER copy_account_insert AFTER INSERT ON account BEGIN
                        INSERT INTO copy_change (source, key1) VALUES (0, NEW.id);
                    END;
                    """
            )
        } then: { stores async throws in
            #expect(try await stores.accounts.insert(account))
            #expect(try await stores.number("SELECT COUNT(*) FROM sqlite_master WHERE name LIKE 'copy%'") == 0)
        }
    }

    /// Adds an account to the tables of any version.
    private func insert(_ account: Account, into database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO account (id, email, email_key, first_name, password_hash, state, language, epoch, created_at)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                account.id.description, account.email.text, account.email.normalized, account.firstName.rawValue,
                account.passwordHash, account.state.rawValue, account.language.rawValue, account.epoch,
                account.createdAt.timeIntervalSince1970,
            ]
        )
    }

    /// Runs a test on a file that an earlier version has written.
    /// - Parameters:
    ///   - migration: The beginning of the name of the first migration that the earlier version didn't have.
    ///   - fill: Adds rows with the tables of the earlier version.
    ///   - body: Uses the file with the present version.
    private func withStores(
        before migration: String,
        _ fill: (Database) throws -> Void,
        then body: (TemporaryStores) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "holdfast-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "holdfast.sqlite3").path
        let queue = try DatabaseQueue(path: path)
        let migrations = SQLiteSchema.migrator.migrations
        let next = try #require(migrations.firstIndex { $0.hasPrefix(migration) })
        try SQLiteSchema.migrator.migrate(queue, upTo: migrations[next - 1])
        try queue.inDatabase(fill)
        try queue.close()
        let stores = try TemporaryStores(path: path)
        try await body(stores)
        try stores.database.close()
    }
}
