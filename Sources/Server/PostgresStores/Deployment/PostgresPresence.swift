import AccountCore
public import Foundation
import PostgresDriver
import Synchronization
import Timekeeping

/// The registration of the servers that use one database.
///
/// Each server adds a row when it starts, and renews it at least every two seconds. After a renewal, the row is valid for ten seconds of
/// the database's clock, so a few failed renewals do no harm. Servers use the rows of the other servers for two decisions:
/// - If the row of a server has expired, this server has stopped. Another server can then send the emails that the stopped server had
///   claimed. During an outage of the database, the rows of all servers expire. So a server that couldn't renew its own row does not
///   conclude from an expired row that a server has stopped.
/// - A server that does not share its rate limits may start only if no other server is registered. Another server can start if the row of
///   this server has expired, for example because its process was suspended. So a server whose row has expired must register again.
///
/// ```swift
/// let presence = PostgresPresence(database, name: "web-1 4711", version: "1.0.0", isAlone: false)
/// guard try await presence.enter() else { return }
/// // Call `renew()` every two seconds, stop the server if it returns `false`, and call `leave()` at the end.
/// ```
public final class PostgresPresence: Sendable {
    /// A registered server.
    public struct Server: Hashable, Sendable, Identifiable {
        /// The id that the server created at its start.
        public let id: UUID
        /// The name of its host and its process id, for operators. The name need not be unique.
        public let name: String
        /// The version of its program.
        public let version: String
        /// Whether this server must be the only server, because it does not share its rate limits with others.
        public let isAlone: Bool
        /// The seconds by which the server's clock was ahead of the database's clock when the server last renewed its row; negative if it
        /// was behind. The value includes half a round trip.
        public let clockAhead: Double
    }

    /// The id of this server, new at each start.
    public let id = UUID()
    private let database: PostgresDatabase
    private let name: String
    private let version: String
    /// Whether no other server may be registered, because this server does not share its rate limits.
    private let isAlone: Bool
    private let clock: MonotonicClock
    private let renewals = Mutex(Renewals())

    /// The renewals of this server's row, by the clock of this process.
    private struct Renewals {
        /// The time of the last renewal; `nil` before the first registration.
        var last: Duration?
        /// The time of the first renewal after the last interruption; `nil` if there was no interruption.
        var resumed: Duration?
    }

    /// Creates the registration of a server. Does no I/O. ``enter()`` registers the server.
    /// - Parameters:
    ///   - database: The database.
    ///   - name: The name of the host and the process id, for operators.
    ///   - version: The version of the server.
    ///   - isAlone: Whether no other server may be registered, because this server does not share its rate limits.
    public convenience init(_ database: PostgresDatabase, name: String, version: String, isAlone: Bool) {
        self.init(database, name: name, version: version, isAlone: isAlone, clock: .continuous)
    }

    /// Creates a registration with a clock for tests. The other parameters are the parameters of the public initializer.
    init(_ database: PostgresDatabase, name: String, version: String, isAlone: Bool, clock: MonotonicClock) {
        (self.database, self.name, self.version, self.isAlone, self.clock) = (database, name, version, isAlone, clock)
    }

    /// The longest time that a server should let pass between two renewals of its row: a fifth of the time for which the row is valid.
    public static let interval: Duration = .seconds(2)
    /// If a server doesn't renew its row for longer than this time, its renewals were interrupted. The time is shorter than the ten seconds
    /// for which a row is valid. So a server notices an outage in which the rows of other servers have expired.
    private static let longestGap = Duration.seconds(5)
    /// The time after an interruption in which other servers can renew their rows.
    private static let recovery = Duration.seconds(10)

    /// Whether an expired row means that its server has stopped.
    ///
    /// The value is `false` while this server can't renew its own row, and for ten seconds after that: if the database was unavailable, the
    /// other servers couldn't renew their rows either.
    var detectsStoppedServers: Bool {
        let now = clock.now
        return renewals.withLock { renewals in
            guard let last = renewals.last, now - last <= Self.longestGap else { return false }
            return renewals.resumed.map { now - $0 >= Self.recovery } ?? true
        }
    }

