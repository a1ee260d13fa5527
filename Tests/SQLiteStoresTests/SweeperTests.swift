import AccountContract
import AccountCore
import AccountStoreTesting
import Foundation
import HoldfastTesting
import InMemoryLogging
import Logging
import Testing

@testable import SQLiteStores

@Suite(.timeLimit(.minutes(10))) struct SweeperTests {
    private func sweeper(
        _ stores: TemporaryStores,
        clock: ManualClock = ManualClock(),
        now: @escaping @Sendable () -> Date = { .after(0) },
        logger: Logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
    ) -> Sweeper<ManualClock> {
        Sweeper(
            stores: stores,
            rules: SessionRules(),
            clock: clock,
            now: now,
            logger: logger
        )
    }

    @Test("Sweeps at once and every five minutes until it is stopped")
    func rounds() async throws {
        try await withStores { stores in
            let account = try await stores.addAccount()
            let wall = WallClock()
            let clock = ManualClock()
            let sweeper = sweeper(stores, clock: clock, now: wall.now)
            let run = Task { try await sweeper.run() }
            await clock.waitForSleepers()
            for _ in 0..<3 {
                let token = try await stores.mint(for: account, after: wall.now().timeIntervalSince(.after(0)))
                let session = try await OpenedSession(stores, account: account)
                wall.advance(by: 38 * 86_400)
                #expect(try await session.isAlive)
                clock.advance(by: .seconds(299))
                #expect(try await stores.number("SELECT COUNT(*) FROM reset_token") == 1)
                clock.advance(by: .seconds(1))
                await clock.waitForSleepers()
                #expect(try await stores.number("SELECT COUNT(*) FROM reset_token") == 0)
                #expect(try await !session.isAlive)
                #expect(try await !stores.isLive(token))
            }
            run.cancel()
            try await run.value
        }
    }

    @Test("Logs a failed sweep and repeats it")
    func failure() async throws {
        try await withStores { stores async throws in
            let clock = ManualClock()
            let logs = InMemoryLogHandler()
            let sweeper = sweeper(stores, clock: clock, logger: Logger(label: "test") { _ in logs })
            try await stores.execute("ALTER TABLE reset_token RENAME TO elsewhere")
            let run = Task { try await sweeper.run() }
            await clock.waitForSleepers()
            #expect(logs.entries.map(\.message) == ["Sweep failed"])
            try await stores.execute("ALTER TABLE elsewhere RENAME TO reset_token")
            clock.advance(by: .seconds(300))
            await clock.waitForSleepers()
            #expect(logs.entries.count == 1)
            run.cancel()
            try await run.value
        }
    }

    @Test("One sweep removes all expired rows, however many")
    func backlog() async throws {
        try await withStores { stores in
            let account = try await stores.addAccount()
            let many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1700)"
            for insertion in [
                "INSERT INTO session (id, account_id, created_at, refreshed_at) SELECT 's' || i, '\(account.id)', 0, 0 FROM n",
                "INSERT INTO reset_token (digest, account_id, created_at, expires_at) SELECT randomblob(32), '\(account.id)', 0, 1 FROM n",
                "INSERT INTO freeze_token (digest, account_id, expires_at) SELECT randomblob(32), '\(account.id)', 1 FROM n",
                """
                INSERT INTO account_link (digest, purpose, email, email_key, epoch, language, created_at, expires_at)
                SELECT randomblob(32), 'activate', 'a@example.com', 'a@example.com', 0, 'en', 0, 1 FROM n
                """,
                """
                INSERT INTO former_address (account_id, place, email, email_key, replaced_at, expires_at)
                SELECT '\(account.id)', i, 'a@example.com', 'a@example.com', 0, 1 FROM n
                """,
                "INSERT INTO audit_event (account_id, kind, time) SELECT '\(account.id)', 'signed_in', 1750000000.0 - i FROM n",
            ] { try await stores.execute("\(many) \(insertion)") }
            let opened = try await OpenedSession(stores, account: account)
            try await stores.execute(
                "\(many) INSERT INTO refresh_token SELECT randomblob(32), '\(opened.session.id)', NULL, 1 FROM n"
            )
            try await sweeper(stores).sweep()
            for (table, left) in [
                ("session", 1), ("refresh_token", 1), ("reset_token", 0), ("freeze_token", 0), ("account_link", 0),
                ("former_address", 0),
                ("audit_event", AuditRetention.perKind),
            ] {
                #expect(try await stores.number("SELECT COUNT(*) FROM \(table)") == left, "\(table)")
            }
        }
    }

    @Test("Removes failed emails in transactions of at most 500 rows")
    func failedEmails() async throws {
        try await withStores { stores in
            try await stores.execute(
                """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1700)
                INSERT INTO mail_intent (id, kind, language, created_at, due_at, failures, state)
                SELECT 'm' || i, 'password_changed', 'en', i, 1, 1, 'failed' FROM n
                """
            )
            // The removal of the last row fails, which undoes only its own transaction.
            try await stores.execute(
                """
                CREATE TRIGGER refusal BEFORE DELETE ON mail_intent WHEN OLD.id = 'm1700'
                BEGIN SELECT RAISE(ABORT, 'refused'); END
                """
            )
            await #expect(throws: (any Error).self) { try await stores.intents.sweep(at: .after(0)) }
            #expect(try await stores.number("SELECT COUNT(*) FROM mail_intent") == 200)
            try await stores.execute("DROP TRIGGER refusal")
            try await stores.intents.sweep(at: .after(0))
            #expect(try await stores.number("SELECT COUNT(*) FROM mail_intent") == 0)
        }
    }
}
