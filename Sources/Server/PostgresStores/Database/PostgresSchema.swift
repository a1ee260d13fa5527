import AccountCore
import Foundation
import PostgresDriver

/// The definition of the tables, as a list of migration steps. Existing steps are never changed.
///
/// The statements only use features that PostgreSQL, CockroachDB, YugabyteDB and Citus share: no sequences, no triggers, no advisory locks
/// and no foreign keys. The primary keys of all large tables begin with a random id or a digest.
///
/// Each server calls ``migrate(_:)`` before it uses the tables. If no step is pending, the call takes a few round trips. A step is one
/// transaction, which also records the name of the step. So if a server stops during a step, the step is rolled back. After every step,
/// servers of the previous version can still use the tables, so that servers can be upgraded one after the other.
public enum PostgresSchema {
    /// A migration step: a name, and statements that can be repeated.
    ///
    /// The name identifies the step in `schema_step`, so it can't be changed after a release.
    struct Step: Sendable {
        let name: String
        let statements: [PostgresStatement]
    }

    /// Migrates the tables. Only one server at a time migrates. Other servers that call this method meanwhile wait for up to two minutes.
    /// - Parameter database: The database. Its user must be allowed to create tables.
    /// - Returns: The names of the executed steps, in order; empty if the tables are current.
    /// - Throws: `StoreFailure`. Its `isBusy` is `true` if another server has been migrating for two minutes, or if a step waits for the
    ///   lock of a table for more than two seconds. It is `false` if a newer version has migrated the tables.
    @discardableResult
    public static func migrate(_ database: PostgresDatabase) async throws -> [String] {
        try await migrate(database, steps: steps)
    }

    /// Returns the names of the pending steps, without changing anything.
    /// - Returns: The names in the order in which ``migrate(_:)`` executes the steps; all of them if the database is new.
    /// - Throws: `StoreFailure`.
    public static func pending(_ database: PostgresDatabase) async throws -> [String] {
        if try await isNew(database) { return steps.map(\.name) }
        let made = try await self.made(database)
        return steps.map(\.name).filter { !made.contains($0) }
    }

    /// Returns whether a newer version has migrated the tables. This is the case if the tables record a step that this version doesn't
    /// know.
    /// - Parameter database: The database.
    /// - Throws: `StoreFailure`.
    public static func isFromNewerVersion(_ database: PostgresDatabase) async throws -> Bool {
        guard try await !isNew(database) else { return false }
        return try await !made(database).isSubset(of: steps.map(\.name))
    }

    /// Returns whether the database has none of the tables, because no server has ever migrated it.
    /// - Parameter database: The database.
    /// - Throws: `StoreFailure`.
    public static func isNew(_ database: PostgresDatabase) async throws -> Bool {
        let exists: Bool? = try await database.first("SELECT to_regclass('schema_step') IS NOT NULL", []) { try $0.value(0) }
        return exists != true
    }

    /// Returns the random name that the tables got when they were created: 32 hexadecimal digits. A server compares it with the configured
    /// name, so that it doesn't start with the database of another installation.
    /// - Parameter database: The database, whose tables must exist.
    /// - Returns: The name; an empty string if the row is missing.
    /// - Throws: `StoreFailure`.
    public static func installation(_ database: PostgresDatabase) async throws -> String {
        let name: String?? = try await database.first(
            "SELECT value FROM shared_value WHERE name = 'installation'",
            []
        ) { try $0.value(0) }
        return (name ?? nil) ?? ""
    }

    /// Returns the name of ``installation(_:)`` if the tables exist.
    /// - Parameter database: The database.
    /// - Returns: The name; `nil` if no server has migrated the database, or if the first server has not completed the first step.
    /// - Throws: `StoreFailure`.
    package static func existingInstallation(_ database: PostgresDatabase) async throws -> String? {
        let exists: Bool? = try await database.first("SELECT to_regclass('shared_value') IS NOT NULL", []) { try $0.value(0) }
        guard exists == true else { return nil }
        return try await installation(database)
    }

    /// Returns whether a copy from SQLite has begun and is not complete. If so, the tables contain only a part of the data.
    /// - Parameter database: The database, whose tables must exist.
    /// - Throws: `StoreFailure`.
    public static func isIncompleteCopy(_ database: PostgresDatabase) async throws -> Bool {
        try await !database.execute("SELECT 1 FROM shared_value WHERE name = 'copy'").rows.isEmpty
    }

