import GRDB

/// The definition of the tables, as a list of migrations. Released migrations are never changed.
enum SQLiteSchema {
    /// The migrations, in the order of their execution. The database stores the names of the executed migrations, so a name must never
    /// change. Some names therefore contain terms that the code no longer uses.
    ///
    /// SQLite can't change the primary key of a table. So a migration that needs another primary key copies the table.
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        func add(_ name: String, _ sql: String) {
            migrator.registerMigration(name) { try $0.execute(sql: sql) }
        }
        add("accounts, sessions, reset tokens, mail intents", accounts)
        add("what limits owe", rateLimits)
        add("what became of mail intents", mailStates)
        add("reset tokens belong to the address that they were mailed to", resetTokenAddresses)
        add("idempotency keys", idempotencyKeys)
        add("audit, and hashes of other systems", auditEvents)
        add("used refresh tokens are forgotten in time", usedRefreshTokens)
        add("mail intents lie in the order of their making", orderedMails)
        add("decoys of all costs, kept", decoys)
        add("retries that operators ask for", mailRetry)
        add("installation", installation)
        add("mails in turn by network, holders of leases, sent reset mails, steady time", mailTurns)
        add("idempotency keys count in bytes, of clients and networks", idempotencySizes)
        add("signing keys", signingKeys)
        migrator.registerMigration("verified addresses, links, former addresses, devices, purges") { database in
            try removeCopyLog(database)
            try database.execute(sql: accountChanges + mailKinds)
        }
        migrator.registerMigration("sent emails without an account") { database in
            try removeCopyLog(database)
            try database.execute(sql: sentMails)
        }
        return migrator
    }

    /// Removes the change log of an unfinished copy to PostgreSQL that an earlier version began. The triggers that write to this log don't
    /// cover the new tables, so the copy must begin again.
    private static func removeCopyLog(_ database: Database) throws {
        guard try database.tableExists("copy_change"), try !SQLiteSeal.isClosed(database) else { return }
        let triggers = try String.fetchAll(
            database,
            sql: "SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'copy\\_%' ESCAPE '\\'"
        )
        for trigger in triggers { try database.execute(sql: "DROP TRIGGER \(trigger)") }
        try database.execute(sql: "DROP TABLE copy_change; DROP TABLE IF EXISTS copy_log")
    }
}

extension SQLiteSchema {
    /// The tables of accounts, sessions, tokens and emails.
    private static let accounts = """
        CREATE TABLE account (
            id TEXT NOT NULL PRIMARY KEY,
            email TEXT NOT NULL,
            email_key TEXT NOT NULL UNIQUE,
            first_name TEXT NOT NULL,
            password_hash TEXT NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('active', 'inactive', 'suspended', 'frozen')),
            language TEXT NOT NULL,
            epoch INTEGER NOT NULL,
            created_at REAL NOT NULL
        ) STRICT;

        CREATE TABLE session (
            id TEXT NOT NULL PRIMARY KEY,
            account_id TEXT NOT NULL REFERENCES account(id) ON DELETE CASCADE,
            created_at REAL NOT NULL,
            refreshed_at REAL NOT NULL
        ) STRICT;
        CREATE INDEX session_account ON session(account_id);
        CREATE INDEX session_refreshed_at ON session(refreshed_at);

        CREATE TABLE refresh_token (
            digest BLOB NOT NULL PRIMARY KEY,
            session_id TEXT NOT NULL REFERENCES session(id) ON DELETE CASCADE,
            parent BLOB,
            used_at REAL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX refresh_token_session ON refresh_token(session_id);
        CREATE INDEX refresh_token_parent ON refresh_token(parent);

        CREATE TABLE reset_token (
            digest BLOB NOT NULL PRIMARY KEY,
            account_id TEXT NOT NULL REFERENCES account(id) ON DELETE CASCADE,
            created_at REAL NOT NULL,
            expires_at REAL NOT NULL,
            consumed_at REAL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX reset_token_account ON reset_token(account_id);
        CREATE INDEX reset_token_expires_at ON reset_token(expires_at);

        CREATE TABLE freeze_token (
            digest BLOB NOT NULL PRIMARY KEY,
            account_id TEXT NOT NULL REFERENCES account(id) ON DELETE CASCADE,
            expires_at REAL NOT NULL,
            consumed_at REAL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX freeze_token_account ON freeze_token(account_id);
        CREATE INDEX freeze_token_expires_at ON freeze_token(expires_at);

        CREATE TABLE mail_intent (
            id TEXT NOT NULL PRIMARY KEY,
            kind TEXT NOT NULL CHECK (kind IN ('password_reset', 'password_changed')),
            email TEXT,
            account_id TEXT,
            language TEXT NOT NULL,
            created_at REAL NOT NULL,
            due_at REAL NOT NULL,
            failures INTEGER NOT NULL,
            CHECK ((kind = 'password_reset') = (email IS NOT NULL)),
            CHECK ((kind = 'password_changed') = (account_id IS NOT NULL))
        ) STRICT;
        CREATE INDEX mail_intent_due_at ON mail_intent(due_at);
        """

