import DataServerTesting
import Foundation
import HoldfastTesting
import Logging
import PostgresDriver
import Synchronization
import TestSupport
import Testing

/// Timeouts that a test waits for are long enough for the other statements of the test on a machine that pauses.
@Suite struct FailureTests {
    /// Lets a statement sleep until the test ends it.
    private static func waitsForStatement(_ settings: inout PostgresSettings) {
        (settings.queryTimeout, settings.statementTimeout) = (.seconds(600), .seconds(600))
    }

    @Test("A new connection replaces one whose backend was terminated", arguments: [true, false])
    func terminated(isExecuting: Bool) async throws {
        try await withClient {
            Self.waitsForStatement(&$0)
        } _: { client, server, database in
            let first = try await client.execute("SELECT pg_backend_pid()").rows[0].value(0) as Int
            let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(database)'"
            if isExecuting {
                async let slow = client.execute(
                    "SELECT pg_backend_pid() FROM pg_sleep(CASE WHEN pg_backend_pid() = $1 THEN 600 ELSE 0 END)",
                    [.integer(first)]
                )
                try await waitUntil("the query runs") {
                    try await server.sql(
                        "SELECT count(*) FROM pg_stat_activity WHERE datname = '\(database)' AND query LIKE '%pg_sleep%'"
                    ) == "1"
                }
                try await server.sql(kill)
                // 57P01: the statement is repeated on another connection.
                #expect(try await slow.rows[0].value(0) as Int != first)
            } else {
                try await server.sql(kill)
                try await waitUntil("the driver sees that the idle connection has ended") { client.status.open == 0 }
                #expect(try await client.execute("SELECT pg_backend_pid()").rows[0].value(0) as Int != first)
            }
        }
    }

    @Test("Repeats a transaction that was idle for too long on another connection")
    func idleInTransaction() async throws {
        try await withClient {
            $0.idleInTransactionTimeout = .seconds(2)
        } _: { client, server, database in
            try await client.execute("CREATE TABLE t (id bigint PRIMARY KEY)")
            let attempts = Attempts()
            try await client.transaction { transaction in
                let isFirst = attempts.next() == 1
                if !isFirst {
                    // Only the first attempt is idle for too long, even if the machine pauses in the second one.
                    try await transaction.execute("SELECT set_config('idle_in_transaction_session_timeout', '0', true)")
                }
                try await transaction.execute("INSERT INTO t VALUES (1)")
                if isFirst { try await waitUntil("the server ends the connection") { client.status.open == 0 } }
                try await transaction.execute("INSERT INTO t VALUES (2)")
            }
            #expect(attempts.next() == 3)
            #expect(try await client.execute("SELECT count(*) FROM t").rows[0].value(0) as Int == 2)
            try await expectNoTransaction(in: database, of: server)
        }
    }

