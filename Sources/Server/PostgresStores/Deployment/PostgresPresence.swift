import AccountCore
public import Foundation
import PostgresDriver

/// The registration of the servers that use one database.
///
/// Each server adds a row when it starts, and renews it at least every two seconds. After a renewal, the row is valid for ten seconds of
/// the database's clock, so a few failed renewals do no harm. Servers use the rows of the other servers for two decisions:
/// - If the row of a server has expired, this server has stopped. Another server can then send the emails that the stopped server had
///   claimed.
/// - A server that does not share its rate limits may start only if no other server is registered. Another server can start if the row of
///   this server has expired, for example because its process was suspended. So a server whose row has expired must register again.
///
/// ```swift
/// let presence = PostgresPresence(database, name: "web-1 4711", version: "1.0.0", isAlone: false)
/// guard try await presence.enter() else { return }
/// // Call `renew()` every two seconds, stop the server if it returns `false`, and call `leave()` at the end.
/// ```
public struct PostgresPresence: Sendable {
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

    /// Creates the registration of a server. Does no I/O. ``enter()`` registers the server.
    /// - Parameters:
    ///   - database: The database.
    ///   - name: The name of the host and the process id, for operators.
    ///   - version: The version of the server.
    ///   - isAlone: Whether no other server may be registered, because this server does not share its rate limits.
    public init(_ database: PostgresDatabase, name: String, version: String, isAlone: Bool) {
        (self.database, self.name, self.version, self.isAlone) = (database, name, version, isAlone)
    }

    /// The longest time that a server should let pass between two renewals of its row: a fifth of the time for which the row is valid.
    public static let interval: Duration = .seconds(2)

    /// Registers the server. A server whose `isAlone` is `true` is registered only if no other server is registered. While this server is
    /// registered, the method refuses all other servers.
    ///
    /// A lock serializes the decisions of all servers, so of two servers that must be alone, only one can register. The method also removes
    /// rows that were not renewed for a day.
    /// - Returns: Whether the server is registered now. If not, try again after ten seconds. By then, the row of a crashed server has
    ///   expired.
    /// - Throws: `StoreFailure`.
    public func enter() async throws -> Bool {
        try await database.transaction { transaction in
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
        if renewal.count == 1 { return true }
        return try await enter()
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
