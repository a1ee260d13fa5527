import DataServerTesting
import Foundation
import Testing

/// PostgreSQL fails under load, and three servers go on afterwards.
@Suite(.timeLimit(.minutes(120))) struct ClusterDatabaseTests {
    @Test("Outages of PostgreSQL return 503 and lose nothing acknowledged")
    func outages() async throws {
        let server = try await PostgresServer.start()
        try await Cluster.run(database: server.url()) { cluster in
            let isLong = rounds(0) > 0
            let load = try await ClusterLoad.run(on: cluster) { load in
                for _ in 0..<rounds(1) {
                    try await load.proceeds()
                    try await server.stop()
                    try await report("PostgreSQL ended: not ready") { try await cluster.wait(untilReady: false) }
                    let refused = load.responses(503)
                    try await waitUntil("503") { load.responses(503) > refused }
                    try await server.start()
                    try await report("PostgreSQL started: ready") { try await cluster.wait(untilReady: true) }
                    try await report("the next success") { try await load.proceeds() }

                    try await server.lock()
                    let begin = ContinuousClock.now
                    try await report("PostgreSQL stopped by SIGSTOP: not ready") { try await cluster.wait(untilReady: false) }
                    try await Task.sleep(until: begin.advanced(by: .seconds(isLong ? 10 : 2)))
                    try await server.thaw()
                    try await report("PostgreSQL goes on: ready") { try await cluster.wait(untilReady: true) }
                    try await report("the next success") { try await load.proceeds() }
                }
            }
            try await load.verify()
            // The deadline of a request is 30 s. The rest is for pauses of the processes; without the deadline, a call ends after 120 s.
            #expect(load.slowest < .seconds(90))
            print(load.summary)
        }
        try await server.stop(SIGKILL)
    }

    @Test(
        "A failover to a synchronous standby loses nothing acknowledged",
        arguments: [SIGKILL, SIGSTOP]
    )
    func failover(by signal: Int32) async throws {
        for _ in 0..<rounds(1) {
            let primary = try await PostgresServer.start()
            let standby = try await primary.addStandby()
            let hosts = "postgres://app@127.0.0.1:\(primary.port),127.0.0.1:\(standby.port)/postgres"
            try await Cluster.run(database: hosts) { cluster in
                let load = try await ClusterLoad.run(on: cluster) { load in
                    try await load.proceeds()
                    try await Task.sleep(for: .milliseconds(Int.random(in: 0...1_000)))
                    if signal == SIGKILL { try await primary.stop(SIGKILL) } else { try await primary.lock() }
                    let how = signal == SIGKILL ? "died" : "is silent"
                    try await report("the primary \(how): not ready") { try await cluster.wait(untilReady: false) }
                    try await standby.promote()
                    try await report("the primary \(how), the standby was promoted: ready") {
                        try await cluster.wait(untilReady: true)
                    }
                    try await report("the next success") { try await load.proceeds() }
                }
                try await load.verify()
                print(load.summary)
            }
            for server in [primary, standby] { try await server.stop(SIGKILL) }
        }
    }

    /// Prints the duration of an operation, for the long rounds.
    private func report(_ what: String, _ body: () async throws -> Void) async throws {
        let begin = ContinuousClock.now
        try await body()
        print("\(what) after \(ContinuousClock.now - begin)")
    }
}

extension ClusterLoad {
    /// Waits until some calls of users have succeeded.
    fileprivate func proceeds() async throws {
        let before = responses(200)
        try await waitUntil("the load proceeds") { responses(200) > before + 5 }
    }
}
