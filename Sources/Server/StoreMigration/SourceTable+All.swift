import Foundation
import PostgresDriver
import PostgresStores

extension SourceTable {
    /// The tables that a copy reads row by row. Accounts come before the rows that refer to them. Don't change the order. The stored
    /// progress of a copy and the log of changes contain indexes of this array.
    static let all = [
        accounts, sessions, refreshTokens, resetTokens, accountLockTokens, mailIntents, sentResets, auditEvents, idempotencyKeys,
        accountLinks, formerAddresses, accountDevices, purgedAccounts, purgeEvents,
    ]

    /// Accounts. For each account, the copy also writes a row of `account_email`. The key of this row is an HMAC of the address under the
    /// secret of the servers on PostgreSQL. While an operator replaces this secret, the copy writes only the key under the new secret.
    private static let accounts = SourceTable(
        name: "account",
        key: ["id"],
        columns: """
            email, first_name, password_hash, state, language, epoch, created_at, email_key, is_verified, purge_at, active_at
            """,
        targets: [
            TargetTable(
                "account",
                primaryKey: ["id"],
                columns: [
                    "email", "first_name", "password_hash", "state", "language", "epoch", "created_at", "is_verified",
                    "purge_at", "active_at",
                ],
                start: [.uuid(.zero)]
            ) { row, _ in
                [
                    try row.uuid(0), .text(try row.text(1)), .text(try row.text(2)), .text(try row.text(3)),
                    .text(try row.text(4)), .text(try row.text(5)), try row.integer(6), try row.double(7),
                    .bool(try row.value(9)), try row.optionalDouble(10), try row.optionalDouble(11),
                ]
            },
            TargetTable(
                "account_email",
                primaryKey: ["email_key"],
                columns: ["account_id"],
                // An address can move to another account, and a later batch can contain the change of its former account. So the row of the
                // former account is replaced.
                conflict: "DO UPDATE SET account_id = excluded.account_id",
                lookup: ["account_id"],
                start: [.bytes([])],
                values: { row, keys in [.bytes(keys.key(ofNormalized: try row.text(8))), try row.uuid(0)] },
                key: { [try $0.uuid(0)] }
            ),
        ]
    )

    /// Sessions. The databases don't contain access tokens. The new servers accept existing access tokens, because the copy includes the
    /// signing keys.
    private static let sessions = SourceTable(
        "session",
        key: ["id"],
        columns: ["account_id", "created_at", "refreshed_at", "device_name"],
        start: [.uuid(.zero)]
    ) { row, _ in
        [try row.uuid(0), try row.uuid(1), try row.double(2), try row.double(3), row.optionalText(4)]
    }

    /// Refresh tokens. PostgreSQL also stores the account in the row of a token, so the copy reads the account from the session of the
    /// token.
    private static let refreshTokens = SourceTable(
        "refresh_token",
        key: ["digest"],
        columns: ["session_id", "account_id", "parent", "used_at"],
        reading: "session_id, session.account_id, parent, used_at",
        joins: "JOIN session ON session.id = session_id",
        start: [.bytes([])]
    ) { row, _ in
        [
            try row.bytes(0), try row.uuid(1), try row.uuid(2), try row.optionalBytes(3), try row.optionalDouble(4),
        ]
    }

    /// Reset tokens. SQLite stores the address of a token as text, and PostgreSQL stores an HMAC of the address under the secret of its
    /// servers.
    private static let resetTokens = SourceTable(
        "reset_token",
        key: ["digest"],
        columns: ["account_id", "email_key", "created_at", "expires_at", "consumed_at"],
        // Tokens that an early version stored have no address. That version sent them to the current address of the account.
        reading: """
            account_id, coalesce(reset_token.email_key, account.email_key), reset_token.created_at, expires_at, consumed_at
            """,
        joins: "JOIN account ON account.id = account_id",
        start: [.bytes([])]
    ) { row, keys in
        [
            try row.bytes(0), try row.uuid(1), .bytes(keys.key(ofNormalized: try row.text(2))), try row.double(3),
            try row.double(4), try row.optionalDouble(5),
        ]
    }

    /// The tokens in "this was not me" links, with which users lock their accounts. The table's name contains the former term `freeze`.
    private static let accountLockTokens = SourceTable(
        "freeze_token",
        key: ["digest"],
        columns: ["account_id", "expires_at", "consumed_at"],
        start: [.bytes([])]
    ) { row, _ in
        [try row.bytes(0), try row.uuid(1), try row.double(2), try row.optionalDouble(3)]
    }

    /// The queue of emails, with pending and dead-lettered emails. If a SQLite server has claimed an email, the copy makes the email
    /// pending again. If the SQLite server still delivers this email after the copy, the user gets it twice.
    private static let mailIntents = SourceTable(
        name: "mail_intent",
        key: ["created_at", "id"],
        // An email that a SQLite server has claimed becomes pending with a due time in the past, so a PostgreSQL server claims it at once.
        columns: """
            kind, email, account_id, language, iif(state = 'taken', created_at, due_at), failures,
            iif(state = 'taken', 'waiting', state), reason, client, request_id, ifnull(client, ''), text
            """,
        targets: [
            TargetTable(
                "mail_intent",
                primaryKey: ["id"],
                columns: [
                    "kind", "email", "account_id", "language", "created_at", "due_at", "failures", "state", "reason", "client",
                    "request_id", "network", "text",
                ],
                start: [.uuid(.zero)],
                values: { row, _ in
                    [
                        try row.uuid(1), .text(try row.text(2)), row.optionalText(3), try row.optionalUUID(4),
                        .text(try row.text(5)), try row.double(0), try row.double(6), try row.integer(7),
                        .text(try row.text(8)), row.optionalText(9), row.optionalText(10), row.optionalText(11),
                        .text(try row.text(12)), row.optionalText(13),
                    ]
                },
                key: { [try $0.uuid(1)] }
            )
        ]
    )

