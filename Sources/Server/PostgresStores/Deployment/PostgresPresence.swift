import AccountCore
public import Foundation
import PostgresDriver

/// The registration of the servers that use one database. Each server renews a row every two seconds, which is valid for ten seconds by the
/// database's clock.
public struct PostgresPresence: Sendable {
    /// A registered server.
    public struct Server: Hashable, Sendable, Identifiable {
        /// The id that the server got at its start.
        public let id: UUID
        /// The name of its host and its process id.
        public let name: String
        /// Its version.
        public let version: String
        /// Whether it does not share its rate limits with other servers.
        public let isAlone: Bool
        /// The seconds by which its clock is ahead of the database's.
        public let clockAhead: Double
    }

    /// The id of this server, new at each start.
    public let id = UUID()
    private let database: PostgresDatabase
    private let name: String
    private let version: String
    private let isAlone: Bool

    /// Creates the registration of a server, which begins with ``enter()``.
    /// - Parameters:
    ///   - database: The database.
    ///   - name: The name of the host and the process id, for operators.
    ///   - version: The version of the server.
    ///   - isAlone: Whether no other server may be registered, because this one does not share its rate limits.
    public init(_ database: PostgresDatabase, name: String, version: String, isAlone: Bool) {
        (self.database, self.name, self.version, self.isAlone) = (database, name, version, isAlone)
    }

    /// The interval at which a server renews its row.
    public static let interval: Duration = .seconds(2)

    /// Registers the server, unless it or another registered server must be alone.
    /// - Returns: Whether it is registered now.
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
            try await renew(transaction)
            // Rows of servers that stopped long ago.
            try await transaction.execute(
                "DELETE FROM server WHERE renewed_at < extract(epoch FROM clock_timestamp())::double precision - 86400"
            )
            return true
        }
    }

    /// Renews the row.
    public func renew() async throws {
        try await database.transaction { try await renew($0) }
    }

    private func renew(_ transaction: PostgresTransaction) async throws {
        try await transaction.execute(
            """
            INSERT INTO server (id, name, version, is_alone, clock_ahead, renewed_at)
            VALUES ($1, $2, $3, $4, $5 - extract(epoch FROM clock_timestamp())::double precision,
                extract(epoch FROM clock_timestamp())::double precision)
            ON CONFLICT (id) DO UPDATE SET clock_ahead = excluded.clock_ahead, renewed_at = excluded.renewed_at
            """,
            [.uuid(id), .text(name), .text(version), .bool(isAlone), .time(Date())]
        )
    }

    /// Removes the row, so that other servers take over the emails in flight immediately.
    public func leave() async throws {
        try await database.execute("DELETE FROM server WHERE id = $1", [.uuid(id)])
    }

    /// Returns the registered servers.
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