    /// Migrates the tables with the given steps. Tests pass additional steps.
    ///
    /// The lock is a row with an expiry, because some of the supported databases have no advisory locks. Each step renews the lock in its
    /// own transaction. If a server has lost the lock, this renewal fails and the step is rolled back.
    static func migrate(_ database: PostgresDatabase, steps: [Step]) async throws -> [String] {
        for statement in locks { try await repeated { try await database.execute(statement) } }
        let holder = UUID()
        try await takeLock(database, holder)
        do {
            let made = try await made(database)
            guard made.isSubset(of: steps.map(\.name)) else { throw newerVersion }
            let pending = steps.filter { !made.contains($0.name) }
            for step in pending { try await make(step, database, holder) }
            try await releaseLock(database, holder)
            return pending.map(\.name)
        } catch {
            try? await releaseLock(database, holder)
            throw error
        }
    }

    /// The error of a database that a newer version has migrated. An older version could damage the data of the newer version.
    private static let newerVersion = StoreFailure(
        isBusy: false,
        message: "the database belongs to a newer version of holdfast; run that version, or restore the backup of before"
    )

    /// Returns the names of the executed steps, including those that this version doesn't know.
    private static func made(_ database: PostgresDatabase) async throws -> Set<String> {
        Set(try await database.execute("SELECT name FROM schema_step").rows.map { try $0.value(0) })
    }

    /// Executes a step and records its name, in one transaction. The transaction fails if this server has lost the lock.
    private static func make(_ step: Step, _ database: PostgresDatabase, _ holder: UUID) async throws {
        try await database.transaction { transaction in
            // While a statement of the step waits for the lock of a table, it blocks all later statements on this table. So the wait is
            // limited.
            try await transaction.execute("SET LOCAL lock_timeout = '2s'")
            try await transaction.execute("SET LOCAL statement_timeout = 0")
            for statement in step.statements { try await transaction.execute(statement) }
            let kept = try await transaction.execute(renewal, [.uuid(holder)])
            guard kept.count == 1 else { throw StoreFailure(isBusy: true, message: "another server changes the tables") }
            try await transaction.execute(
                """
                INSERT INTO schema_step (name, made_at) VALUES ($1, extract(epoch FROM clock_timestamp())::double precision)
                ON CONFLICT (name) DO NOTHING
                """,
                [.text(step.name)]
            )
        }
    }

    /// Takes the lock, and waits for up to two minutes while another server migrates the tables. If the server that has the lock stops, its
    /// lock expires after a minute.
    private static func takeLock(_ database: PostgresDatabase, _ holder: UUID) async throws {
        for _ in 0..<600 {
            let taken = try await database.execute(
                """
                INSERT INTO schema_lock (name, holder, expires_at)
                VALUES ('schema', $1, extract(epoch FROM clock_timestamp())::double precision + 60)
                ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
                WHERE schema_lock.holder = excluded.holder
                    OR schema_lock.expires_at < extract(epoch FROM clock_timestamp())::double precision
                """,
                [.uuid(holder)]
            )
            if taken.count == 1 { return }
            // The lock expires by the clock of the database, which runs in real time.
            try await Task.sleep(for: .milliseconds(200))
        }
        throw StoreFailure(isBusy: true, message: "another server has been changing the tables for two minutes")
    }

    /// Extends the lock by a minute, if the holder still has it.
    private static let renewal: PostgresStatement = """
        UPDATE schema_lock SET expires_at = extract(epoch FROM clock_timestamp())::double precision + 60
        WHERE name = 'schema' AND holder = $1
        """

    /// Releases the lock, if the holder still has it.
    private static func releaseLock(_ database: PostgresDatabase, _ holder: UUID) async throws {
        try await database.execute("DELETE FROM schema_lock WHERE name = 'schema' AND holder = $1", [.uuid(holder)])
    }

    /// Executes a statement up to six times, with pauses of 50 ms. If two servers create a table at the same time, both find that the table
    /// is missing, and one of them fails. The server that failed must then try again.
    private static func repeated(_ body: () async throws -> Void) async throws {
        for _ in 0..<5 {
            do { return try await body() } catch is StoreFailure { try await Task.sleep(for: .milliseconds(50)) }
        }
        try await body()
    }

