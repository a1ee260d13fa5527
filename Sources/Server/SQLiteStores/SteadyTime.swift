public import Foundation
import GRDB
public import RateLimiting

/// The time of due times, leases and grace windows. It advances as fast as the wall clock, and steps of the wall clock do not change it.
///
/// Within one boot, it is the boot's clock plus a constant in the database, so that all processes on the database agree, even after a
/// restart of a process.
///
/// After a reboot, it continues from its last recorded value, plus the advance of the wall clock since then. If the wall clock was set back
/// meanwhile, it continues from the last value plus a minute. It never runs backwards.
///
/// It starts as the wall clock of the first server, and deviates from it by later adjustments of the wall clock. Use it for durations, and
/// the wall clock for dates that a user reads.
public struct SteadyTime: Sendable {
    private let database: SQLiteDatabase
    /// The time at which the boot's clock was zero.
    private let origin: Int64
    /// Reads the clocks that outlive the process.
    private let snapshot: @Sendable () -> SnapshotTime

    /// Continues the time of a database.
    /// - Parameters:
    ///   - database: The open database.
    ///   - snapshot: The clocks that outlive the process.
    /// - Throws: `StoreFailure`.
    public init(_ database: SQLiteDatabase, snapshot: @escaping @Sendable () -> SnapshotTime = { .now() }) async throws {
        (self.database, self.snapshot) = (database, snapshot)
        let now = snapshot()
        origin = try await database.write { try Self.origin(at: now, in: $0) }
    }

    /// The current time, as a function that can be passed to components which need a clock. It does no I/O.
    public var now: @Sendable () -> Date {
        { [origin, snapshot] in Date(timeIntervalSince1970: Double(origin + snapshot().bootNanoseconds) / 1e9) }
    }

    /// Stores the current time, from which it continues after a reboot. Call it periodically: after a reboot with a wall clock that was set
    /// back, the time since the last call is lost.
    /// - Throws: `StoreFailure`.
    public func keep() async throws {
        let now = snapshot()
        let steady = origin + now.bootNanoseconds
        try await database.write { database in
            try database.executeCached(
                sql: "UPDATE steady_time SET wall_ns = ?, steady_ns = ? WHERE boot_id = ? AND steady_ns < ?",
                arguments: [now.wallNanoseconds, steady, now.bootID, steady]
            )
        }
    }

    /// A reboot is assumed to take at least this long. No grace window outlasts it.
    private static let shortestBoot: Int64 = 60_000_000_000

    /// Returns the origin of this boot: the stored one, or a new one that is stored.
    ///
    /// - Parameters:
    ///   - now: The present reading of the clocks.
    ///   - database: The writer's connection, within a transaction, so that all processes agree on the origin.
    private static func origin(at now: SnapshotTime, in database: Database) throws -> Int64 {
        let row = try database.firstRow(sql: "SELECT * FROM steady_time", arguments: [])
        // A boot without an id may be any boot.
        if let row, !now.bootID.isEmpty, row["boot_id"] == now.bootID { return row["origin_ns"] }
        var steady = now.wallNanoseconds
        var newest = try newestStamp(in: database)
        if let row {
            let hasBooted = !now.bootID.isEmpty && row["boot_id"] != ""
            let passed = max(now.wallNanoseconds - (row["wall_ns"] as Int64), hasBooted ? shortestBoot : 0)
            steady = row["steady_ns"] + passed
            if hasBooted { newest += shortestBoot }
        }
        steady = max(steady, newest)
        try database.execute(
            sql: "INSERT OR REPLACE INTO steady_time (id, boot_id, origin_ns, wall_ns, steady_ns) VALUES (1, ?, ?, ?, ?)",
            arguments: [now.bootID, steady - now.bootNanoseconds, now.wallNanoseconds, steady]
        )
        return steady - now.bootNanoseconds
    }

    /// The newest time in the tables: the current time is not earlier. Two lookups in indexes.
    private static func newestStamp(in database: Database) throws -> Int64 {
        let intent = try Double.fetchOne(database, sql: "SELECT MAX(created_at) FROM mail_intent") ?? 0
        let use = try Double.fetchOne(database, sql: "SELECT MAX(used_at) FROM refresh_token WHERE used_at IS NOT NULL") ?? 0
        return Int64(max(intent, use) * 1e9)
    }
}
