import AccountContract
import AccountCore
import AccountStoreTesting
import ErrorContract
import Foundation
import Idempotency
import PostgresDriver
import Testing

@testable import PostgresStores

@Suite(.timeLimit(.minutes(5))) struct SchemaTests {
    @Test("One of several starting servers creates the tables, and the others find them")
    func concurrently() async throws {
        try await withDatabase(isMigrated: false) { temporary in
            #expect(try await PostgresSchema.isNew(temporary.database))
            #expect(try await PostgresSchema.pending(temporary.database) == PostgresSchema.steps.map(\.name))
            let made = try await withThrowingTaskGroup(of: [String].self) { tasks in
                for number in 0..<8 {
                    let database = number.isMultiple(of: 2) ? temporary.database : temporary.other
                    tasks.addTask { try await PostgresSchema.migrate(database) }
                }
                return try await tasks.reduce(into: []) { $0 += $1 }
            }
            #expect(made == PostgresSchema.steps.map(\.name))
            #expect(try await PostgresSchema.pending(temporary.other).isEmpty)
            #expect(try await PostgresSchema.migrate(temporary.database).isEmpty)
            #expect(try await PostgresSchema.installation(temporary.database).count == 32)
        }
    }

    @Test("A failed step leaves no changes, and the next server runs it")
    func failure() async throws {
        try await withDatabase { temporary async throws in
            let broken =
                PostgresSchema.steps + [
                    .init(name: "next", statements: ["CREATE TABLE next_table (id uuid PRIMARY KEY)", "SELECT 1 / 0"])
                ]
            await #expect(throws: StoreFailure.self) { try await PostgresSchema.migrate(temporary.database, steps: broken) }
            let mended =
                PostgresSchema.steps + [
                    .init(name: "next", statements: ["CREATE TABLE next_table (id uuid PRIMARY KEY)"])
                ]
            #expect(try await PostgresSchema.migrate(temporary.other, steps: mended) == ["next"])
        }
    }

    @Test("A server keeps running during a migration, and the old version can't start after")
    func newerVersion() async throws {
        try await withDatabase { temporary async throws in
            let newer =
                PostgresSchema.steps + [
                    .init(name: "next", statements: ["ALTER TABLE account ADD COLUMN IF NOT EXISTS phone text"])
                ]
            let account = try await temporary.stores.addAccount()
            #expect(try await PostgresSchema.migrate(temporary.other, steps: newer) == ["next"])
            #expect(try await temporary.stores.accounts.account(id: account.id) == account)
            try await temporary.stores.addAccount("bob@example.com")
            let failure = await #expect(throws: StoreFailure.self) { try await PostgresSchema.migrate(temporary.database) }
            #expect(failure?.message.contains("newer version") == true)
        }
    }

    @Test("Idempotency keys without a size are found until expiry and count as 0 bytes")
    func idempotencyKeys() async throws {
        try await withDatabase(isMigrated: false) { temporary async throws in
            let before = PostgresSchema.steps.prefix { !$0.name.hasPrefix("idempotency keys count") }
            _ = try await PostgresSchema.migrate(temporary.database, steps: Array(before))
            let claim = try IdempotencyClaim.sample(owner: .address("ana", network: "home"))
            let expiry = PostgresValue.time(.after(100))
            let insertion: PostgresStatement = """
                INSERT INTO idempotency_key (digest, client, fingerprint, claim, is_finished, ends_at)
                VALUES ($1, 7, $2, 1, true, $3) ON CONFLICT (digest) DO NOTHING
                """
            try await temporary.database.execute(
                insertion,
                [.bytes(claim.key.rawValue), .bytes(claim.fingerprint.rawValue), expiry]
            )
            #expect(
                try await PostgresSchema.migrate(temporary.other)
                    == Array(PostgresSchema.steps.map(\.name).dropFirst(before.count))
            )
            // A server of the earlier version goes on beside the others.
            let other = try IdempotencyClaim.sample("other")
            try await temporary.database.execute(
                insertion,
                [.bytes(other.key.rawValue), .bytes(other.fingerprint.rawValue), expiry]
            )
            let store = PostgresIdempotencyStore(temporary.database)
            #expect(try await store.claim(claim, after: 99) == .finished(nil))
            #expect(try await store.claim(claim, after: 100) == .claimed)
            try await store.release(claim)
            while try await store.sweep(at: .after(100)) {}
            #expect(try await store.count() == 0)
            let sizes = try await temporary.database.execute("SELECT size FROM idempotency_pool WHERE size <> 0")
            #expect(sizes.rows.isEmpty)
        }
    }

    @Test("Accounts of an earlier version are verified, and its emails are sent")
    func accountChanges() async throws {
        try await withDatabase(isMigrated: false) { temporary async throws in
            let before = PostgresSchema.steps.prefix { !$0.name.hasPrefix("verified addresses") }
            _ = try await PostgresSchema.migrate(temporary.database, steps: Array(before))
            let account = try Account.sample()
            let insertion: PostgresStatement = """
                INSERT INTO account (id, email, first_name, password_hash, state, language, epoch, created_at)
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (id) DO NOTHING
                """
            let intents = [
                MailIntent(subject: .passwordReset(account.email), language: .english, createdAt: .after(1)),
                MailIntent(subject: .passwordChanged(account.id), language: .english, createdAt: .after(2)),
            ]
            try await temporary.database.execute(insertion, Array(account.values.prefix(8)))
            let queued: PostgresStatement = """
                INSERT INTO mail_intent (id, kind, email, account_id, language, created_at, due_at, failures, network, state)
                VALUES ($1, $2, $3, $4, $5, $6, $6, 0, '', 'waiting') ON CONFLICT (id) DO NOTHING
                """
            let rows = intents.map { intent -> [PostgresValue] in
                let columns = intent.subject.columns
                return [
                    .uuid(intent.id), .text(columns.kind), .text(columns.email?.text), .uuid(columns.account?.rawValue),
                    .text(intent.language.rawValue), .time(intent.createdAt),
                ]
            }
            try await temporary.database.execute(queued, rows[0])
            _ = try await PostgresSchema.migrate(temporary.other)
            // A server of the earlier version goes on beside the others.
            try await temporary.database.execute(queued, rows[1])
            #expect(try await temporary.stores.accounts.account(id: account.id) == account)
            #expect(account.isEmailVerified)
            let claimed = try await temporary.stores.intents.claim(limit: 9, at: .after(9), leaseEnd: .after(99))
            #expect(Set(claimed) == Set(intents))
            let later = Date.after(400 * 86_400)
            #expect(
                try await temporary.stores.records.purgeCandidates(at: later, unverifiedSince: later, limit: 9).isEmpty
            )
        }
    }

    @Test("Takes over the lock of a killed server once it has expired")
    func abandonedLock() async throws {
        try await withDatabase(isMigrated: false) { temporary in
            #expect(try await PostgresSchema.migrate(temporary.database, steps: []).isEmpty)
            try await temporary.database.execute(
                """
                INSERT INTO schema_lock (name, holder, expires_at)
                VALUES ('schema', $1, extract(epoch FROM clock_timestamp())::double precision + 1)
                ON CONFLICT (name) DO NOTHING
                """,
                [.uuid(UUID())]
            )
            #expect(try await PostgresSchema.migrate(temporary.database) == PostgresSchema.steps.map(\.name))
        }
    }
}