    /// The tables that the migration itself needs. They exist before the first step.
    private static let locks: [PostgresStatement] = [
        """
        CREATE TABLE IF NOT EXISTS schema_lock (
            name text PRIMARY KEY,
            holder uuid NOT NULL,
            expires_at double precision NOT NULL
        )
        """,
        "CREATE TABLE IF NOT EXISTS schema_step (name text PRIMARY KEY, made_at double precision NOT NULL)",
    ]
}

extension PostgresSchema {
    /// All steps, in the order of their execution. New steps are added at the end.
    static let steps = [
        Step(
            name: "accounts, sessions, tokens, emails, audit, idempotency keys, servers",
            statements: accounts + emails + shared
        ),
        Step(name: "idempotency keys count in bytes", statements: idempotencySizes),
        Step(name: "signing keys", statements: signingKeys),
        Step(
            name: "verified addresses, links, former addresses, devices, purges",
            statements: accountChanges + mailKinds
        ),
        Step(
            name: "sent emails without an account",
            statements: ["ALTER TABLE sent_reset ALTER COLUMN account_id DROP NOT NULL"]
        ),
    ]

    /// The statements that add the tables and columns for emailed links, former addresses, devices and removed accounts.
    ///
    /// Existing accounts count as verified. Accounts that servers of the earlier version add during the upgrade count as verified, too. The
    /// new columns have constant defaults, so the step doesn't rewrite the tables.
    ///
    /// `change_id` is the id of the last change by ``PostgresAccountRecordStore/change(_:at:_:)``. If the response of a commit was lost,
    /// the repeated transaction recognizes its own change by this id.
    ///
    /// Former addresses are stored as normalized addresses and not as HMACs, so they stay reserved while an operator replaces the secret of
    /// these HMACs.
    private static let accountChanges: [PostgresStatement] = [
        "ALTER TABLE account ADD COLUMN IF NOT EXISTS is_verified boolean NOT NULL DEFAULT true",
        "ALTER TABLE account ADD COLUMN IF NOT EXISTS purge_at double precision",
        "ALTER TABLE account ADD COLUMN IF NOT EXISTS active_at double precision",
        "ALTER TABLE account ADD COLUMN IF NOT EXISTS change_id uuid",
        "CREATE INDEX IF NOT EXISTS account_purge_at ON account (purge_at) WHERE purge_at IS NOT NULL",
        "CREATE INDEX IF NOT EXISTS account_unverified ON account (created_at) WHERE NOT is_verified",
        "ALTER TABLE session ADD COLUMN IF NOT EXISTS device_name text",
        """
        CREATE TABLE IF NOT EXISTS account_link (
            digest bytea PRIMARY KEY,
            purpose text NOT NULL,
            account_id uuid,
            email text NOT NULL,
            email_key text NOT NULL,
            epoch bigint NOT NULL,
            first_name text,
            language text NOT NULL,
            created_at double precision NOT NULL,
            expires_at double precision NOT NULL
        )
        """,
        "CREATE INDEX IF NOT EXISTS account_link_account ON account_link (account_id)",
        "CREATE INDEX IF NOT EXISTS account_link_email ON account_link (email_key)",
        "CREATE INDEX IF NOT EXISTS account_link_expires_at ON account_link (expires_at)",
        // The column `place` orders the former addresses of an account, even if several were replaced at the same time.
        """
        CREATE TABLE IF NOT EXISTS former_address (
            account_id uuid NOT NULL,
            place bigint NOT NULL,
            email text NOT NULL,
            email_key text NOT NULL,
            replaced_at double precision NOT NULL,
            expires_at double precision NOT NULL,
            PRIMARY KEY (account_id, place)
        )
        """,
        "CREATE INDEX IF NOT EXISTS former_address_email ON former_address (email_key)",
        "CREATE INDEX IF NOT EXISTS former_address_expires_at ON former_address (expires_at)",
        """
        CREATE TABLE IF NOT EXISTS account_device (
            account_id uuid NOT NULL,
            family text COLLATE "C" NOT NULL,
            first_seen_at double precision NOT NULL,
            PRIMARY KEY (account_id, family)
        )
        """,
        """
        CREATE TABLE IF NOT EXISTS purged_account (
            id uuid PRIMARY KEY,
            purged_at double precision NOT NULL,
            is_listed boolean NOT NULL
        )
        """,
        "CREATE INDEX IF NOT EXISTS purged_account_unlisted ON purged_account (purged_at, id) WHERE NOT is_listed",
        """
        CREATE TABLE IF NOT EXISTS purge_event (
            id uuid PRIMARY KEY,
            kind text NOT NULL,
            time double precision NOT NULL
        )
        """,
    ]

