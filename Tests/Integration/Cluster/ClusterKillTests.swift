import DataServerTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(120))) struct ClusterKillTests {
    @Test("Killed servers lose nothing acknowledged and repeat only emails in flight")
    func kills() async throws {
        let server = try await PostgresServer.shared()
        let database = try await server.createDatabaseName()
        try await Cluster.run(database: server.url(database)) { cluster in
            var inFlight = 0
            let kills = rounds(3)
            let load = try await ClusterLoad.run(on: cluster) { load in
                for _ in 0..<kills {
                    try await Task.sleep(for: .milliseconds(Int.random(in: 100...1_500)))
                    let victim = Int.random(in: 0..<cluster.count)
                    let process = try cluster.kill(victim)
                    let taken = try await server.sql(
                        """
                        SELECT count(*) FROM mail_intent JOIN server ON server.id = mail_intent.holder
                        WHERE mail_intent.state = 'taken' AND server.name LIKE '%/\(process)'
                        """,
                        database: database
                    )
                    inFlight += try #require(Int(taken))
                    try await cluster.start(victim)
                }
            }
            let duplicates = try await load.verify()
            // An email has arrived shortly before the server removes it from the queue.
            try await waitUntil("no email is pending") {
                try await server.sql("SELECT kind, state, failures, reason, due_at FROM mail_intent", database: database).isEmpty
            }
            #expect(duplicates <= max(inFlight, cluster.releasedEmails))
            print("\(kills) kills: \(inFlight) emails in flight, \(duplicates) repeated; \(load.summary)")
        }
    }

    @Test("A killed server without Valkey starts again")
    func presence() async throws {
        let database = try await PostgresServer.shared().createDatabase()
        try await Cluster.runAlone(database: database) { cluster in
            try cluster.kill(0)
            let begin = ContinuousClock.now
            try await cluster.start(0)
            print("serve after kill -9: live after \(ContinuousClock.now - begin)")
        }
    }
}
