import AccountContract
import AccountCore
import AccountStoreTesting
import ErrorContract
import Foundation
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
