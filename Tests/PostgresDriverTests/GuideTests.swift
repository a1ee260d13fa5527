import DataServerTesting
import Foundation
import Logging
import PostgresDriver
import Testing

extension PostgresSettings {
    /// The guide has the standard timeouts. Here they are long, because a busy machine can pause for longer.
    fileprivate init(url: String) throws {
        self = try patientSettings(url: url)
    }
}

@Suite struct GuideTests {
    @Test("Getting started: writes a row and counts")
    func gettingStarted() async throws {
        let url = try await PostgresServer.shared().createDatabase()
        // snippet: start-postgres-driver
        let client = PostgresClient(try PostgresSettings(url: url), logger: Logger(label: "notes"))
        try await client.execute("CREATE TABLE note (id uuid PRIMARY KEY, title text NOT NULL)")
        let id = UUID()
        let count = try await client.transaction { transaction in
            try await transaction.execute(
                "INSERT INTO note (id, title) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING",
                [.uuid(id), .text("Milk")]
            )
            return try await transaction.execute("SELECT count(*) FROM note").rows[0].value(0) as Int
        }
        print(count)
        await client.close()
        // snippet end
        #expect(count == 1)
    }
}