    /// The usage of rate limits.
    private static let rateLimits = """
        CREATE TABLE rate_limit (
            policy TEXT NOT NULL,
            key INTEGER NOT NULL,
            owed BLOB NOT NULL,
            wall_ns INTEGER NOT NULL,
            boot_ns INTEGER NOT NULL,
            boot_id TEXT NOT NULL,
            covers_ns INTEGER NOT NULL,
            lifetime_ns INTEGER NOT NULL,
            ends_ns INTEGER NOT NULL,
            PRIMARY KEY (policy, key)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX rate_limit_ends ON rate_limit(boot_id, ends_ns);

        CREATE TABLE rate_limit_process (
            id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
            is_clean INTEGER NOT NULL CHECK (is_clean IN (0, 1))
        ) STRICT;
        """

    /// The states of emails.
    private static let mailStates = """
        ALTER TABLE mail_intent ADD COLUMN state TEXT NOT NULL DEFAULT 'waiting'
            CHECK (state IN ('waiting', 'taken', 'failed'));
        ALTER TABLE mail_intent ADD COLUMN reason TEXT;
        """

    /// The addresses to which reset tokens were sent.
    private static let resetTokenAddresses = """
        ALTER TABLE reset_token ADD COLUMN email_key TEXT;
        UPDATE reset_token SET email_key = (SELECT email_key FROM account WHERE id = account_id);
        """

    /// The audit events, and an index of password hashes from other systems.
    private static let auditEvents = """
        CREATE TABLE audit_event (
            id INTEGER NOT NULL PRIMARY KEY,
            account_id TEXT NOT NULL REFERENCES account(id) ON DELETE CASCADE,
            kind TEXT NOT NULL,
            time REAL NOT NULL,
            client TEXT,
            request_id TEXT
        ) STRICT;
        CREATE INDEX audit_event_account ON audit_event(account_id, kind, id);
        CREATE INDEX audit_event_time ON audit_event(time);

        ALTER TABLE mail_intent ADD COLUMN client TEXT;
        ALTER TABLE mail_intent ADD COLUMN request_id TEXT;

        CREATE INDEX account_foreign_hash ON account(password_hash) WHERE password_hash NOT GLOB '$argon2id$*';
        """

    /// The times at which refresh tokens were used, which earlier versions didn't store.
    private static let usedRefreshTokens = """
        UPDATE refresh_token
            SET used_at = (SELECT refreshed_at FROM session WHERE session.id = session_id) - 60 WHERE used_at = 0;
        CREATE INDEX refresh_token_used_at ON refresh_token(used_at) WHERE used_at IS NOT NULL;
        """

    /// The emails, with a primary key that begins with the creation time. If it began with the random id, each request would change a
    /// different page of the file.
    private static let orderedMails = """
        CREATE TABLE ordered_mail_intent (
            id TEXT NOT NULL,
            kind TEXT NOT NULL CHECK (kind IN ('password_reset', 'password_changed')),
            email TEXT,
            account_id TEXT,
            language TEXT NOT NULL,
            created_at REAL NOT NULL,
            due_at REAL NOT NULL,
            failures INTEGER NOT NULL,
            state TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'taken', 'failed')),
            reason TEXT,
            client TEXT,
            request_id TEXT,
            PRIMARY KEY (created_at, id),
            CHECK ((kind = 'password_reset') = (email IS NOT NULL)),
            CHECK ((kind = 'password_changed') = (account_id IS NOT NULL))
        ) STRICT, WITHOUT ROWID;
        INSERT INTO ordered_mail_intent SELECT
            id, kind, email, account_id, language, created_at, due_at, failures, state, reason, client, request_id
            FROM mail_intent;
        DROP TABLE mail_intent;
        ALTER TABLE ordered_mail_intent RENAME TO mail_intent;
        CREATE INDEX mail_intent_due_at ON mail_intent(due_at);
        """

