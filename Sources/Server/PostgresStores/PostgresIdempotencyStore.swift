import AccountCore
public import Foundation
import HTTPTypes
public import Idempotency
public import PostgresDriver
import RateLimiting

/// Idempotency keys in PostgreSQL, shared by all servers.
///
/// The bytes of each client and network are counted in a row, and those of all keys in sixteen rows per half, so that claims of different
/// networks and accounts don't wait for each other.
public struct PostgresIdempotencyStore: IdempotencyStore {
    private let connections: PostgresDatabase
    private let bounds: IdempotencyBounds

    /// Creates the store.
    public init(_ database: PostgresDatabase, bounds: IdempotencyBounds = IdempotencyBounds()) {
        (connections, self.bounds) = (database, bounds)
    }

    public var database: ObjectIdentifier? { ObjectIdentifier(connections.client) }

    public func claim(_ claim: IdempotencyClaim, lease: Duration, at now: Date) async throws -> ClaimOutcome {
        try await connections.transaction { [bounds] transaction in
            // The rows of the client and its network come first, so that claims are decided one after the other.
            let found = try await transaction.execute(
                claim.ownerColumns.map { (Self.lockOwner, [.integer($0)]) } + [
                    (Self.stored, [.bytes(claim.key.rawValue), .time(now)])
                ]
            )
            if let known = try found.last?.rows.first.map({ try Self.outcome(of: claim, $0, at: now) }) { return known }
            // A key whose lease has ended is free.
            try await Self.remove(
                "DELETE FROM idempotency_key WHERE digest = $1 RETURNING client, network, size, digest",
                [.bytes(claim.key.rawValue)],
                in: transaction
            )
            if try await !bounds.admits(Self.usage(of: claim, in: transaction)) {
                _ = try await Self.removeExpired(at: now, in: transaction)
                guard bounds.admits(try await Self.usage(of: claim, in: transaction)) else {
                    return .full(try await Self.wait(of: claim, at: now, in: transaction))
                }
            }
            try await transaction.execute(
                [
                    (
                        """
                        INSERT INTO idempotency_key (digest, client, network, fingerprint, claim, is_finished, ends_at, size)
                        VALUES ($1, $2, $3, $4, $5, false, $6, $7) ON CONFLICT (digest) DO NOTHING
                        """,
                        [
                            .bytes(claim.key.rawValue), .integer(claim.clientColumn),
                            claim.networkColumn.map { .integer($0) } ?? .null,
                            .bytes(claim.fingerprint.rawValue), .integer(claim.column),
                            .double(now.timeIntervalSince1970 + lease / .seconds(1)), .integer(IdempotencyBounds.keySize),
                        ]
                    )
                ]
                    + Self.resizing(
                        owners: Dictionary(uniqueKeysWithValues: claim.ownerColumns.map { ($0, IdempotencyBounds.keySize) }),
                        parts: [Part(claim.pool, claim.key.rawValue): IdempotencyBounds.keySize]
                    )
            )
            return .claimed
        }
    }

    private static let lockOwner: PostgresStatement = """
        INSERT INTO idempotency_usage (owner, size) VALUES ($1, 0)
        ON CONFLICT (owner) DO UPDATE SET size = idempotency_usage.size RETURNING size
        """

    private static let ownerSize: PostgresStatement = "SELECT size FROM idempotency_usage WHERE owner = $1"

    private static let poolSize: PostgresStatement = """
        SELECT coalesce(sum(size), 0)::bigint FROM idempotency_pool WHERE pool = $1
        """

    private static let stored: PostgresStatement = """
        SELECT fingerprint, claim, is_finished, ends_at, status, headers, body FROM idempotency_key
        WHERE digest = $1 AND ends_at > $2
        """

    @discardableResult
    public func finish(_ claim: IdempotencyClaim, with answer: IdempotentResponse?, until expiry: Date) async throws -> Bool {
        try await connections.transaction { try await Self.finish(claim, with: answer, until: expiry, in: $0) }
    }

