import DataServerTesting
import Foundation
import Logging
import PostgresDriver
import Synchronization
import Testing

/// Runs a closure with a client of an empty database.
func withClient(
    _ parameters: String = "",
    of server: PostgresServer? = nil,
    _ change: (inout PostgresSettings) -> Void = { _ in },
    _ body: (PostgresClient, PostgresServer, _ database: String) async throws -> Void
) async throws {
    let server = if let server { server } else { try await PostgresServer.shared() }
    let database = try await server.createDatabaseName()
    try await withClient(url: server.url(database, parameters), change) { try await body($0, server, database) }
}

/// Returns the settings of a URL, with timeouts for a machine that hundreds of tests share, and that can pause for many seconds.
func patientSettings(url: String) throws -> PostgresSettings {
    var settings = try PostgresSettings(url: url)
    (settings.queryTimeout, settings.acquireTimeout) = (.seconds(120), .seconds(120))
    (settings.statementTimeout, settings.lockTimeout) = (.seconds(90), .seconds(90))
    settings.idleInTransactionTimeout = .seconds(90)
    return settings
}

/// Runs a closure with a client of a URL. Its timeouts are long, unless another closure changes them.
func withClient(
    url: String,
    _ change: (inout PostgresSettings) -> Void = { _ in },
    _ body: (PostgresClient) async throws -> Void
) async throws {
    var settings = try patientSettings(url: url)
    change(&settings)
    let client = PostgresClient(settings, logger: Logger(label: "test"))
    do {
        try await body(client)
    } catch {
        await client.close()
        throw error
    }
    await client.close()
    #expect(client.status.open == 0 && client.status.waiting == 0)
}

@Suite struct StatementTests {
    @Test("Every type survives a round trip", arguments: [true, false])
    func roundTrip(preparesStatements: Bool) async throws {
        try await withClient {
            $0.preparesStatements = preparesStatements
        } _: { client, _, _ in
            let (id, other) = (UUID(), UUID())
            let time = Date(timeIntervalSince1970: 1_730_716_260.123_456_7)
            for _ in 0..<2 {
                let result = try await client.execute(
                    "SELECT $1, $2, $3, $4, $5, $6, $7::text, $8, ($9)[2], ($10)[1], cardinality($11), $12::int, $13, $14",
                    [
                        .bool(true), .integer(.min), .double(-1.5e300), .text("Añ🙂"), .bytes([0, 255, 1]), .uuid(id), .null,
                        .time(time), .uuids([other, id]), .texts(["", "x"]), .uuids([]), .integer(7), .text(""), .bytes([]),
                    ]
                )
                let row = try #require(result.rows.first)
                #expect(try row.value(0) as Bool)
                #expect(try row.value(1) as Int == .min)
                #expect(try row.value(2) as Double == -1.5e300)
                #expect(try row.value(3) as String == "Añ🙂")
                #expect(try row.value(4) as [UInt8] == [0, 255, 1])
                #expect(try row.value(5) as UUID == id)
                #expect(try row.value(6) as String? == nil)
                #expect(try row.value(7) as Date == time)
                #expect(try row.value(8) as UUID == id)
                #expect(try row.value(9) as String == "")
                #expect(try row.value(10) as Int == 0)
                #expect(try row.value(11) as Int == 7)
                #expect(try row.value(12) as String == "")
                #expect(try row.value(13) as [UInt8] == [])
            }
        }
    }

    @Test("Counts the rows that a statement changes, and binds NULL before and after values")
    func counts() async throws {
        try await withClient { client, _, _ in
            try await client.execute("CREATE TABLE t (id bigint PRIMARY KEY, small integer, name text)")
            let insert: PostgresStatement = "INSERT INTO t VALUES ($1, $2, $3)"
            #expect(try await client.execute(insert, [.integer(1), .null, .null]).count == 1)
            #expect(try await client.execute(insert, [.integer(2), .integer(5), .text("b")]).count == 1)
            #expect(try await client.execute(insert, [.integer(3), .null, .text("c")]).count == 1)
            let changed = try await client.execute("UPDATE t SET name = 'x' WHERE id > $1 RETURNING id", [.integer(1)])
            #expect(changed.count == 2 && changed.rows.count == 2)
            #expect(try await client.execute("SELECT small FROM t WHERE id = 2").rows[0].value(0) as Int == 5)
        }
    }

    @Test("Transfers a large parameter and a large result at the same time")
    func large() async throws {
        try await withClient { client, _, _ in
            let bytes = [UInt8](repeating: 7, count: 8_000_000)
            let results = try await client.transaction { transaction in
                let value = [PostgresValue.bytes(bytes)]
                return try await transaction.execute([("SELECT $1", value), ("SELECT $1", value), ("SELECT $1", value)])
            }
            #expect(try results.map { try $0.rows[0].value(0) as [UInt8] } == [bytes, bytes, bytes])
        }
    }