    @Test("The server's timeouts end statements with 57014 and lock waits with 55P03", arguments: [true, false])
    func serverTimeouts(preparesStatements: Bool) async throws {
        try await withClient { settings in
            settings.statementTimeout = .seconds(2)
            settings.preparesStatements = preparesStatements
        } _: { client, server, database in
            await #expect(throws: PostgresError.refused("57014")) {
                try await client.transaction { try await $0.execute("SELECT pg_sleep(30)") }
            }
            try await expectNoTransaction(in: database, of: server)
        }
        try await withClient { settings in
            settings.lockTimeout = .milliseconds(100)
            settings.preparesStatements = preparesStatements
        } _: { client, server, database in
            try await client.execute("CREATE TABLE t (id bigint PRIMARY KEY)")
            await #expect(throws: PostgresError.refused("55P03")) {
                try await client.transaction { first in
                    try await first.execute("LOCK TABLE t")
                    try await client.transaction { try await $0.execute("SELECT * FROM t") }
                }
            }
            try await expectNoTransaction(in: database, of: server)
        }
    }

    @Test("The driver's deadline ends a statement and cancels it on the server")
    func deadline() async throws {
        try await withClient {
            $0.queryTimeout = .seconds(2)
        } _: { client, server, database in
            try await waitUntil("the client is connected") { (try? await client.execute("SELECT 1")) != nil }
            await #expect(throws: PostgresError.deadlineExceeded) { try await client.execute("SELECT pg_sleep(80)") }
            try await expectNoTransaction(in: database, of: server)
            try await waitUntil("the client is connected") { (try? await client.execute("SELECT 1")) != nil }
        }
    }

    @Test("Canceling the task cancels the statement, and a wait for a connection")
    func cancellation() async throws {
        try await withClient {
            Self.waitsForStatement(&$0)
            $0.maximum = 1
        } _: { client, server, database in
            try await client.execute("CREATE TABLE t (id bigint PRIMARY KEY)")
            let slow = Task {
                try await client.transaction { transaction in
                    try await transaction.execute("INSERT INTO t VALUES (1)")
                    try await transaction.execute("SELECT pg_sleep(600)")
                }
            }
            try await waitUntil("the query runs") {
                try await server.sql(
                    "SELECT count(*) FROM pg_stat_activity WHERE datname = '\(database)' AND query LIKE '%pg_sleep%'"
                ) == "1"
            }
            let waiting = Task { try await client.execute("SELECT 1") }
            try await waitUntil("a task waits") { client.status.waiting == 1 }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
            slow.cancel()
            await #expect(throws: CancellationError.self) { try await slow.value }
            try await expectNoTransaction(in: database, of: server)
            #expect(try await client.execute("SELECT count(*) FROM t").rows[0].value(0) as Int == 0)
        }
    }

    @Test("200 concurrent callers share one connection, and are refused past the deadline")
    func exhaustion() async throws {
        try await withClient("pool_max=1") { client, _, _ in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        let row = try await client.execute("SELECT $1", [.integer(number)]).rows[0]
                        #expect(try row.value(0) as Int == number)
                    }
                }
                try await group.waitForAll()
            }
            #expect(client.status.open == 1)
        }
        try await withClient("pool_max=1") {
            $0.acquireTimeout = .seconds(2)
        } _: { client, _, _ in
            try await waitUntil("the client is connected") { (try? await client.execute("SELECT 1")) != nil }
            try await client.transaction { transaction in
                try await transaction.execute("SELECT 1")
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<200 {
                        group.addTask {
                            await #expect(throws: PostgresError.unavailable("all connections are in use")) {
                                try await client.execute("SELECT 1")
                            }
                        }
                    }
                }
            }
            #expect(try await client.execute("SELECT 1").rows[0].value(0) as Int == 1)
        }
    }

    @Test("Hides a changed result type of a prepared statement from the caller")
    func changedPlan() async throws {
        try await withClient { client, server, database in
            try await client.execute("CREATE TABLE t (id bigint PRIMARY KEY)")
            try await client.execute("INSERT INTO t VALUES (1)")
            let all: PostgresStatement = "SELECT * FROM t"
            #expect(try await client.execute(all).rows[0].columns.count == 1)
            try await server.sql("ALTER TABLE t ADD COLUMN name text", database: database)
            #expect(try await client.execute(all).rows[0].columns.count == 2)
            try await server.sql("ALTER TABLE t ADD COLUMN more text", database: database)
            #expect(try await client.transaction { try await $0.execute(all).rows[0].columns.count } == 3)
        }
    }

    @Test("Closes the connections of a server that becomes read-only, and tries it again")
    func readOnly() async throws {
        try await withClient { client, server, database in
            try await client.execute("CREATE TABLE t (id bigint PRIMARY KEY)")
            try await server.sql("ALTER DATABASE \(database) SET default_transaction_read_only = on")
            try await server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(database)'")
            async let write = client.execute("INSERT INTO t VALUES (1)")
            try await waitUntil("the write was refused") {
                try await server.sql(
                    "SELECT count(*) FROM pg_stat_activity WHERE datname = '\(database)' AND query LIKE 'INSERT%'"
                ) == "0"
            }
            try await server.sql("ALTER DATABASE \(database) RESET default_transaction_read_only")
            #expect(try await write.count == 1)
        }
    }

    @Test("A closed client refuses statements and ends pending ones")
    func closed() async throws {
        let server = try await PostgresServer.shared()
        let client = PostgresClient(try patientSettings(url: server.url()), logger: Logger(label: "test"))
        #expect(try await client.execute("SELECT 1").count == 1)
        await client.close()
        await client.close()
        await #expect(throws: PostgresError.unavailable("the client is closed")) { try await client.execute("SELECT 1") }
    }

    @Test("Reports an unreachable server with the reason")
    func unreachable() async throws {
        let port = try freePort()
        try await withClient(url: "postgres://app@127.0.0.1:\(port)/x") {
            $0.acquireTimeout = .seconds(1)
        } _: { client in
            try await expectUnavailable("connection refused", client)
            await #expect(throws: PostgresError.self) { try await client.ping() }
            await #expect(throws: PostgresError.self) { try await client.ping("SELECT 2") }
        }
        try await withClient(url: "postgres://app@no-such-host.invalid/x") {
            $0.acquireTimeout = .seconds(3)
        } _: { client in
            try await expectUnavailable("name not resolved", client)
        }
        let server = try await PostgresServer.shared()
        try await withClient(url: server.url("missing")) {
            $0.acquireTimeout = .seconds(2)
        } _: { client in
            try await expectUnavailable("refused with 3D000", client)
        }
    }

    @Test("Reports a lost commit as unknown if its repetition gets no connection")
    func lostCommit() async throws {
        let server = try await PostgresServer.shared()
        let database = try await server.createDatabaseName()
        try await server.sql("CREATE TABLE t (id bigint PRIMARY KEY)", database: database)
        let faults = RoundTripFaults(.loss, share: 1)
        let proxy = try TCPProxy(to: server.port) { faults.filter() }
        defer { proxy.stop() }
        try await withClient(url: server.url(database, port: proxy.port)) {
            $0.acquireTimeout = .seconds(2)
        } _: { client in
            try await waitUntil("the client is connected") { (try? await client.execute("SELECT 1")) != nil }
            await #expect(throws: PostgresError.outcomeUnknown) {
                try await client.transaction { transaction in
                    try await transaction.execute("INSERT INTO t VALUES (1) ON CONFLICT (id) DO NOTHING")
                    // The connection is cut at the commit, and no other connection opens.
                    proxy.refuse(true)
                    faults.begin()
                }
            }
            #expect(faults.count == 1)
        }
    }
}

