import Foundation
import GRDB
import HoldfastTesting
import Logging
import RateLimiting
import Synchronization
import Testing

@testable import SQLiteStores

/// A machine with a data folder, on which processes that keep limits start, stop, are killed, and whose clocks a test sets.
final class LimitedMachine: Sendable {
    struct Clocks {
        var wall: Duration = .seconds(1_750_000_000)
        var boot: Duration = .seconds(1_000)
        var boots = 1
        var tellsBoots = true
    }

    typealias Process = SQLiteRateLimitStore<ManualClock>

    let folder: URL
    let database: SQLiteDatabase
    let clock = ManualClock()
    private let secret = KeySecret()
    private let clocks = Mutex(Clocks())

    init(folder: URL) throws {
        self.folder = folder
        database = try SQLiteDatabase(path: folder.appending(path: "holdfast.sqlite3").path)
    }

    var journal: URL { folder.appending(path: "limits.journal") }

    var now: SnapshotTime {
        clocks.withLock { clocks in
            SnapshotTime(
                wallNanoseconds: Int64(clocks.wall / .nanoseconds(1)),
                bootNanoseconds: Int64(clocks.boot / .nanoseconds(1)),
                bootID: clocks.tellsBoots ? "boot \(clocks.boots)" : ""
            )
        }
    }

    /// Starts a process.
    func start(_ rules: [RateLimitRule], committed: Set<String> = []) async throws -> Process {
        try await SQLiteRateLimitStore(
            rules,
            database: database,
            journal: journal,
            committed: committed,
            secret: secret,
            clock: clock,
            time: { [self] in now },
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        )
    }

    /// Lets time pass.
    func pass(_ time: Duration) {
        clocks.withLock { clocks in
            clocks.wall += time
            clocks.boot += time
        }
        clock.advance(by: time)
    }

    /// Sets the wall clock.
    func stepWallClock(by step: Duration) {
        clocks.withLock { $0.wall += step }
    }

    /// Goes down, and comes up after a time, with another boot.
    func reboot(after downtime: Duration = .seconds(30)) {
        pass(downtime)
        clocks.withLock { clocks in
            clocks.boots += 1
            clocks.boot = .seconds(5)
        }
    }

    /// Names its boots no more, as a service from which `/proc/sys` is hidden sees it.
    func hideBoots() {
        clocks.withLock { $0.tellsBoots = false }
    }

    /// How many rows there are.
    func rows() async throws -> Int {
        try await database.pool.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM rate_limit") ?? 0 }
    }

    /// How much of the past each row covers, in nanoseconds of the boot.
    func coverage() async throws -> [Int64] {
        try await database.pool.read { try Int64.fetchAll($0, sql: "SELECT covers_ns FROM rate_limit") }
    }

    /// Runs SQL as only somebody with the file in hand could.
    func execute(_ sql: String) async throws {
        try await database.pool.write { try $0.execute(sql: sql) }
    }
}

extension SQLiteRateLimitStore {
    /// Counts a request of a key.
    @discardableResult
    func take(_ policy: String, _ key: String = "ana", cost: Int? = nil) -> Bool {
        admit([RateLimitClaim(policy, key: key, cost: cost)]).isAdmitted
    }

    /// Counts a request of a key whose units can be refunded.
    func charge(_ policy: String, _ key: String) -> RateLimitCharge? {
        admit([RateLimitClaim(policy, key: key, isRefundable: true)]).charge
    }

    /// Refunds what was charged.
    func refund(_ charges: [RateLimitCharge]) { for charge in charges { refund(charge, under: nil) } }

    /// What a key has left.
    func left(_ policy: String, _ key: String = "ana") -> Int {
        check([RateLimitClaim(policy, key: key)]).limits.first?.remaining ?? -1
    }
}

extension RateLimitRule {
    static func rule(_ name: String, _ quota: Int, per seconds: Int, algorithm: RateLimitAlgorithm? = nil) -> RateLimitRule {
        RateLimitRule(.requests(quota, per: .seconds(seconds), name: name, algorithm: algorithm))
    }
}

/// Runs a test with a machine whose folder is removed afterwards.
func withMachine<Result>(_ body: (LimitedMachine) async throws -> Result) async throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: "holdfast-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let machine = try LimitedMachine(folder: folder)
    let result = try await body(machine)
    try machine.database.close()
    return result
}
