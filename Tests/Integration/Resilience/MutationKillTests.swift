import AccountContract
import DataServerTesting
import Foundation
import GRDB
import TestSupport
import Testing

/// Tests that reset requests with idempotency keys are stored exactly once while the account server's process is killed.
@Suite(.timeLimit(.minutes(30))) struct MutationKillTests {
    /// A database in which a trigger copies the address of each enqueued email to a table `ledger`, in the same transaction. The queue
    /// itself can't be counted, because the worker removes emails from it.
    private enum Ledger: String, CaseIterable, CustomTestStringConvertible {
        case sqlite = "SQLite"
        case postgres = "PostgreSQL"

        var testDescription: String { rawValue }
    }

    @Test("Stores each reset request with a key exactly once despite random kills", arguments: Ledger.allCases)
    private func exactlyOnce(_ ledger: Ledger) async throws {
        switch ledger {
        case .sqlite: try await onSQLite()
        case .postgres: try await onPostgres()
        }
    }

    private func onSQLite() async throws {
        try await withFolder { folder in
            let server = try await migrated([:], in: folder)
            let file = try DatabaseQueue(path: folder.appending(path: "data/holdfast.sqlite3").path)
            try await file.write { database in
                try database.execute(
                    sql: """
                        CREATE TABLE ledger (email TEXT NOT NULL);
                        CREATE TRIGGER ledger AFTER INSERT ON mail_intent BEGIN INSERT INTO ledger VALUES (NEW.email); END;
                        """
                )
            }
            let count = try await requestResets(of: server)
            expect(try await file.read { try String.fetchAll($0, sql: "SELECT email FROM ledger") }, count)
        }
    }

    private func onPostgres() async throws {
        let postgres = try await PostgresServer.shared()
        let database = try await postgres.createDatabaseName()
        try await withFolder { folder in
            let settings = [
                "DATABASE_URL": postgres.url(database), "RATE_LIMIT_SCOPE": "server",
                "HOLDFAST_SECRET": "the secret of a server that is killed, of 48 letters",
            ]
            let server = try await migrated(settings, in: folder)
            try await postgres.sql(
                """
                CREATE TABLE ledger (email text NOT NULL);
                CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
                    $$ BEGIN INSERT INTO ledger VALUES (NEW.email); RETURN NEW; END $$;
                CREATE TRIGGER ledger AFTER INSERT ON mail_intent FOR EACH ROW EXECUTE FUNCTION note();
                """,
                database: database
            )
            let count = try await requestResets(of: server)
            let emails = try await postgres.sql("SELECT email FROM ledger", database: database)
            expect(emails.split(separator: "\n").map(String.init), count)
        }
    }

    /// Creates the schema, so that the trigger can be added before the server runs.
    private func migrated(_ settings: [String: String], in folder: URL) async throws -> KilledProgram {
        let data = folder.appending(path: "data").path
        let environment = ["ENVIRONMENT": "development", "RATE_LIMIT_MODE": "off", "IDEMPOTENCY_MEGABYTES": "4096"]
            .merging(TestStores.smallLimits) { $1 }.merging(settings) { $1 }
        let migrated = try await Binary.run(["migrate", "--data", data], environment: environment, in: folder)
        try #require(migrated.status == 0, "\(migrated.errors)")
        return KilledProgram("holdfast", ["serve", "--port", "0", "--data", data], environment: environment, in: folder)
    }

    /// Sends reset requests with different addresses and keys while the server is killed.
    /// - Returns: The number of requests.
    private func requestResets(of server: KilledProgram) async throws -> Int {
        let count = try await server.run(kills: rounds(4)) { number in
            let answer = try await server.send(
                AccountPath.requestPasswordReset,
                #"{"email":"user\#(number)@example.com"}"#,
                headers: ["Idempotency-Key: key-\(number)"]
            )
            #expect(answer.status == 200, "\(answer.text)")
        }
        print("\(rounds(4)) kills: \(count) reset requests")
        return count
    }

    /// Expects one email for each request.
    private func expect(_ emails: [String], _ count: Int) {
        #expect(emails.count == count)
        #expect(Set(emails) == Set((0..<count).map { "user\($0)@example.com" }))
    }
}