/// Waits until a statement is refused with a reason. The deadline can pass before the first attempt to connect fails.
private func expectUnavailable(_ reason: String, _ client: PostgresClient) async throws {
    try await waitUntil(reason) {
        do {
            try await client.execute("SELECT 1")
            return false
        } catch let error as PostgresError {
            return error == .unavailable(reason)
        }
    }
}

/// Tests that start servers and stop, freeze or cut them.
@Suite(.serialized) struct ServerFailureTests {
    @Test("A cut at any byte returns nothing wrong, leaks nothing and ends the transaction")
    func cuts() async throws {
        try await cutRounds(40, seed: 20_260_101)
    }

    @Test("A full server refuses connections with 53300 until others have closed")
    func connectionLimit() async throws {
        let server = try await PostgresServer.start(["max_connections = 5", "superuser_reserved_connections = 1"])
        try await server.sql("CREATE ROLE plain LOGIN")
        let url = "postgres://plain@127.0.0.1:\(server.port)/postgres"
        try await withClient(url: url) {
            $0.acquireTimeout = .seconds(2)
        } _: { client in
            try await withClient(url: url) {
                ($0.minimum, $0.maximum) = (4, 4)
            } _: { others in
                try await waitUntil("the server is full") { others.status.idle == 4 }
                try await expectUnavailable("refused with 53300", client)
                #expect(others.status.open == 4)
            }
            try await waitUntil("a connection is free") { (try? await client.execute("SELECT 1")) != nil }
        }
        try await server.stop()
    }