    /// The decoys for sign-ins with an address that has no account.
    private static let decoys = """
        DROP INDEX account_foreign_hash;
        CREATE INDEX account_foreign_hash ON account(password_hash) WHERE \(SQLiteAccountRepository.hashIsForeign);
        CREATE TABLE decoy_span (
            decoy TEXT NOT NULL,
            start REAL NOT NULL,
            width REAL NOT NULL,
            reach REAL NOT NULL
        ) STRICT;
        """

    /// The time at which an operator last requested a retry of emails.
    private static let mailRetry =
        "CREATE TABLE mail_retry (id INTEGER PRIMARY KEY CHECK (id = 1), asked_at REAL NOT NULL) STRICT"

    /// The random name of the installation.
    private static let installation = """
        CREATE TABLE installation (id INTEGER PRIMARY KEY CHECK (id = 1), name TEXT NOT NULL) STRICT;
        INSERT INTO installation VALUES (1, lower(hex(randomblob(16))));
        """

    /// The turns of networks, the holders of leases, the sent reset emails, and the steady time.
    ///
    /// `is_fresh` is 1 for a reset email that no worker has tried to send yet. Workers claim one of these emails from each network in turn.
    /// They claim all other emails in the order of their due times.
    private static let mailTurns = """
        ALTER TABLE mail_intent ADD COLUMN holder TEXT;
        ALTER TABLE mail_intent ADD COLUMN network TEXT AS (ifnull(client, '')) VIRTUAL;
        ALTER TABLE mail_intent ADD COLUMN is_fresh INTEGER
            AS (kind = 'password_reset' AND state = 'waiting' AND failures = 0) VIRTUAL;
        DROP INDEX mail_intent_due_at;
        CREATE INDEX mail_intent_due ON mail_intent(due_at) WHERE is_fresh = 0;
        CREATE INDEX mail_intent_fresh ON mail_intent(network, created_at, id) WHERE is_fresh = 1;
        CREATE INDEX mail_intent_holder ON mail_intent(holder) WHERE state = 'taken';

        CREATE TABLE sent_reset (
            intent_id TEXT NOT NULL PRIMARY KEY,
            account_id TEXT NOT NULL REFERENCES account(id) ON DELETE CASCADE,
            sent_at REAL NOT NULL,
            ends_at REAL NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX sent_reset_account ON sent_reset(account_id, sent_at);
        CREATE INDEX sent_reset_sent_at ON sent_reset(sent_at);
        CREATE INDEX sent_reset_ends_at ON sent_reset(ends_at);

        CREATE TABLE steady_time (
            id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
            boot_id TEXT NOT NULL,
            origin_ns INTEGER NOT NULL,
            wall_ns INTEGER NOT NULL,
            steady_ns INTEGER NOT NULL
        ) STRICT;
        """

    /// The keys that sign access tokens.
    private static let signingKeys = """
        CREATE TABLE signing_key (
            id TEXT NOT NULL PRIMARY KEY,
            sealed BLOB NOT NULL,
            created_at REAL NOT NULL,
            signs_from REAL NOT NULL,
            retired_at REAL
        ) STRICT;
        """
}