    /// The statements that allow further kinds of emails in the queue. The stores, and not the table, check which columns a kind needs. So
    /// most new kinds require no migration step. The exception is a kind that clients without an account can request, because the column
    /// `is_fresh` lists these kinds.
    ///
    /// `is_fresh` is true for an email that a client without an account requested and that no worker has tried to send yet. Workers claim
    /// one of these emails from each network in turn. They claim all other emails in the order of their due times.
    private static let mailKinds: [PostgresStatement] = [
        "ALTER TABLE mail_intent DROP CONSTRAINT IF EXISTS mail_intent_kind_check",
        "ALTER TABLE mail_intent DROP CONSTRAINT IF EXISTS mail_intent_check",
        "ALTER TABLE mail_intent DROP CONSTRAINT IF EXISTS mail_intent_check1",
        "ALTER TABLE mail_intent ADD COLUMN IF NOT EXISTS text text",
        """
        ALTER TABLE mail_intent ADD COLUMN IF NOT EXISTS is_fresh boolean GENERATED ALWAYS AS (
            kind IN ('password_reset', 'registration', 'verification') AND state = 'waiting' AND failures = 0
        ) STORED
        """,
        "DROP INDEX IF EXISTS mail_intent_new",
        "DROP INDEX IF EXISTS mail_intent_due",
        "CREATE INDEX IF NOT EXISTS mail_intent_fresh ON mail_intent (network, created_at, id) WHERE is_fresh",
        """
        CREATE INDEX IF NOT EXISTS mail_intent_due_at ON mail_intent (due_at, created_at)
        WHERE NOT is_fresh AND state <> 'failed'
        """,
    ]

    /// The statements that create the table of the encrypted keys that sign access tokens, and a row in `shared_value`, the table of values
    /// that all servers share. Each change of the keys locks this row.
    private static let signingKeys: [PostgresStatement] = [
        """
        CREATE TABLE IF NOT EXISTS signing_key (
            id text PRIMARY KEY,
            sealed bytea NOT NULL,
            created_at double precision NOT NULL,
            signs_from double precision NOT NULL,
            retired_at double precision
        )
        """,
        "INSERT INTO shared_value (name, value) VALUES ('signing_keys', NULL) ON CONFLICT (name) DO NOTHING",
    ]

