import Foundation
import GRDB
import HoldfastTesting
import Logging
import RateLimiting
import Synchronization
import Testing

@testable import SQLiteStores

/// A machine with a data folder and manual clocks. Processes that store limits start, stop and are killed on it.
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

    /// Advances the time.
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

    /// Shuts the machine down and boots it again after a time.
    func reboot(after downtime: Duration = .seconds(30)) {
        pass(downtime)
        clocks.withLock { clocks in
            clocks.boots += 1
            clocks.boot = .seconds(5)
        }
    }

    /// Hides the id of the boot, like a service that can't read `/proc/sys`.
    func hideBoots() {
        clocks.withLock { $0.tellsBoots = false }
    }

    /// Returns the number of rows.
    func rows() async throws -> Int {
        try await database.pool.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM rate_limit") ?? 0 }
    }

    /// Returns the part of the past that each row covers, in nanoseconds of the boot.
    func coverage() async throws -> [Int64] {
        try await database.pool.read { try Int64.fetchAll($0, sql: "SELECT covers_ns FROM rate_limit") }
    }

    /// Runs SQL with direct access to the file.
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

    /// Refunds charges.
    func refund(_ charges: [RateLimitCharge]) { for charge in charges { refund(charge, under: nil) } }

    /// Returns the remaining quota of a key.
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