extension SQLiteSchema {
    /// The statements that add the tables and columns for emailed links, former addresses, devices and removed accounts.
    ///
    /// Accounts of earlier versions count as verified. The link of a registration has no account, because the account is added only when
    /// the link is used. The column `place` orders the former addresses of an account, even if several were replaced at the same time.
    private static let accountChanges = """
        ALTER TABLE account ADD COLUMN is_verified INTEGER NOT NULL DEFAULT 1 CHECK (is_verified IN (0, 1));
        ALTER TABLE account ADD COLUMN purge_at REAL;
        ALTER TABLE account ADD COLUMN active_at REAL;
        CREATE INDEX account_purge_at ON account(purge_at) WHERE purge_at IS NOT NULL;
        CREATE INDEX account_unverified ON account(created_at) WHERE is_verified = 0;
        ALTER TABLE session ADD COLUMN device_name TEXT;

        CREATE TABLE account_link (
            digest BLOB NOT NULL PRIMARY KEY,
            purpose TEXT NOT NULL,
            account_id TEXT REFERENCES account(id) ON DELETE CASCADE,
            email TEXT NOT NULL,
            email_key TEXT NOT NULL,
            epoch INTEGER NOT NULL,
            first_name TEXT,
            language TEXT NOT NULL,
            created_at REAL NOT NULL,
            expires_at REAL NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX account_link_account ON account_link(account_id);
        CREATE INDEX account_link_email ON account_link(email_key);
        CREATE INDEX account_link_expires_at ON account_link(expires_at);

        CREATE TABLE former_address (
            account_id TEXT NOT NULL REFERENCES account(id) ON DELETE CASCADE,
            place INTEGER NOT NULL,
            email TEXT NOT NULL,
            email_key TEXT NOT NULL,
            replaced_at REAL NOT NULL,
            expires_at REAL NOT NULL,
            PRIMARY KEY (account_id, place)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX former_address_email ON former_address(email_key);
        CREATE INDEX former_address_expires_at ON former_address(expires_at);

        CREATE TABLE account_device (
            account_id TEXT NOT NULL REFERENCES account(id) ON DELETE CASCADE,
            family TEXT NOT NULL,
            first_seen_at REAL NOT NULL,
            PRIMARY KEY (account_id, family)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE purged_account (
            id TEXT NOT NULL PRIMARY KEY,
            purged_at REAL NOT NULL,
            is_listed INTEGER NOT NULL CHECK (is_listed IN (0, 1))
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX purged_account_unlisted ON purged_account(purged_at, id) WHERE is_listed = 0;

        CREATE TABLE purge_event (
            id TEXT NOT NULL PRIMARY KEY,
            kind TEXT NOT NULL,
            time REAL NOT NULL
        ) STRICT, WITHOUT ROWID;

        """

    /// The statements that allow further kinds of emails in the queue. The stores, and not the table, check which columns a kind needs. So
    /// most new kinds require no migration. The exception is a kind that clients without an account can request, because the column
    /// `is_fresh` lists these kinds.
    private static let mailKinds = """
        CREATE TABLE open_mail_intent (
            id TEXT NOT NULL,
            kind TEXT NOT NULL,
            email TEXT,
            account_id TEXT,
            text TEXT,
            language TEXT NOT NULL,
            created_at REAL NOT NULL,
            due_at REAL NOT NULL,
            failures INTEGER NOT NULL,
            state TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'taken', 'failed')),
            reason TEXT,
            client TEXT,
            request_id TEXT,
            holder TEXT,
            network TEXT AS (ifnull(client, '')) VIRTUAL,
            is_fresh INTEGER AS (
                kind IN ('password_reset', 'registration', 'verification') AND state = 'waiting' AND failures = 0
            ) VIRTUAL,
            PRIMARY KEY (created_at, id)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO open_mail_intent
            (id, kind, email, account_id, language, created_at, due_at, failures, state, reason, client, request_id, holder)
            SELECT id, kind, email, account_id, language, created_at, due_at, failures, state, reason, client, request_id, holder
            FROM mail_intent;
        DROP TABLE mail_intent;
        ALTER TABLE open_mail_intent RENAME TO mail_intent;
        CREATE INDEX mail_intent_due ON mail_intent(due_at) WHERE is_fresh = 0;
        CREATE INDEX mail_intent_fresh ON mail_intent(network, created_at, id) WHERE is_fresh = 1;
        CREATE INDEX mail_intent_holder ON mail_intent(holder) WHERE state = 'taken';
        """

    /// The statements that allow `sent_reset` to contain all emails that clients without an account requested. Only the rows of reset
    /// emails have an account, so `account_id` can be `NULL`.
    private static let sentMails = """
        CREATE TABLE open_sent_reset (
            intent_id TEXT NOT NULL PRIMARY KEY,
            account_id TEXT REFERENCES account(id) ON DELETE CASCADE,
            sent_at REAL NOT NULL,
            ends_at REAL NOT NULL
        ) STRICT, WITHOUT ROWID;
        INSERT INTO open_sent_reset (intent_id, account_id, sent_at, ends_at)
            SELECT intent_id, account_id, sent_at, ends_at FROM sent_reset;
        DROP TABLE sent_reset;
        ALTER TABLE open_sent_reset RENAME TO sent_reset;
        CREATE INDEX sent_reset_account ON sent_reset(account_id, sent_at);
        CREATE INDEX sent_reset_sent_at ON sent_reset(sent_at);
        CREATE INDEX sent_reset_ends_at ON sent_reset(ends_at);
        """

