import DataServerTesting
import PostgresDriver
import Testing

@Suite struct PgBouncerTests {
    @Test("Statements and transactions run through PgBouncer in transaction mode")
    func transactionMode() async throws {
        let server = try await PostgresServer.shared()
        let database = try await server.createDatabaseName()
        let bouncer = try await PgBouncer.start(for: server)
        try await withClient(url: server.url(database, port: bouncer.port, "prepared_statements=false&pool_max=8")) { client in
            try await client.execute("CREATE TABLE t (id bigint PRIMARY KEY)")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<40 {
                    group.addTask {
                        try await client.transaction { transaction in
                            try await transaction.execute("INSERT INTO t VALUES ($1)", [.integer(number)])
                            let timeout = try await transaction.execute("SHOW statement_timeout").rows[0].value(0) as String
                            #expect(timeout == "90s")
                        }
                        #expect(try await client.execute("SELECT $1", [.integer(number)]).rows[0].value(0) as Int == number)
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await client.execute("SELECT count(*) FROM t").rows[0].value(0) as Int == 40)
            // The setting ended with its transaction.
            #expect(try await client.execute("SHOW statement_timeout").rows[0].value(0) as String == "0")
            try await expectNoTransaction(in: database, of: server)
        }
    }
}