    @Test("With a frozen server deadlines hold, and late responses are discarded")
    func locked() async throws {
        let server = try await PostgresServer.start()
        try await withClient(of: server) { settings in
            settings.queryTimeout = .seconds(2)
            settings.connectTimeout = .milliseconds(1_500)
            settings.acquireTimeout = .seconds(2)
            settings.maximum = 4
        } _: { client, _, _ in
            try await waitUntil("the server responds") { (try? await client.execute("SELECT 1"))?.count == 1 }
            try await waitUntil("the server responds to a ping") { (try? await client.ping()) != nil }
            try await server.lock()
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        await #expect(throws: PostgresError.self) { try await client.execute("SELECT $1", [.integer(number)]) }
                    }
                }
            }
            try await waitUntil("the server is reported as unreachable") { (try? await client.ping()) == nil }
            try await server.thaw()
            for number in 0..<20 {
                try await waitUntil("the server responds again") {
                    guard let result = try? await client.execute("SELECT $1", [.integer(number)]) else { return false }
                    #expect((try? result.rows[0].value(0) as Int) == number)
                    return true
                }
            }
        }
        try await server.stop()
    }

    @Test("Tries an unresponsive host after the others until it responds again")
    func silentHost() async throws {
        let server = try await PostgresServer.shared()
        let database = try await server.createDatabaseName()
        let (silent, other) = (try TCPProxy(to: server.port), try TCPProxy(to: server.port))
        defer {
            silent.stop()
            other.stop()
        }
        silent.stall()
        let hosts = "127.0.0.1:\(silent.port),127.0.0.1:\(other.port)"
        try await withClient(url: "postgres://app@\(hosts)/\(database)") {
            // Only the first connection to the silent host needs this time. The connections to the other host must need less.
            $0.connectTimeout = .seconds(6)
            $0.maximum = 1
        } _: { client in
            try await client.execute("SELECT 1")
            #expect(silent.accepted == 1)
            for _ in 0..<3 {
                other.cutAll()
                try await client.execute("SELECT 1")
            }
            #expect(silent.accepted == 1)
            other.refuse(true)
            other.cutAll()
            silent.resume()
            try await client.execute("SELECT 1")
            // The first host of the list accepts connections again.
            other.refuse(false)
            let before = other.accepted
            silent.cutAll()
            try await client.execute("SELECT 1")
            #expect(other.accepted == before)
        }
    }

    @Test("A client reconnects after a restart and repeats its operation")
    func restart() async throws {
        let server = try await PostgresServer.start()
        try await withClient(of: server) { client, _, _ in
            try await client.execute("CREATE TABLE t (id bigint PRIMARY KEY)")
            let done = Written()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for worker in 0..<4 {
                    group.addTask {
                        var number = worker
                        while !Task.isCancelled {
                            number += 4
                            let id = number
                            let result = try? await client.transaction { transaction in
                                try await transaction.execute(
                                    "INSERT INTO t VALUES ($1) ON CONFLICT (id) DO NOTHING",
                                    [.integer(id)]
                                )
                            }
                            if result != nil { done.ids.withLock { $0.append(id) } }
                        }
                    }
                }
                for signal in [SIGINT, SIGKILL] {
                    let before = done.ids.withLock { $0.count }
                    try await waitUntil("some are written") { done.ids.withLock { $0.count } > before + 20 }
                    try await server.stop(signal)
                    try await server.start()
                }
                let before = done.ids.withLock { $0.count }
                try await waitUntil("some are written") { done.ids.withLock { $0.count } > before + 20 }
                group.cancelAll()
                try await group.waitForAll()
            }
            let stored = try await client.execute("SELECT id FROM t").rows.map { try $0.value(0) as Int }
            #expect(Set(done.ids.withLock { $0 }).subtracting(stored).isEmpty, "an acknowledged write is lost")
        }
        try await server.stop()
    }

    @Test("Finds the primary behind failed hosts, and reports a doubtful commit as unknown")
    func standby() async throws {
        let primary = try await PostgresServer.start()
        let standby = try await primary.addStandby()
        let locked = try await PostgresServer.start()
        try await locked.lock()
        let hosts = try "127.0.0.1:\(freePort()),127.0.0.1:\(locked.port),127.0.0.1:\(standby.port),127.0.0.1:\(primary.port)"
        try await withClient(url: "postgres://app@\(hosts)/postgres") { settings in
            settings.connectTimeout = .seconds(1)
            settings.maximum = 2
        } _: { client in
            try await client.execute("CREATE TABLE t (id bigint PRIMARY KEY)")
            #expect(try await client.execute("SELECT pg_is_in_recovery()").rows[0].value(0) as Bool == false)

            try await standby.lock()
            // Canceled by the driver, which closes the connection without canceling the commit.
            let write = Task { try await client.execute("INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING") }
            try await waitUntil("the commit waits for the standby") {
                try await primary.sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == "1"
            }
            write.cancel()
            await #expect(throws: PostgresError.outcomeUnknown) { try await write.value }
            // Canceled by an administrator: the server reports success with a warning.
            let transaction = Task {
                try await client.transaction { try await $0.execute("INSERT INTO t VALUES (2) ON CONFLICT DO NOTHING") }
            }
            let waits = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query = 'COMMIT'"
            try await waitUntil("the commit waits for the standby") { try await primary.sql(waits) != "" }
            try await primary.sql("SELECT pg_cancel_backend(pid) FROM (\(waits)) AS waiting")
            await #expect(throws: PostgresError.outcomeUnknown) { try await transaction.value }
            try await standby.thaw()
            // Both rows exist: the outcome was unknown, and the commit succeeded.
            try await waitUntil("commits go on") {
                (try? await client.execute("INSERT INTO t VALUES (3) ON CONFLICT DO NOTHING")) != nil
            }
            // The server that made the canceled write shows its row after it has woken, which can be after the third write.
            try await waitUntil("all three rows are visible") {
                try await client.execute("SELECT count(*) FROM t").rows[0].value(0) as Int == 3
            }

            try await primary.stop(SIGKILL)
            try await standby.promote()
            try await waitUntil("the promoted server accepts writes") {
                (try? await client.execute("INSERT INTO t VALUES (4) ON CONFLICT DO NOTHING")) != nil
            }
            #expect(try await client.execute("SELECT count(*) FROM t").rows[0].value(0) as Int == 4)
        }
        try await locked.thaw()
        try await locked.stop()
        try await standby.stop()
    }
}

