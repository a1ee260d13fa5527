import AccountCore
import AccountStoreTesting
import Foundation
import PostgresDriver
import PostgresStores
import Testing

@Suite(.timeLimit(.minutes(5))) struct SweepTests {
    @Test("One sweep removes all failed emails whose retention has ended")
    func failedEmails() async throws {
        try await withDatabase { temporary in
            try await temporary.database.execute(
                """
                INSERT INTO mail_intent (id, kind, language, created_at, due_at, failures, state, network)
                SELECT gen_random_uuid(), 'password_changed', 'en', i, CASE WHEN i > 1200 THEN 4e9 ELSE 1 END, 1, 'failed', ''
                FROM generate_series(1, 1201) AS i
                """
            )
            try await temporary.stores.intents.sweep(at: .after(0))
            let left = try await temporary.database.execute("SELECT count(*) FROM mail_intent").rows[0].value(0) as Int
            #expect(left == 1, "the retention of one email has not ended")
        }
    }
}