    /// The recently sent emails that clients without an account requested, such as reset emails. Servers count these rows to limit the
    /// number of emails to one account, and the number of emails to all recipients together.
    private static let sentResets = SourceTable(
        "sent_reset",
        key: ["intent_id"],
        columns: ["account_id", "sent_at", "ends_at"],
        start: [.uuid(.zero)]
    ) { row, _ in
        [try row.uuid(0), try row.optionalUUID(1), try row.double(2), try row.double(3)]
    }

    /// Audit events. In SQLite, the key of an event is a number. In PostgreSQL, the key consists of the account, the time and an id.
    private static let auditEvents = SourceTable(
        name: "audit_event",
        key: ["id"],
        moreKey: ["account_id", "time"],
        columns: "kind, client, request_id",
        targets: [
            TargetTable(
                "audit_event",
                primaryKey: ["account_id", "time", "id"],
                columns: ["kind", "client", "request_id"],
                start: [.uuid(.zero), .double(-.infinity), .uuid(.zero)],
                values: { row, _ in
                    try eventKey(row) + [.text(try row.text(3)), row.optionalText(4), row.optionalText(5)]
                },
                key: eventKey
            )
        ]
    )

    /// Returns the key that an event has in PostgreSQL.
    ///
    /// The id is a UUID of version 7 (RFC 9562 §5.7). It consists of the time in milliseconds and the number of the event in SQLite, so
    /// events that have the same time keep their order. The id has no random part, so that a repeated copy creates the same id.
    @Sendable private static func eventKey(_ row: SourceRow) throws -> [PostgresValue] {
        let number: Int64 = try row.value(0)
        let time: Double = try row.value(2)
        let milliseconds = UInt64(min(max(0, time * 1_000), 281_474_976_710_655))
        let high = milliseconds << 16 | 0x7000
        let low = UInt64(bitPattern: number) & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        let id = withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        return [try row.uuid(1), .double(time), .uuid(id)]
    }

    /// Idempotency keys with their responses. ``CopyTarget/sumIdempotencyKeys()`` computes the sums of the bytes that the keys use.
    private static let idempotencyKeys = SourceTable(
        "idempotency_key",
        key: ["digest"],
        columns: ["client", "fingerprint", "claim", "is_finished", "ends_at", "status", "headers", "body", "network", "size"],
        start: [.bytes([])]
    ) { row, _ in
        [
            try row.bytes(0), try row.integer(1), try row.bytes(2), try row.integer(3), .bool(try row.value(4)),
            try row.double(5), try row.optionalInteger(6), row.optionalText(7), try row.optionalBytes(8),
            try row.optionalInteger(9), try row.integer(10),
        ]
    }
}

extension SourceTable {
    /// The links that emails contain. In this table, both databases store the normalized address and no HMAC, so the copy needs no secret
    /// here.
    fileprivate static let accountLinks = SourceTable(
        "account_link",
        key: ["digest"],
        columns: ["purpose", "account_id", "email", "email_key", "epoch", "first_name", "language", "created_at", "expires_at"],
        start: [.bytes([])]
    ) { row, _ in
        [
            try row.bytes(0), .text(try row.text(1)), try row.optionalUUID(2), .text(try row.text(3)),
            .text(try row.text(4)), try row.integer(5), row.optionalText(6), .text(try row.text(7)),
            try row.double(8), try row.double(9),
        ]
    }

    /// The former addresses, which stay reserved for their accounts.
    fileprivate static let formerAddresses = SourceTable(
        "former_address",
        key: ["account_id", "place"],
        columns: ["email", "email_key", "replaced_at", "expires_at"],
        start: [.uuid(.zero), .integer(-1)]
    ) { row, _ in
        [
            try row.uuid(0), try row.integer(1), .text(try row.text(2)), .text(try row.text(3)), try row.double(4),
            try row.double(5),
        ]
    }

    /// The families of the devices that have signed in to an account, such as `iPhone`.
    fileprivate static let accountDevices = SourceTable(
        "account_device",
        key: ["account_id", "family"],
        columns: ["first_seen_at"],
        start: [.uuid(.zero), .text("")]
    ) { row, _ in
        [try row.uuid(0), .text(try row.text(1)), try row.double(2)]
    }

    /// The ids of removed accounts.
    fileprivate static let purgedAccounts = SourceTable(
        "purged_account",
        key: ["id"],
        columns: ["purged_at", "is_listed"],
        start: [.uuid(.zero)]
    ) { row, _ in
        [try row.uuid(0), try row.double(1), .bool(try row.value(2))]
    }

    /// The events that record removals of accounts. Each event has a random id and doesn't contain the id of the account.
    fileprivate static let purgeEvents = SourceTable(
        "purge_event",
        key: ["id"],
        columns: ["kind", "time"],
        start: [.uuid(.zero)]
    ) { row, _ in
        [try row.uuid(0), .text(try row.text(1)), try row.double(2)]
    }
}

extension UUID {
    fileprivate static let zero = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
}