/// The ids of acknowledged writes.
private final class Written: Sendable {
    let ids = Mutex<[Int]>([])
}

/// Cuts connections at random bytes while transactions and statements run.
func cutRounds(_ rounds: Int, seed: UInt64) async throws {
    let server = try await PostgresServer.shared()
    let database = try await server.createDatabaseName()
    try await server.sql("CREATE TABLE t (id bigint PRIMARY KEY, round bigint)", database: database)
    let proxy = try TCPProxy(to: server.port)
    defer { proxy.stop() }
    var generator = SplitMix64(seed: seed)
    try await withClient(url: server.url(database, port: proxy.port)) {
        $0.maximum = 3
    } _: { client in
        for round in 0..<rounds {
            let direction = TCPProxy.Direction.allCases.randomElement(using: &generator) ?? .toClient
            proxy.cut(after: Int.random(in: 0..<1_500, using: &generator), direction)
            try await withThrowingTaskGroup(of: Int?.self) { group in
                for worker in 0..<4 {
                    let id = round * 10 + worker
                    group.addTask { try await write(id, round: round, with: client) }
                }
                for try await id in group {
                    guard let id else { continue }
                    let stored = try await server.sql("SELECT count(*) FROM t WHERE id = \(id)", database: database)
                    #expect(stored == "1", "an acknowledged write is lost")
                }
            }
            #expect(client.status.open <= 3 && client.status.waiting == 0)
        }
        try await waitUntil("no connection is leaked") { proxy.open <= client.status.open }
        try await expectNoTransaction(in: database, of: server)
        #expect(proxy.cuts > rounds / 3)
    }
}

/// - Returns: The id if the write was acknowledged.
private func write(_ id: Int, round: Int, with client: PostgresClient) async throws -> Int? {
    do {
        let sum = try await client.transaction { transaction in
            try await transaction.execute(
                "INSERT INTO t VALUES ($1, $2) ON CONFLICT (id) DO NOTHING",
                [.integer(id), .integer(round)]
            )
            let echo = try await transaction.execute("SELECT $1, $2", [.integer(id), .text("text of \(id)")]).rows[0]
            #expect(try echo.value(1) as String == "text of \(id)")
            return try echo.value(0) as Int
        }
        #expect(sum == id)
        let row = try await client.execute("SELECT round FROM t WHERE id = $1", [.integer(id)]).rows
        #expect(try row.first?.value(0) as Int? == round)
        return id
    } catch PostgresError.unavailable, PostgresError.outcomeUnknown {
        return nil
    }
}
