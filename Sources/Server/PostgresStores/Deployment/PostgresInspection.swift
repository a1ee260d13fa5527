import PostgresDriver

/// The state and the settings of a PostgreSQL server that matter to an operator, read without changing anything.
///
/// `holdfast doctor` reports it.
public struct PostgresInspection: Sendable {
    /// The version, as in `15.4`.
    public let version: String
    /// The version as a number, such as 150004.
    public let versionNumber: Int
    /// Whether the server is a standby, which accepts no writes.
    public let isStandby: Bool
    /// Whether the connection is encrypted.
    public let isEncrypted: Bool
    /// `synchronous_commit`, `fsync` and `full_page_writes`.
    public let synchronousCommit, fsync, fullPageWrites: String
    /// `synchronous_standby_names`.
    public let synchronousStandbys: String
    /// The number of connections that the server accepts from ordinary users.
    public let connections: Int
    /// The connected standbys, with their lag in seconds.
    public let standbys: [(name: String, state: String, secondsBehind: Double)]
    /// The age of the oldest open transaction, in seconds.
    public let oldestTransaction: Double
    /// The invalid indexes, which a failed creation left.
    public let invalidIndexes: [String]
    /// The size of the database in bytes.
    public let size: Int
    /// The pending steps; `nil` if the database belongs to a newer version.
    public let pendingSteps: [String]?
    /// Whether a copy from SQLite has begun and is not complete.
    public let isIncompleteCopy: Bool
    /// The registered servers.
    public let servers: [PostgresPresence.Server]

    /// Reads all values.
    /// - Throws: `StoreFailure`.
    public init(_ database: PostgresDatabase) async throws {
        let facts = try await database.execute(
            """
            SELECT current_setting('server_version'), current_setting('server_version_num')::bigint, pg_is_in_recovery(),
                coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false),
                current_setting('synchronous_commit'), current_setting('fsync'), current_setting('full_page_writes'),
                current_setting('synchronous_standby_names'),
                current_setting('max_connections')::bigint - current_setting('superuser_reserved_connections')::bigint,
                coalesce((SELECT extract(epoch FROM max(clock_timestamp() - xact_start))::double precision
                    FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()), 0::double precision),
                pg_database_size(current_database())
            """
        ).rows
        guard let row = facts.first else { throw UnreadableColumn(column: 0) }
        (version, versionNumber, isStandby) = (try row.value(0), try row.value(1), try row.value(2))
        isEncrypted = try row.value(3)
        (synchronousCommit, fsync, fullPageWrites) = (try row.value(4), try row.value(5), try row.value(6))
        (synchronousStandbys, connections) = (try row.value(7), try row.value(8))
        (oldestTransaction, size) = (try row.value(9), try row.value(10))
        standbys = try await database.execute(
            """
            SELECT application_name, coalesce(sync_state, ''), coalesce(extract(epoch FROM replay_lag), 0)::double precision
            FROM pg_stat_replication ORDER BY application_name
            """
        ).rows.map { (try $0.value(0), try $0.value(1), try $0.value(2)) }
        invalidIndexes = try await database.execute(
            "SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid"
        ).rows.map { try $0.value(0) }
        pendingSteps = try await PostgresSchema.isFromNewerVersion(database) ? nil : try await PostgresSchema.pending(database)
        let isNew = try await PostgresSchema.isNew(database)
        isIncompleteCopy = pendingSteps == [] ? try await PostgresSchema.isIncompleteCopy(database) : false
        servers = isNew ? [] : try await PostgresPresence.servers(of: database)
    }
}