    /// The tables of accounts, sessions, tokens and audit events.
    ///
    /// The unique keys of addresses (``EmailKeys``) are in their own table, `account_email`, because an account has two keys while a secret
    /// is replaced. ``PostgresAccountRepository/countForeignHashes(by:)`` uses the partial index over foreign hashes. `fillfactor` leaves
    /// space in the pages of `session`, because each refresh writes a new version of a row.
    private static let accounts: [PostgresStatement] = [
        """
        CREATE TABLE IF NOT EXISTS account (
            id uuid PRIMARY KEY,
            email text NOT NULL,
            first_name text NOT NULL,
            password_hash text NOT NULL,
            state text NOT NULL CHECK (state IN ('active', 'inactive', 'suspended', 'frozen')),
            language text NOT NULL,
            epoch bigint NOT NULL,
            created_at double precision NOT NULL
        )
        """,
        "CREATE INDEX IF NOT EXISTS account_created_at ON account (created_at, id)",
        """
        CREATE INDEX IF NOT EXISTS account_foreign_hash ON account (id)
        WHERE left(password_hash, 31) <> '$argon2id$v=19$m=19456,t=2,p=1$'
        """,
        "CREATE TABLE IF NOT EXISTS account_email (email_key bytea PRIMARY KEY, account_id uuid NOT NULL)",
        "CREATE INDEX IF NOT EXISTS account_email_account ON account_email (account_id)",
        """
        CREATE TABLE IF NOT EXISTS session (
            id uuid PRIMARY KEY,
            account_id uuid NOT NULL,
            created_at double precision NOT NULL,
            refreshed_at double precision NOT NULL
        ) WITH (fillfactor = 80)
        """,
        "CREATE INDEX IF NOT EXISTS session_account ON session (account_id)",
        "CREATE INDEX IF NOT EXISTS session_refreshed_at ON session (refreshed_at)",
        """
        CREATE TABLE IF NOT EXISTS refresh_token (
            digest bytea PRIMARY KEY,
            session_id uuid NOT NULL,
            account_id uuid NOT NULL,
            parent bytea,
            used_at double precision
        )
        """,
        "CREATE INDEX IF NOT EXISTS refresh_token_session ON refresh_token (session_id)",
        "CREATE INDEX IF NOT EXISTS refresh_token_account ON refresh_token (account_id)",
        "CREATE INDEX IF NOT EXISTS refresh_token_parent ON refresh_token (parent) WHERE parent IS NOT NULL",
        "CREATE INDEX IF NOT EXISTS refresh_token_used_at ON refresh_token (used_at) WHERE used_at IS NOT NULL",
        """
        CREATE TABLE IF NOT EXISTS reset_token (
            digest bytea PRIMARY KEY,
            account_id uuid NOT NULL,
            email_key bytea NOT NULL,
            created_at double precision NOT NULL,
            expires_at double precision NOT NULL,
            consumed_at double precision,
            consumed_by uuid
        )
        """,
        "CREATE INDEX IF NOT EXISTS reset_token_account ON reset_token (account_id)",
        "CREATE INDEX IF NOT EXISTS reset_token_expires_at ON reset_token (expires_at)",
        """
        CREATE TABLE IF NOT EXISTS freeze_token (
            digest bytea PRIMARY KEY,
            account_id uuid NOT NULL,
            expires_at double precision NOT NULL,
            consumed_at double precision,
            consumed_by uuid
        )
        """,
        "CREATE INDEX IF NOT EXISTS freeze_token_account ON freeze_token (account_id)",
        "CREATE INDEX IF NOT EXISTS freeze_token_expires_at ON freeze_token (expires_at)",
        """
        CREATE TABLE IF NOT EXISTS audit_event (
            account_id uuid NOT NULL,
            time double precision NOT NULL,
            id uuid NOT NULL,
            kind text NOT NULL,
            client text,
            request_id text,
            PRIMARY KEY (account_id, time, id)
        )
        """,
        "CREATE INDEX IF NOT EXISTS audit_event_kind ON audit_event (account_id, kind, time, id)",
        "CREATE INDEX IF NOT EXISTS audit_event_time ON audit_event (time)",
    ]

    /// The queue of emails, and the reset emails that were sent recently. Autovacuum of the queue begins after a fixed number of changed
    /// rows, and not after a fraction of the table. The reason is that the queue is usually almost empty, although its rows change all the
    /// time.
    private static let emails: [PostgresStatement] = [
        """
        CREATE TABLE IF NOT EXISTS mail_intent (
            id uuid PRIMARY KEY,
            kind text NOT NULL CHECK (kind IN ('password_reset', 'password_changed')),
            email text,
            account_id uuid,
            language text NOT NULL,
            created_at double precision NOT NULL,
            due_at double precision NOT NULL,
            failures bigint NOT NULL,
            state text NOT NULL CHECK (state IN ('waiting', 'taken', 'failed')),
            reason text,
            client text,
            request_id text,
            network text COLLATE "C" NOT NULL,
            holder uuid,
            claim uuid,
            place bigint,
            CHECK ((kind = 'password_reset') = (email IS NOT NULL)),
            CHECK ((kind = 'password_changed') = (account_id IS NOT NULL))
        ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000)
        """,
        // Of the reset emails that no worker has tried to send yet, workers claim one from each network in turn. They claim all other
        // emails in the order of their due times.
        """
        CREATE INDEX IF NOT EXISTS mail_intent_new ON mail_intent (network, created_at, id)
        WHERE kind = 'password_reset' AND state = 'waiting' AND failures = 0
        """,
        """
        CREATE INDEX IF NOT EXISTS mail_intent_due ON mail_intent (due_at, created_at)
        WHERE NOT (kind = 'password_reset' AND state = 'waiting' AND failures = 0) AND state <> 'failed'
        """,
        "CREATE INDEX IF NOT EXISTS mail_intent_claim ON mail_intent (claim) WHERE claim IS NOT NULL",
        "CREATE INDEX IF NOT EXISTS mail_intent_failed ON mail_intent (due_at) WHERE state = 'failed'",
        """
        CREATE TABLE IF NOT EXISTS sent_reset (
            intent_id uuid PRIMARY KEY,
            account_id uuid NOT NULL,
            sent_at double precision NOT NULL,
            ends_at double precision NOT NULL
        )
        """,
        "CREATE INDEX IF NOT EXISTS sent_reset_account ON sent_reset (account_id, sent_at)",
        "CREATE INDEX IF NOT EXISTS sent_reset_sent_at ON sent_reset (sent_at)",
        "CREATE INDEX IF NOT EXISTS sent_reset_ends_at ON sent_reset (ends_at)",
    ]