    /// Records that this server has renewed its row.
    private func noteRenewal() {
        let now = clock.now
        renewals.withLock { renewals in
            if let last = renewals.last, now - last > Self.longestGap { renewals.resumed = now }
            renewals.last = now
        }
    }

    /// Registers the server. A server whose `isAlone` is `true` is registered only if no other server is registered. While this server is
    /// registered, the method refuses all other servers.
    ///
    /// A lock serializes the decisions of all servers, so of two servers that must be alone, only one can register. The method also removes
    /// rows that were not renewed for a day.
    /// - Returns: Whether the server is registered now. If not, try again after ten seconds. By then, the row of a crashed server has
    ///   expired.
    /// - Throws: `StoreFailure`.
    public func enter() async throws -> Bool {
        let isRegistered = try await register()
        if isRegistered { noteRenewal() }
        return isRegistered
    }

    /// Executes the transaction of ``enter()``.
    private func register() async throws -> Bool {
        try await database.transaction { [id, name, version, isAlone] transaction in
            _ = try await transaction.lockedValue(of: "presence")
            let conflicts = try await transaction.execute(
                """
                SELECT 1 FROM server WHERE id <> $1 AND (is_alone OR $2)
                    AND renewed_at > extract(epoch FROM clock_timestamp())::double precision - 10
                """,
                [.uuid(id), .bool(isAlone)]
            )
            guard conflicts.rows.isEmpty else { return false }
            try await transaction.execute(
                """
                INSERT INTO server (id, name, version, is_alone, clock_ahead, renewed_at)
                VALUES ($1, $2, $3, $4, $5 - extract(epoch FROM clock_timestamp())::double precision,
                    extract(epoch FROM clock_timestamp())::double precision)
                ON CONFLICT (id) DO UPDATE SET clock_ahead = excluded.clock_ahead, renewed_at = excluded.renewed_at
                """,
                [.uuid(id), .text(name), .text(version), .bool(isAlone), .time(Date())]
            )
            // Removes the rows of servers that stopped long ago.
            try await transaction.execute(
                "DELETE FROM server WHERE renewed_at < extract(epoch FROM clock_timestamp())::double precision - 86400"
            )
            return true
        }
    }

    /// Renews the row. Call it every ``interval``. The database's clock determines how long the row is valid, so the clocks of the servers'
    /// machines don't matter.
    ///
    /// If the row has expired or was removed, the method registers the server again, by the same rules as ``enter()``. For this method, the
    /// row expires one second earlier than for other servers, so that another server can't register while this method renews the row.
    /// - Returns: Whether the server is still registered. If not, another server has taken its place, so stop this server.
    /// - Throws: `StoreFailure`. After ten seconds without success, other servers consider this server stopped.
    public func renew() async throws -> Bool {
        let renewal = try await database.execute(
            """
            UPDATE server SET clock_ahead = $2 - extract(epoch FROM clock_timestamp())::double precision,
                renewed_at = extract(epoch FROM clock_timestamp())::double precision
            WHERE id = $1 AND renewed_at > extract(epoch FROM clock_timestamp())::double precision - 9
            """,
            [.uuid(id), .time(Date())]
        )
        guard renewal.count == 1 else { return try await enter() }
        noteRenewal()
        return true
    }

    /// Removes the row, so that other servers can send the emails that this server has claimed, immediately instead of after ten seconds.
    /// Call it when the server stops.
    /// - Throws: `StoreFailure`. The other servers then wait until the row expires, at most ten seconds.
    public func leave() async throws {
        try await database.execute("DELETE FROM server WHERE id = $1", [.uuid(id)])
    }

    /// Returns the servers that renewed their rows within the last ten seconds, sorted by name.
    /// - Parameter database: The database that the servers share.
    /// - Throws: `StoreFailure`.
    public static func servers(of database: PostgresDatabase) async throws -> [Server] {
        try await database.execute(
            """
            SELECT id, name, version, is_alone, clock_ahead FROM server
            WHERE renewed_at > extract(epoch FROM clock_timestamp())::double precision - 10 ORDER BY name
            """
        ).rows.map {
            Server(
                id: try $0.value(0),
                name: try $0.value(1),
                version: try $0.value(2),
                isAlone: try $0.value(3),
                clockAhead: try $0.value(4)
            )
        }
    }
}