    /// The statements that create the table of idempotency keys, a table with the number of keys of each client, and a table with the
    /// number of all keys. ``idempotencySizes`` later replaces the two tables of numbers.
    static let idempotencyKeys = """
        CREATE TABLE idempotency_key (
            digest BLOB NOT NULL PRIMARY KEY,
            client INTEGER NOT NULL,
            fingerprint BLOB NOT NULL,
            claim INTEGER NOT NULL,
            is_finished INTEGER NOT NULL CHECK (is_finished IN (0, 1)),
            ends_at REAL NOT NULL,
            status INTEGER CHECK (status BETWEEN 100 AND 599),
            headers TEXT,
            body BLOB,
            CHECK ((status IS NULL) = (headers IS NULL) AND (status IS NULL) = (body IS NULL)),
            CHECK (status IS NULL OR is_finished = 1)
        ) STRICT;
        CREATE INDEX idempotency_key_client ON idempotency_key(client, is_finished, ends_at);
        CREATE INDEX idempotency_key_ends_at ON idempotency_key(ends_at);

        CREATE TABLE idempotency_client (
            client INTEGER NOT NULL PRIMARY KEY,
            keys INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX idempotency_client_keys ON idempotency_client(keys);
        CREATE TABLE idempotency_total (
            id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
            keys INTEGER NOT NULL
        ) STRICT;
        INSERT INTO idempotency_total (id, keys) VALUES (1, 0);

        CREATE TRIGGER idempotency_key_added AFTER INSERT ON idempotency_key BEGIN
            UPDATE idempotency_total SET keys = keys + 1;
            INSERT INTO idempotency_client (client, keys) VALUES (NEW.client, 1)
                ON CONFLICT (client) DO UPDATE SET keys = keys + 1;
        END;
        CREATE TRIGGER idempotency_key_removed AFTER DELETE ON idempotency_key BEGIN
            UPDATE idempotency_total SET keys = keys - 1;
            UPDATE idempotency_client SET keys = keys - 1 WHERE client = OLD.client;
            DELETE FROM idempotency_client WHERE client = OLD.client AND keys <= 0;
        END;
        """

    /// The statements that create the sums of bytes that the idempotency keys use: a sum for each client, for each network, and for each
    /// half of the capacity. Half 0 is for the keys of accounts, and half 1 is for the keys of network addresses. Keys that were stored
    /// before this migration are not counted; they expire within days.
    static let idempotencySizes = """
        DROP TRIGGER idempotency_key_added;
        DROP TRIGGER idempotency_key_removed;
        DROP TABLE idempotency_client;
        DROP TABLE idempotency_total;
        ALTER TABLE idempotency_key ADD COLUMN network INTEGER;
        ALTER TABLE idempotency_key ADD COLUMN size INTEGER NOT NULL DEFAULT 0;

        CREATE TABLE idempotency_usage (
            owner INTEGER NOT NULL PRIMARY KEY,
            size INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE idempotency_pool (
            id INTEGER NOT NULL PRIMARY KEY CHECK (id IN (0, 1)),
            size INTEGER NOT NULL
        ) STRICT;
        INSERT INTO idempotency_pool (id, size) VALUES (0, 0), (1, 0);

        CREATE TRIGGER idempotency_key_added AFTER INSERT ON idempotency_key WHEN NEW.size > 0 BEGIN
            UPDATE idempotency_pool SET size = size + NEW.size WHERE id = (NEW.network IS NOT NULL);
            INSERT INTO idempotency_usage (owner, size) VALUES (NEW.client, NEW.size)
                ON CONFLICT (owner) DO UPDATE SET size = size + excluded.size;
            INSERT INTO idempotency_usage (owner, size) SELECT NEW.network, NEW.size WHERE NEW.network IS NOT NULL
                ON CONFLICT (owner) DO UPDATE SET size = size + excluded.size;
        END;
        CREATE TRIGGER idempotency_key_resized AFTER UPDATE OF size ON idempotency_key WHEN NEW.size <> OLD.size BEGIN
            UPDATE idempotency_pool SET size = size + NEW.size - OLD.size WHERE id = (NEW.network IS NOT NULL);
            UPDATE idempotency_usage SET size = size + NEW.size - OLD.size WHERE owner IN (NEW.client, NEW.network);
        END;
        CREATE TRIGGER idempotency_key_removed AFTER DELETE ON idempotency_key WHEN OLD.size > 0 BEGIN
            UPDATE idempotency_pool SET size = size - OLD.size WHERE id = (OLD.network IS NOT NULL);
            UPDATE idempotency_usage SET size = size - OLD.size WHERE owner IN (OLD.client, OLD.network);
            DELETE FROM idempotency_usage WHERE owner IN (OLD.client, OLD.network) AND size <= 0;
        END;
        """
}