    /// The tables of idempotency keys, of registered servers, and of single values that all servers share.
    private static let shared: [PostgresStatement] = [
        """
        CREATE TABLE IF NOT EXISTS idempotency_key (
            digest bytea PRIMARY KEY,
            client bigint NOT NULL,
            fingerprint bytea NOT NULL,
            claim bigint NOT NULL,
            is_finished boolean NOT NULL,
            ends_at double precision NOT NULL,
            status bigint CHECK (status BETWEEN 100 AND 599),
            headers text,
            body bytea
        )
        """,
        "CREATE INDEX IF NOT EXISTS idempotency_key_client ON idempotency_key (client, is_finished, ends_at)",
        "CREATE INDEX IF NOT EXISTS idempotency_key_ends_at ON idempotency_key (ends_at)",
        "CREATE TABLE IF NOT EXISTS idempotency_client (client bigint PRIMARY KEY, keys bigint NOT NULL)",
        "CREATE INDEX IF NOT EXISTS idempotency_client_keys ON idempotency_client (keys)",
        "CREATE TABLE IF NOT EXISTS idempotency_total (part bigint PRIMARY KEY, keys bigint NOT NULL)",
        """
        INSERT INTO idempotency_total (part, keys)
        SELECT part, 0 FROM unnest(ARRAY[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]::bigint[]) AS part
        ON CONFLICT (part) DO NOTHING
        """,
        """
        CREATE TABLE IF NOT EXISTS server (
            id uuid PRIMARY KEY,
            name text NOT NULL,
            version text NOT NULL,
            is_alone boolean NOT NULL,
            clock_ahead double precision NOT NULL,
            renewed_at double precision NOT NULL
        )
        """,
        // Values that all servers share. A server locks the row of a value before it changes the value.
        "CREATE TABLE IF NOT EXISTS shared_value (name text PRIMARY KEY, value text)",
        """
        INSERT INTO shared_value (name, value) VALUES
            ('decoys', NULL), ('mail_retry', NULL), ('presence', NULL), ('sent_resets', NULL),
            ('installation', replace(gen_random_uuid()::text, '-', ''))
        ON CONFLICT (name) DO NOTHING
        """,
    ]

    /// The statements that create the sums of bytes that the idempotency keys use: a sum for each client, for each network, and for each
    /// half of the capacity. Half 0 is for the keys of accounts, and half 1 is for the keys of network addresses.
    ///
    /// Keys that were stored before this step are not counted. Keys that servers of the earlier version store are not counted either. All
    /// uncounted keys expire within days. Servers of the earlier version still use `idempotency_client` and `idempotency_total` while the
    /// servers are upgraded one after the other.
    ///
    /// The new columns have defaults, so the step doesn't rewrite the table.
    private static let idempotencySizes: [PostgresStatement] = [
        "ALTER TABLE idempotency_key ADD COLUMN IF NOT EXISTS network bigint",
        "ALTER TABLE idempotency_key ADD COLUMN IF NOT EXISTS size bigint NOT NULL DEFAULT 0",
        "CREATE TABLE IF NOT EXISTS idempotency_usage (owner bigint PRIMARY KEY, size bigint NOT NULL)",
        """
        CREATE TABLE IF NOT EXISTS idempotency_pool (
            pool bigint NOT NULL,
            part bigint NOT NULL,
            size bigint NOT NULL,
            PRIMARY KEY (pool, part)
        )
        """,
        """
        INSERT INTO idempotency_pool (pool, part, size)
        SELECT pool, part, 0 FROM unnest(ARRAY[0,1]::bigint[]) AS pool,
            unnest(ARRAY[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]::bigint[]) AS part
        ON CONFLICT (pool, part) DO NOTHING
        """,
    ]
}
