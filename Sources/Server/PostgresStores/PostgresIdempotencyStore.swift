import AccountCore
public import Foundation
import HTTPTypes
public import Idempotency
import PostgresDriver
import RateLimiting

/// Idempotency keys in PostgreSQL, shared by all servers.
///
/// The keys of each client are counted in a row of the client, and all keys in sixteen rows, so that claims of different clients don't wait for
/// each other.
public struct PostgresIdempotencyStore: IdempotencyStore {
    private let database: PostgresDatabase
    private let bounds: IdempotencyBounds

    /// Creates the store.
    public init(_ database: PostgresDatabase, bounds: IdempotencyBounds = IdempotencyBounds()) {
        (self.database, self.bounds) = (database, bounds)
    }

    public func claim(_ claim: IdempotencyClaim, lease: Duration, at now: Date) async throws -> ClaimOutcome {
        try await database.transaction { [bounds] transaction in
            // The row of the client comes first, so that its claims are decided one after the other.
            let found = try await transaction.execute([
                (Self.lockClient, [.integer(claim.clientColumn)]),
                (Self.stored, [.bytes(claim.key.rawValue), .time(now)]),
                ("SELECT coalesce(sum(keys), 0)::bigint FROM idempotency_total", []),
            ])
            let own: Int = try found[0].rows.first?.value(0) ?? 0
            if let known = try found[1].rows.first.map({ try Self.outcome(of: claim, $0, at: now) }) { return known }
            // A key whose lease has ended is free.
            let ended = try await Self.remove(
                "DELETE FROM idempotency_key WHERE digest = $1 RETURNING client, digest",
                [.bytes(claim.key.rawValue)],
                in: transaction
            )
            let total: Int = try found[2].rows.first?.value(0) ?? 0
            let hasRoom = try await Self.makeRoom(
                for: claim.clientColumn,
                own: own - ended,
                total: total - ended,
                bounds,
                at: now,
                in: transaction
            )
            guard hasRoom else { return .full }
            try await transaction.execute([
                (
                    """
                    INSERT INTO idempotency_key (digest, client, fingerprint, claim, is_finished, ends_at)
                    VALUES ($1, $2, $3, $4, false, $5) ON CONFLICT (digest) DO NOTHING
                    """,
                    [
                        .bytes(claim.key.rawValue), .integer(claim.clientColumn), .bytes(claim.fingerprint.rawValue),
                        .integer(claim.column), .double(now.timeIntervalSince1970 + lease / .seconds(1)),
                    ]
                ),
                ("UPDATE idempotency_client SET keys = keys + 1 WHERE client = $1", [.integer(claim.clientColumn)]),
                ("UPDATE idempotency_total SET keys = keys + 1 WHERE part = $1", [.integer(Self.part(claim.key.rawValue))]),
            ])
            return .claimed
        }
    }

    private static let lockClient: PostgresStatement = """
        INSERT INTO idempotency_client (client, keys) VALUES ($1, 0)
        ON CONFLICT (client) DO UPDATE SET keys = idempotency_client.keys RETURNING keys
        """

    private static let stored: PostgresStatement = """
        SELECT fingerprint, claim, is_finished, ends_at, status, headers, body FROM idempotency_key
        WHERE digest = $1 AND ends_at > $2
        """

    /// Which of the sixteen rows counts a key.
    private static func part(_ digest: [UInt8]) -> Int { Int(digest.first ?? 0) & 15 }

    @discardableResult
    public func finish(_ claim: IdempotencyClaim, with answer: IdempotentResponse?, until expiry: Date) async throws -> Bool {
        let headers = answer.map(\.headers.stored)
        return try await database.execute(
            // An attempt whose response was lost has finished it, with the same values.
            """
            UPDATE idempotency_key SET is_finished = true, ends_at = $1, status = $2, headers = $3, body = $4
            WHERE digest = $5 AND claim = $6 AND (NOT is_finished OR ends_at = $1)
            """,
            [
                .time(expiry), answer.map { .integer($0.status) } ?? .null, .text(headers), .bytes(answer?.body),
                .bytes(claim.key.rawValue), .integer(claim.column),
            ]
        ).count == 1
    }

    public func release(_ claim: IdempotencyClaim) async throws {
        try await database.transaction { transaction in
            try await Self.remove(
                """
                DELETE FROM idempotency_key WHERE digest = $1 AND claim = $2 AND NOT is_finished RETURNING client, digest
                """,
                [.bytes(claim.key.rawValue), .integer(claim.column)],
                in: transaction
            )
            return
        }
    }

