import PostgresDriver

/// The state and the settings of a PostgreSQL server that matter to an operator. Reading them changes nothing.
///
/// `holdfast doctor` reports these values. The initializer reads them with several statements, in about ten round trips. So the values
/// don't form a snapshot of one moment.
public struct PostgresInspection: Sendable {
    /// The version, as in `15.4`.
    public let version: String
    /// The version as a number, such as 150004 for 15.4.
    public let versionNumber: Int
    /// Whether the PostgreSQL server is a standby, which accepts no writes. Holdfast servers need the primary.
    public let isStandby: Bool
    /// Whether the connection that read the values is encrypted with TLS.
    public let isEncrypted: Bool
    /// The settings `synchronous_commit`, `fsync` and `full_page_writes`, as the server spells them, such as `on`. If one of them is `off`,
    /// a crash of the database can lose changes that the stores reported as durable.
    public let synchronousCommit, fsync, fullPageWrites: String
    /// The setting `synchronous_standby_names`. If it is empty, a commit doesn't wait for a standby, so a failover can lose the latest
    /// commits.
    public let synchronousStandbys: String
    /// The number of connections that the server accepts from ordinary users: `max_connections` without the connections that are reserved
    /// for superusers. All Holdfast servers that use the database share these connections.
    public let connections: Int
    /// The connected standbys, sorted by name, with their replication state, such as `sync`, and their lag in seconds. The lag is 0 if the
    /// standby has nothing to replay.
    public let standbys: [(name: String, state: String, secondsBehind: Double)]
    /// The age of the oldest open transaction of the database, in seconds; 0 if there is none. A transaction that stays open for hours
    /// prevents the removal of old row versions, so that the tables grow.
    public let oldestTransaction: Double
    /// The names of invalid indexes. PostgreSQL leaves an invalid index if the creation of the index fails. Queries don't use such an
    /// index, but each write maintains it.
    public let invalidIndexes: [String]
    /// The size of the database in bytes.
    public let size: Int
    /// The names of the pending migration steps; `nil` if the database belongs to a newer version.
    public let pendingSteps: [String]?
    /// Whether a copy from SQLite has begun and is not complete. The value is always `false` while steps are pending.
    public let isIncompleteCopy: Bool
    /// The registered Holdfast servers; none if the tables don't exist yet.
    public let servers: [PostgresPresence.Server]

    /// Reads the state and the settings of the server.
    /// - Parameter database: The database. Its user needs no special rights. But without the role `pg_monitor`, the inspection sees only
    ///   transactions and standbys of this user.
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
