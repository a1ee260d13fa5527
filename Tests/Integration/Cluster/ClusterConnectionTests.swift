import DataServerTesting
import Foundation
import Testing

/// The connections between servers and PostgreSQL break, run out, or report conflicts.
@Suite(.timeLimit(.minutes(120))) struct ClusterConnectionTests {
    @Test("Connections cut at random bytes neither lose nor leak anything")
    func cuts() async throws {
        let server = try await PostgresServer.shared()
        let database = try await server.createDatabaseName()
        let proxy = try TCPProxy(to: server.port)
        defer { proxy.stop() }
        try await Cluster.run(2, database: server.url(database, port: proxy.port)) { cluster in
            let load = try await ClusterLoad.run(on: cluster) { _ in
                for number in 1...rounds(40) {
                    let direction: TCPProxy.Direction = Bool.random() ? .toServer : .toClient
                    proxy.cut(after: Int.random(in: 0..<8_000), direction)
                    try await waitUntil("cut \(number)") { proxy.cuts >= number }
                }
            }
            #expect(try await load.verify() <= cluster.releasedEmails)
            try await expectNoTransaction(in: database, of: server)
            // Each server has at most 16 connections. The backends of cut connections have ended.
            try await waitUntil("no connection is left over") {
                let backends = try await server.sql(
                    "SELECT count(*) FROM pg_stat_activity WHERE datname = '\(database)' AND pid <> pg_backend_pid()"
                )
                return Int(backends) == proxy.open && proxy.open <= 32
            }
            print("\(proxy.cuts) cuts, \(proxy.accepted) connections; \(load.summary)")
        }
    }

    @Test("200 concurrent requests for one connection end in time, some with 503")
    func exhaustion() async throws {
        let server = try await PostgresServer.shared()
        let database = try await server.createDatabaseName()
        let url = server.url(database, "pool_max=1")
        try await Cluster.run(1, database: url) { cluster in
            let url = cluster.urls[0]
            let before = await requests(200, at: url)
            #expect(Set(before.keys).isSubset(of: [200, 503]) && before[200] ?? 0 > 0, "\(before)")
            let locking = Task {
                let statements = "LOCK TABLE mail_intent IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(600)"
                try await server.sql("BEGIN; \(statements)", database: database)
            }
            try await waitUntil("the table is locked") {
                try await server.sql(
                    """
                    SELECT count(*) FROM pg_locks
                    WHERE relation = 'mail_intent'::regclass AND mode = 'AccessExclusiveLock' AND granted
                        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                    """,
                    database: database
                ) != "0"
            }
            let during = await requests(200, at: url)
            #expect(Set(during.keys) == [503], "\(during)")
            try await server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)'")
            _ = await locking.result
            try await cluster.wait(untilReady: true)
            #expect(try await post("/api/request-password-reset/", #"{"email":"a@example.com"}"#, to: url).status == 200)
            try await expectNoTransaction(in: database, of: server)
        }
    }

    /// Returns the number of responses with each status.
    private func requests(_ count: Int, at url: URL) async -> [Int: Int] {
        await withTaskGroup(of: Int.self) { group in
            for number in 0..<count {
                group.addTask {
                    let body = #"{"email":"a\#(number)@example.com"}"#
                    return (try? await post("/api/request-password-reset/", body, to: url).status) ?? 0
                }
            }
            return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
    }

    @Test("Transactions refused at random with 40001 are repeated, with correct responses")
    func conflicts() async throws {
        // A pause of the machine ends the transactions in flight by their timeouts. Then the next run must keep the limit.
        for isLast in [false, false, true] {
            var failed = 0
            let load = try await load(through: RoundTripFaults(.conflict, share: 0.05)) { cluster in
                for url in cluster.urls { failed += try await failedTransactions(at: url) }
            }
            // Servers repeat transactions, so users need not: six consecutive conflicts are rare.
            let isRare = max(failed, load.refusalsWithoutHashing) <= load.responses / 100
            #expect(isRare || !isLast, "\(failed) failed; \(load.summary)")
            if isRare { return }
        }
    }

    @Test("Statements with unknown outcomes are neither lost nor executed twice")
    func losses() async throws {
        try await load(through: RoundTripFaults(.loss, share: 0.05))
    }

    /// Returns the number of transactions that a server has given up.
    private func failedTransactions(at url: URL) async throws -> Int {
        let lines = try await RawHTTP.send("GET", "/metrics", to: url).text.split(separator: "\n")
        let outcomes = lines.filter { $0.hasPrefix("holdfast_postgres_transactions_total{") }
        #expect(outcomes.contains { $0.contains("committed") })
        return outcomes.filter { $0.contains("failed") || $0.contains("unknown") }
            .compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }.reduce(0, +)
    }

    @discardableResult
    private func load(
        through faults: RoundTripFaults,
        examining examine: (Cluster) async throws -> Void = { _ in }
    ) async throws -> ClusterLoad {
        let server = try await PostgresServer.shared()
        let database = try await server.createDatabaseName()
        let proxy = try TCPProxy(to: server.port) { faults.filter() }
        defer { proxy.stop() }
        var result: ClusterLoad?
        try await Cluster.run(2, database: server.url(database, port: proxy.port)) { cluster in
            faults.begin()
            let load = try await ClusterLoad.run(on: cluster) { load in
                let wanted = rounds(300)
                while load.responses < wanted { try await Task.sleep(for: .milliseconds(20)) }
            }
            #expect(try await load.verify() <= cluster.releasedEmails)
            try await expectNoTransaction(in: database, of: server)
            #expect(faults.count > 0)
            #expect(faults.violations.isEmpty)
            try await examine(cluster)
            print("\(faults.count) of \(faults.roundTrips) round trips failed with a \(faults.fault); \(load.summary)")
            result = load
        }
        return try #require(result)
    }

    private func expectNoTransaction(in database: String, of server: PostgresServer) async throws {
        try await waitUntil("no transaction is open") {
            let open = try await server.sql(
                """
                SELECT count(*) FROM pg_stat_activity
                WHERE datname = '\(database)' AND pid <> pg_backend_pid() AND state LIKE 'idle in transaction%'
                """
            )
            return open == "0"
        }
    }
}
