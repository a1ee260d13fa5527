import AccountContract
import AccountCore
import Foundation
import HoldfastTesting
import Testing

@testable import AccountServer
@testable import HoldfastCommand

/// Keycloak's CVE-2026-18963: a step of the flow could be reached without the link in the email.
@Suite struct RandomOrderTests {
    /// The number of orders. Each request starts a new order that includes all later ones.
    private static let orders = ProcessInfo.processInfo.environment["HOLDFAST_ROUNDS"].flatMap { Int($0) } ?? 2_000

    @Test("Incident CVE-2026-18963: in any order, only a live token changes a password")
    func anyOrder() async throws {
        let (perServer, workers) = (1_000, 2)
        let servers = (Self.orders + perServer - 1) / perServer
        try await withThrowingTaskGroup(of: Int.self) { group in
            var next = 0
            var changes = 0
            func addServer() {
                let seed = UInt64(next)
                let count = min(perServer, Self.orders - next * perServer)
                next += 1
                group.addTask {
                    try await withMemoryServer { server in
                        var walk = try await RandomWalk(server, seed: seed)
                        for _ in 0..<count { try await walk.takeStep() }
                        return walk.changes
                    }
                }
            }
            while next < min(workers, servers) { addServer() }
            while let changed = try await group.next() {
                changes += changed
                if next < servers { addServer() }
            }
            // A walk in which no reset succeeds proves nothing.
            #expect(changes > Self.orders / 50)
        }
    }
}
