import AccountContract
import AccountCore
import AccountRoutes
import ErrorContract
import Foundation
import GRDB
import HoldfastTesting
import RateLimiting
import ServerMiddleware
import ServiceLifecycle
import Testing

@testable import AccountServer
@testable import HoldfastCommand
@testable import SQLiteStores

/// A whole server with all of its services, on a manual clock.
struct SimulatedServer: Sendable {
    let memory: MemoryServer
    let clock: ManualClock
    private let wall: @Sendable () -> Date
    private let services: Int

    var server: HoldfastServer { memory.server }
    var now: Date { wall() }

    /// Advances the clock, and waits until every service has completed its due work and sleeps again.
    func advance(minutes: Int) async {
        clock.advance(by: .seconds(60 * minutes))
        await settle()
    }

    /// The lease of an email in flight also sleeps on the clock. Only an idle mail worker sleeps for as short a time as its
    /// pause.
    private func settle() async {
        while !Task.isCancelled {
            await clock.waitForSleepers(services)
            if let next = clock.nextDeadline, clock.now.duration(to: next) <= Self.mailPause { return }
            await Task.yield()
        }
    }

    private static var mailPause: Duration { .milliseconds(100) }

    /// Returns the number of rows of each table.
    func rows() async throws -> [String: Int] {
        try await server.accounts.stores.sqlite.read { database in
            let names = try String.fetchAll(
                database,
                sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'"
            )
            return try Dictionary(
                uniqueKeysWithValues: names.map { ($0, try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM \($0)") ?? 0) }
            )
        }
    }

    /// Returns the number that is the result of a query.
    func number(_ sql: String) async throws -> Int {
        try await server.accounts.stores.sqlite.read { try Int.fetchOne($0, sql: sql) ?? 0 }
    }

    /// The number of keys of each limit in memory.
    var limitedKeys: [String: Int] {
        get throws {
            let limiter = try #require(server.accounts.limitStore as? SQLiteRateLimitStore<ServerTime>).limiter
            return Dictionary(uniqueKeysWithValues: AccountLimit.allCases.map { ($0.rawValue, limiter.count(of: $0.rawValue)) })
        }
    }

    /// The numbers of requests in flight or queued, and of queued hashes.
    var inHand: [Int] {
        [server.accounts.shedding.load.running, server.accounts.shedding.load.waiting, server.accounts.gate.queueLength]
    }

    /// Runs a server with its default limits and the services of the binary, for the duration of a closure.
    static func run(_ body: (SimulatedServer) async throws -> Void) async throws {
        let clock = ManualClock()
        let time = ServerTime.manual(clock)
        try await withMemoryServer(time: time) {
            for limit in AccountLimit.allCases { $0.limits.policies[limit] = limit.standard }
            $0.mailPause = mailPause...mailPause
        } _: { memory in
            memory.server.accounts.address.set(try #require(URL(string: "http://127.0.0.1:8080")))
            let services = memory.server.accounts.services
            try await withThrowingTaskGroup { group in
                for service in services { group.addTask { try await service.run() } }
                // The lock of the data folder is the only service that doesn't sleep on the clock.
                let sleepers = services.count { !($0 is DataFolderLock) }
                let simulated = SimulatedServer(memory: memory, clock: clock, wall: time.wall, services: sleepers)
                await simulated.settle()
                try await body(simulated)
                group.cancelAll()
                try await group.waitForAll()
            }
        }
    }
}