    @Test("An error has its SQLSTATE, and the connection is reused")
    func errors() async throws {
        try await withClient { client, _, _ in
            let first = try await client.execute("SELECT pg_backend_pid()").rows[0].value(0) as Int
            await #expect(throws: PostgresError.refused("42703")) { try await client.execute("SELECT missing") }
            await #expect(throws: PostgresError.refused("22012")) {
                try await client.execute("SELECT 1 / $1", [.integer(0)])
            }
            #expect(try await client.execute("SELECT pg_backend_pid()").rows[0].value(0) as Int == first)
            #expect(client.status.open == 1)
        }
    }

    @Test("Connects through a Unix socket and by name")
    func hosts() async throws {
        let server = try await PostgresServer.shared()
        let socket = server.folder.path.replacing("/", with: "%2F")
        for url in ["postgres://app@\(socket):\(server.port)/postgres", "postgres://app@localhost:\(server.port)/postgres"] {
            try await withClient(url: url) { client in
                let row = try await client.execute("SELECT 1").rows[0]
                #expect(try row.value(0) as Int == 1)
            }
        }
    }
}

@Suite struct TransactionTests {
    @Test("A transaction commits, and rolls back when its closure throws")
    func rollback() async throws {
        struct Failure: Error {}
        try await withClient { client, server, database in
            try await client.execute("CREATE TABLE t (id bigint PRIMARY KEY)")
            let count = try await client.transaction { transaction in
                try await transaction.execute("INSERT INTO t VALUES (1)")
                return try await transaction.execute("SELECT count(*) FROM t").rows[0].value(0) as Int
            }
            #expect(count == 1)
            await #expect(throws: Failure.self) {
                try await client.transaction { transaction in
                    try await transaction.execute("INSERT INTO t VALUES (2)")
                    throw Failure()
                }
            }
            #expect(try await client.execute("SELECT count(*) FROM t").rows[0].value(0) as Int == 1)
            try await expectNoTransaction(in: database, of: server)
            #expect(client.status.open == 1 || client.status.idle > 0)
        }
    }

    @Test("A batch returns all results in one round trip, and stops at an error")
    func batch() async throws {
        try await withClient { client, _, _ in
            try await client.execute("CREATE TABLE t (id bigint PRIMARY KEY)")
            let results = try await client.transaction { transaction in
                try await transaction.execute([
                    ("INSERT INTO t VALUES ($1)", [.integer(1)]), ("INSERT INTO t VALUES ($1)", [.integer(2)]),
                    ("SELECT id FROM t ORDER BY id", []),
                ])
            }
            #expect(results.map(\.count) == [1, 1, 2])
            await #expect(throws: PostgresError.refused("23505")) {
                try await client.transaction { transaction in
                    try await transaction.execute([
                        ("INSERT INTO t VALUES (3)", []), ("INSERT INTO t VALUES (2)", []), ("INSERT INTO t VALUES (4)", []),
                    ])
                }
            }
            #expect(try await client.execute("SELECT count(*) FROM t").rows[0].value(0) as Int == 2)
        }
    }

    @Test("A closure that ignores an error does not commit")
    func swallowedError() async throws {
        try await withClient { client, _, _ in
            try await client.execute("CREATE TABLE t (id bigint PRIMARY KEY)")
            await #expect(throws: PostgresError.refused("42703")) {
                try await client.transaction { transaction in
                    try await transaction.execute("INSERT INTO t VALUES (1)")
                    _ = try? await transaction.execute("SELECT missing")
                }
            }
            #expect(try await client.execute("SELECT count(*) FROM t").rows[0].value(0) as Int == 0)
        }
    }

    @Test("Repeats a serialization failure, also if the closure throws another error")
    func conflict() async throws {
        struct Mapped: Error {}
        try await withClient { client, _, _ in
            let attempts = Attempts()
            let value = try await client.transaction { transaction in
                let number = attempts.next()
                do {
                    try await transaction.execute("SELECT 1")
                    if number < 4 {
                        try await transaction.execute(
                            "DO $$ BEGIN RAISE EXCEPTION 'conflict' USING ERRCODE = '40001'; END $$"
                        )
                    }
                } catch {
                    throw Mapped()
                }
                return number
            }
            #expect(value == 4)
            await #expect(throws: PostgresError.refused("40001")) {
                try await client.execute("DO $$ BEGIN RAISE EXCEPTION 'conflict' USING ERRCODE = '40001'; END $$")
            }
        }
    }

    @Test("Two transactions in a deadlock both commit")
    func deadlock() async throws {
        try await withClient { client, server, database in
            try await client.execute("CREATE TABLE t (id bigint PRIMARY KEY, n bigint)")
            try await client.execute("INSERT INTO t VALUES (1, 0), (2, 0)")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for order in [[1, 2], [2, 1]] {
                    group.addTask {
                        try await client.transaction { transaction in
                            for id in order {
                                try await transaction.execute("UPDATE t SET n = n + 1 WHERE id = $1", [.integer(id)])
                                try await transaction.execute("SELECT pg_sleep(0.1)")
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await client.execute("SELECT sum(n)::bigint FROM t").rows[0].value(0) as Int == 4)
            try await expectNoTransaction(in: database, of: server)
        }
    }
}

/// Counts the runs of a closure.
final class Attempts: Sendable {
    private let last = Atomic(0)
    func next() -> Int { last.add(1, ordering: .relaxed).newValue }
}

/// Waits until no connection to a database has a transaction.
func expectNoTransaction(in database: String, of server: PostgresServer) async throws {
    try await waitUntil("no transaction is open") {
        try await server.sql(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = '\(database)' AND xact_start IS NOT NULL AND pid <> pg_backend_pid()"
        ) == "0"
    }
}
