extension Schema {
    /// The keys, and how many there are of each client and in all, so that neither the count nor the fullest client needs a scan.
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
}