    /// Finishes a key within a transaction. An attempt whose response was lost may have finished it, with the same values.
    static func finish(
        _ claim: IdempotencyClaim,
        with answer: IdempotentResponse?,
        until expiry: Date,
        in transaction: PostgresTransaction
    ) async throws -> Bool {
        let headers = answer.map(\.headers.stored)
        let size = IdempotencyBounds.size(with: answer)
        let changed = try await transaction.execute(
            """
            UPDATE idempotency_key SET is_finished = true, ends_at = $1, status = $2, headers = $3, body = $4
            WHERE digest = $5 AND claim = $6 AND (NOT is_finished OR ends_at = $1) RETURNING size
            """,
            [
                .time(expiry), answer.map { .integer($0.status) } ?? .null, .text(headers), .bytes(answer?.body),
                .bytes(claim.key.rawValue), .integer(claim.column),
            ]
        )
        guard let counted: Int = try changed.rows.first?.value(0) else { return false }
        // Most responses are as small as every key counts for. A key of an earlier version counts for nothing.
        guard size != counted, counted > 0 else { return true }
        try await transaction.execute(
            [
                (
                    "UPDATE idempotency_key SET size = $1 WHERE digest = $2 AND claim = $3",
                    [.integer(size), .bytes(claim.key.rawValue), .integer(claim.column)]
                )
            ]
                + Self.resizing(
                    owners: Dictionary(uniqueKeysWithValues: claim.ownerColumns.map { ($0, size - counted) }),
                    parts: [Part(claim.pool, claim.key.rawValue): size - counted]
                )
        )
        return true
    }

    public func release(_ claim: IdempotencyClaim) async throws {
        try await connections.transaction { transaction in
            try await Self.remove(
                """
                DELETE FROM idempotency_key WHERE digest = $1 AND claim = $2 AND NOT is_finished
                RETURNING client, network, size, digest
                """,
                [.bytes(claim.key.rawValue), .integer(claim.column)],
                in: transaction
            )
            return
        }
    }

    public func sweep(at now: Date) async throws -> Bool {
        let count = try await connections.transaction { try await Self.removeExpired(at: now, in: $0) }
        try await connections.execute("DELETE FROM idempotency_usage WHERE size <= 0")
        return count == PostgresDatabase.sweepLimit
    }

    public func count() async throws -> Int {
        try await connections.first("SELECT count(*) FROM idempotency_key", []) { try $0.value(0) } ?? 0
    }
}

extension PostgresIdempotencyStore {
    /// One of the sixteen rows that count a half of the keys.
    private struct Part: Hashable {
        let pool: Int
        let number: Int

        init(_ pool: IdempotencyPool, _ digest: [UInt8]) {
            (self.pool, number) = (pool.rawValue, Int(digest.first ?? 0) & 15)
        }
    }

    /// Statements that add to the counts of bytes, in the order in which all transactions lock the rows.
    private static func resizing(owners: [Int: Int], parts: [Part: Int]) -> [(PostgresStatement, [PostgresValue])] {
        owners.sorted { $0.key < $1.key }.map { owner, size -> (PostgresStatement, [PostgresValue]) in
            ("UPDATE idempotency_usage SET size = size + $1 WHERE owner = $2", [.integer(size), .integer(owner)])
        }
            + parts.sorted { ($0.key.pool, $0.key.number) < ($1.key.pool, $1.key.number) }.map { part, size in
                (
                    "UPDATE idempotency_pool SET size = size + $1 WHERE pool = $2 AND part = $3",
                    [.integer(size), .integer(part.pool), .integer(part.number)]
                )
            }
    }

