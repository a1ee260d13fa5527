public import Foundation
import GRDB
public import RateLimiting

/// A clock for due times, leases and grace windows, such as the window in which a client can repeat a refresh. Its time advances as fast as
/// the wall clock, but doesn't jump when an operator or the system sets the wall clock.
///
/// Until the next reboot, the time is the machine's boot clock plus a constant that the database stores. So all processes on the database
/// have the same time, even after a restart of a process.
///
/// After a reboot, the time continues from its last recorded value, plus the time by which the wall clock has advanced since then, but at
/// least a minute. So even if the wall clock was set back, the time never runs backwards.
///
/// When the first server starts, the time equals its wall clock. Later, this time and the wall clock differ by the adjustments of the wall
/// clock. So use this clock for durations, and the wall clock for dates that a user reads.
public struct SteadyTime: Sendable {
    private let database: SQLiteDatabase
    /// The steady time at which the boot clock was zero, in nanoseconds.
    private let origin: Int64
    /// Reads the machine's boot clock and wall clock.
    private let snapshot: @Sendable () -> SnapshotTime

    /// Creates the clock of a database. Its time continues from the state that the database contains.
    /// - Parameters:
    ///   - database: The open database.
    ///   - snapshot: Reads the machine's boot clock and wall clock.
    /// - Throws: `StoreFailure`.
    public init(_ database: SQLiteDatabase, snapshot: @escaping @Sendable () -> SnapshotTime = { .now() }) async throws {
        (self.database, self.snapshot) = (database, snapshot)
        let now = snapshot()
        origin = try await database.write { try Self.origin(at: now, in: $0) }
    }

    /// A function that returns the current time, without I/O. Pass it to components that need a clock.
    public var now: @Sendable () -> Date {
        { [origin, snapshot] in Date(timeIntervalSince1970: Double(origin + snapshot().bootNanoseconds) / 1e9) }
    }

    /// Records the current time, from which the clock continues after a reboot. Call it periodically.
    ///
    /// If the wall clock was set back between the last call and the end of a reboot, the time that has passed is unknown. In this case, the
    /// clock continues a minute after the recorded time.
    /// - Throws: `StoreFailure`.
    public func keep() async throws {
        let now = snapshot()
        let steady = origin + now.bootNanoseconds
        try await database.execute(
            "UPDATE steady_time SET wall_ns = ?, steady_ns = ? WHERE boot_id = ? AND steady_ns < ?",
            [now.wallNanoseconds, steady, now.bootID, steady]
        )
    }

    /// The assumed minimum duration of a reboot, in nanoseconds. It is longer than any grace window, so all grace windows have ended after
    /// a reboot.
    private static let shortestBoot: Int64 = 60_000_000_000

    /// Returns the steady time at which the boot clock of this boot was zero (the origin). If the database contains no origin of this boot,
    /// the method computes and stores it.
    ///
    /// - Parameters:
    ///   - now: The present times of the machine's boot clock and wall clock.
    ///   - database: The writer's connection, within a transaction, so that all processes agree on the origin.
    private static func origin(at now: SnapshotTime, in database: Database) throws -> Int64 {
        let row = try database.firstRow("SELECT * FROM steady_time", [])
        // On systems without boot ids, the stored origin may be from any boot.
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
            "INSERT OR REPLACE INTO steady_time (id, boot_id, origin_ns, wall_ns, steady_ns) VALUES (1, ?, ?, ?, ?)",
            [now.bootID, steady - now.bootNanoseconds, now.wallNanoseconds, steady]
        )
        return steady - now.bootNanoseconds
    }

    /// The latest stored time from which the clock continues, in nanoseconds since 1970: in the year 2115. It is about half of the largest
    /// `Int64`, so later sums don't overflow.
    private static let latestStamp = 4.6e18

    /// Returns the latest time at which an email in the queue was created or a stored refresh token was used. The clock must not continue
    /// from an earlier time. The method needs two lookups in indexes. It returns at most ``latestStamp``, so that a corrupt row can't cause
    /// an overflow.
    private static func newestStamp(in database: Database) throws -> Int64 {
        let intent = try Double.fetchOne(database, sql: "SELECT MAX(created_at) FROM mail_intent") ?? 0
        let use = try Double.fetchOne(database, sql: "SELECT MAX(used_at) FROM refresh_token WHERE used_at IS NOT NULL") ?? 0
        return Int64(min(max(0, intent, use) * 1e9, latestStamp))
    }
}