    public func sweep(at now: Date) async throws -> Bool {
        let count = try await database.transaction { transaction in
            try await Self.remove(
                """
                DELETE FROM idempotency_key WHERE digest IN (
                    SELECT digest FROM idempotency_key WHERE ends_at <= $1 ORDER BY ends_at LIMIT $2 FOR UPDATE SKIP LOCKED
                ) RETURNING client, digest
                """,
                [.time(now), .integer(PostgresDatabase.sweepLimit)],
                in: transaction
            )
        }
        try await database.execute("DELETE FROM idempotency_client WHERE keys = 0")
        return count == PostgresDatabase.sweepLimit
    }

    public func count() async throws -> Int {
        try await database.first("SELECT coalesce(sum(keys), 0)::bigint FROM idempotency_total", []) { try $0.value(0) } ?? 0
    }
}

extension PostgresIdempotencyStore {
    /// Executes a statement that removes keys and returns their clients and digests, and counts them off.
    @discardableResult
    private static func remove(
        _ statement: PostgresStatement,
        _ values: [PostgresValue],
        in transaction: PostgresTransaction
    ) async throws -> Int {
        let rows = try await transaction.execute(statement, values).rows
        var (clients, parts): ([Int: Int], [Int: Int]) = ([:], [:])
        for row in rows {
            clients[try row.value(0), default: 0] += 1
            parts[part(try row.value(1)), default: 0] += 1
        }
        let changes =
            clients.sorted { $0.key < $1.key }.map { client, count -> (PostgresStatement, [PostgresValue]) in
                ("UPDATE idempotency_client SET keys = keys - $1 WHERE client = $2", [.integer(count), .integer(client)])
            }
            + parts.sorted { $0.key < $1.key }.map { part, count in
                ("UPDATE idempotency_total SET keys = keys - $1 WHERE part = $2", [.integer(count), .integer(part)])
            }
        if !changes.isEmpty { try await transaction.execute(changes) }
        return rows.count
    }

    /// The outcome of a claim for a key that is stored.
    private static func outcome(of claim: IdempotencyClaim, _ row: PostgresRow, at now: Date) throws -> ClaimOutcome {
        guard try row.value(0) == claim.fingerprint.rawValue else { return .otherRequest }
        guard try row.value(2) else {
            // An attempt whose response was lost has claimed it.
            if try row.value(1) == claim.column { return .claimed }
            return .running(.seconds(try row.value(3) - now.timeIntervalSince1970))
        }
        guard let status: Int = try row.value(4) else { return .finished(nil) }
        guard let headers = HTTPFields(stored: try row.value(5)),
            let answer = IdempotentResponse(status: status, headers: headers, body: try row.value(6))
        else { throw StoreFailure.corruptRow(of: "idempotency_key") }
        return .finished(answer)
    }

    /// Forgets the oldest finished key of the client if it has all that are its, or of the fullest client if there is no room.
    private static func makeRoom(
        for client: Int,
        own: Int,
        total: Int,
        _ bounds: IdempotencyBounds,
        at now: Date,
        in transaction: PostgresTransaction
    ) async throws -> Bool {
        if own >= bounds.keysPerClient { return try await removeOldest(of: client, at: now, in: transaction) }
        guard total >= bounds.keys else { return true }
        let fullest = try await transaction.execute("SELECT client FROM idempotency_client ORDER BY keys DESC LIMIT 1").rows
        guard let fullest = fullest.first else { return true }
        return try await removeOldest(of: try fullest.value(0), at: now, in: transaction)
    }

    /// Finished keys live equally long, so the one that expires first is the oldest.
    private static func removeOldest(of client: Int, at now: Date, in transaction: PostgresTransaction) async throws -> Bool {
        let finished = try await remove(
            """
            DELETE FROM idempotency_key WHERE digest IN (
                SELECT digest FROM idempotency_key WHERE client = $1 AND is_finished ORDER BY ends_at LIMIT 1 FOR UPDATE SKIP LOCKED
            ) RETURNING client, digest
            """,
            [.integer(client)],
            in: transaction
        )
        if finished == 1 { return true }
        return try await remove(
            """
            DELETE FROM idempotency_key WHERE digest IN (
                SELECT digest FROM idempotency_key WHERE client = $1 AND NOT is_finished AND ends_at <= $2
                ORDER BY ends_at LIMIT 1 FOR UPDATE SKIP LOCKED
            ) RETURNING client, digest
            """,
            [.integer(client), .time(now)],
            in: transaction
        ) == 1
    }
}

extension IdempotencyClaim {
    fileprivate var column: Int { Int(bitPattern: UInt(id)) }
    fileprivate var clientColumn: Int { Int(bitPattern: UInt(client.rawValue)) }
}
