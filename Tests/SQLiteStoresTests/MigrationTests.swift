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
        try await withStores { stores in
            let token = try await stores.mint(for: try await stores.addAccount())
            try await stores.execute("ALTER TABLE reset_token DROP COLUMN email_key")
            try await stores.execute("DELETE FROM grdb_migrations WHERE identifier LIKE 'reset tokens belong%'")
            #expect(try await stores.reopened().isLive(token))
        }
    }

    @Test("Idempotency keys of a file from before they were counted in bytes are found until they expire, and count for nothing")
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

    @Test("Intents of a file from before they were ordered keep their states")
    func intents() async throws {
        try await withStores { stores in
            let intents = try (0..<3).map { try makeIntent($0, after: TimeInterval($0)) }
            for intent in intents { try await stores.intents.enqueue(intent) }
            _ = try await stores.intents.claim(limit: 2, at: .after(1), leaseEnd: .after(100))
            try await stores.intents.abandon(intents[0], leaseEnd: .after(100), until: .after(300), reason: "550")
            try await stores.execute(
                """
                CREATE TABLE old AS SELECT * FROM mail_intent;
                DROP TABLE mail_intent;
                ALTER TABLE old RENAME TO mail_intent;
                DROP TABLE sent_reset;
                DROP TABLE steady_time;
                DELETE FROM grdb_migrations WHERE identifier LIKE 'mail intents lie%' OR identifier LIKE 'mails in turn%';
                """
            )
            let again = try stores.reopened()
            #expect(try await again.intents.mails(limit: 9).map(\.state) == [.failed, .taken, .waiting])
            #expect(try await again.intents.claim(limit: 9, at: .after(100), leaseEnd: .after(200)) == [intents[2], intents[1]])
            try await again.intents.settle(intents[2])
            #expect(try await again.intents.mails(limit: 9).map(\.id) == intents[..<2].map(\.id))
        }
    }
}