    /// Executes a statement that removes keys and returns their clients, networks, sizes and digests, and subtracts their bytes.
    @discardableResult
    private static func remove(
        _ statement: PostgresStatement,
        _ values: [PostgresValue],
        in transaction: PostgresTransaction
    ) async throws -> Int {
        let rows = try await transaction.execute(statement, values).rows
        var (owners, parts): ([Int: Int], [Part: Int]) = ([:], [:])
        for row in rows {
            let (network, size): (Int?, Int) = (try row.value(1), try row.value(2))
            // A key of an earlier version.
            guard size > 0 else { continue }
            owners[try row.value(0), default: 0] -= size
            if let network { owners[network, default: 0] -= size }
            parts[Part(network == nil ? .accounts : .addresses, try row.value(3)), default: 0] -= size
        }
        let changes = resizing(owners: owners, parts: parts)
        if !changes.isEmpty { try await transaction.execute(changes) }
        return rows.count
    }

    private static func removeExpired(at now: Date, in transaction: PostgresTransaction) async throws -> Int {
        try await remove(
            """
            DELETE FROM idempotency_key WHERE digest IN (
                SELECT digest FROM idempotency_key WHERE ends_at <= $1 ORDER BY ends_at LIMIT $2 FOR UPDATE SKIP LOCKED
            ) RETURNING client, network, size, digest
            """,
            [.time(now), .integer(PostgresDatabase.sweepLimit)],
            in: transaction
        )
    }

    private static func usage(of claim: IdempotencyClaim, in transaction: PostgresTransaction) async throws -> IdempotencyUsage {
        let owners = [claim.clientColumn] + (claim.networkColumn.map { [$0] } ?? [])
        let found = try await transaction.execute(
            owners.map { (ownerSize, [.integer($0)]) } + [(poolSize, [.integer(claim.pool.rawValue)])]
        )
        let sizes = try found.map { try $0.rows.first?.value(0) as Int? ?? 0 }
        return IdempotencyUsage(owner: sizes[0], network: owners.count == 2 ? sizes[1] : nil, pool: sizes[sizes.count - 1])
    }

    /// The time until a key of the client expires.
    private static func wait(of claim: IdempotencyClaim, at now: Date, in transaction: PostgresTransaction) async throws
        -> Duration
    {
        let found = try await transaction.execute(
            "SELECT min(ends_at) FROM idempotency_key WHERE client = $1 AND is_finished",
            [.integer(claim.clientColumn)]
        )
        guard let expiry: Double = try found.rows.first?.value(0) ?? nil else { return .seconds(60) }
        return .seconds(expiry - now.timeIntervalSince1970)
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
}

extension IdempotentRequest {
    /// Finishes the key in a transaction of the database that has it; see `IdempotentRequest.commit` of `ServerMiddleware`.
    /// - Parameters:
    ///   - response: The response to repetitions.
    ///   - transaction: What `PostgresClient.transaction` passes to its closure. It may be executed more than once.
    /// - Throws: `LostIdempotencyKey`, which must roll the transaction back; `PostgresError`.
    public func finish(with response: IdempotentResponse, in transaction: PostgresTransaction) async throws {
        let stored = try stored(response)
        let isFinished = try await PostgresIdempotencyStore.finish(claim, with: stored, until: expiry, in: transaction)
        guard isFinished else { throw LostIdempotencyKey() }
        noteFinished()
    }
}

extension IdempotentEffect {
    /// Finishes the key in the transaction of the effect.
    func finish(in transaction: PostgresTransaction) async throws { try await request.finish(with: answer, in: transaction) }
}

extension IdempotencyClaim {
    fileprivate var column: Int { Int(bitPattern: UInt(id)) }
    fileprivate var clientColumn: Int { Int(bitPattern: UInt(client.rawValue)) }
    fileprivate var networkColumn: Int? { network.map { Int(bitPattern: UInt($0.rawValue)) } }
    /// The rows that count the bytes of the claim, in the order in which all transactions lock them.
    fileprivate var ownerColumns: [Int] { ([clientColumn] + (networkColumn.map { [$0] } ?? [])).sorted() }
}
