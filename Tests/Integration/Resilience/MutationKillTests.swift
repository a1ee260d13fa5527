import AccountContract
import Foundation
import GRDB
import Testing

/// The account server's own mutations with idempotency keys, while the process is killed.
@Suite(.timeLimit(.minutes(30))) struct MutationKillTests {
    @Test("A server that is killed at random moments stores each keyed reset request exactly once")
    func exactlyOnce() async throws {
        try await withFolder { folder in
            let data = folder.appending(path: "data")
            let environment = ["ENVIRONMENT": "development", "RATE_LIMIT_MODE": "off", "IDEMPOTENCY_MEGABYTES": "1024"]
            let migrated = try await Binary.run(["migrate", "--data", data.path], environment: environment, in: folder)
            try #require(migrated.status == 0, "\(migrated.errors)")
            let file = try DatabaseQueue(path: data.appending(path: "holdfast.sqlite3").path)
            // The mail worker removes intents: a trigger notes each one in the transaction that adds it.
            try await file.write { database in
                try database.execute(
                    sql: """
                        CREATE TABLE ledger (email TEXT NOT NULL);
                        CREATE TRIGGER ledger AFTER INSERT ON mail_intent BEGIN INSERT INTO ledger VALUES (NEW.email); END;
                        """
                )
            }
            let server = KilledProgram(
                "holdfast",
                ["serve", "--port", "0", "--data", data.path],
                environment: environment,
                in: folder
            )
            let count = try await server.run(kills: rounds(4)) { number in
                let answer = try await server.send(
                    AccountPath.requestPasswordReset,
                    #"{"email":"user\#(number)@example.com"}"#,
                    headers: ["Idempotency-Key: key-\(number)"]
                )
                #expect(answer.status == 200, "\(answer.text)")
            }
            let emails = try await file.read { try String.fetchAll($0, sql: "SELECT email FROM ledger") }
            #expect(emails.count == count)
            #expect(Set(emails) == Set((0..<count).map { "user\($0)@example.com" }))
            print("\(rounds(4)) kills: \(count) reset requests")
        }
    }
}
