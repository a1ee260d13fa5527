import AccountCore
public import Foundation
import HTTPTypes
public import Idempotency
public import PostgresDriver
import RateLimiting

/// A store of idempotency keys in a PostgreSQL database, which all servers of a deployment share.
///
/// When a method returns, its change is durable. If the connection is lost during a transaction, the driver repeats the transaction. The
/// repetition recognizes the change of the earlier attempt and returns the same result. Use `SQLiteIdempotencyStore` for servers on one
/// machine.
///
/// A route that writes its data to the same database can store the response in the transaction of this write, and so finish the key; see
/// `IdempotentRequest.finish(with:in:)`.
///
/// **Locks.** `idempotency_usage` has a row for each client and each network with the number of bytes that their keys use. A claim locks
/// the rows of its client and its network in the order of their numbers. So claims from one network are executed one after the other,
/// without deadlocks. The bytes of each half of the capacity are spread over 16 rows of `idempotency_pool`. The digest of a key selects its
/// row, so claims of different clients rarely wait for each other. A claim reads the sum of the 16 rows without a lock. So concurrent
/// claims don't see each other's keys. Together, they can exceed the bounds by the size of their keys.
///
/// A deadlock is possible in two cases. In the first, two clients have used up their shares of the capacity, and each of their claims
/// removes expired keys of the other client. In the second, a transaction finishes a key with a large response after the end of the lease,
/// while a claim removes the same key. PostgreSQL then aborts one of the transactions, and `PostgresClient` repeats it.
///
/// ```swift
/// let store = PostgresIdempotencyStore(database)
/// let keys = IdempotencyKeys(store: store, secret: secret)
/// ```
public struct PostgresIdempotencyStore: IdempotencyStore {
    private let connections: PostgresDatabase
    private let bounds: IdempotencyBounds

    /// Creates a store in a database, whose schema already has the tables.
    /// - Parameters:
    ///   - database: The database. If your code writes its other data with the same `PostgresClient`, its transactions can finish keys.
    ///   - bounds: The capacity; 1 GiB by default. All servers on the database should use the same bounds.
    public init(_ database: PostgresDatabase, bounds: IdempotencyBounds = IdempotencyBounds()) {
        (connections, self.bounds) = (database, bounds)
    }

    /// The identity of the `PostgresClient`.
    public var database: ObjectIdentifier? { ObjectIdentifier(connections.client) }

    /// Claims a key in one transaction.
    ///
    /// If the client has used up its part of the capacity, its share, or if the claimed key has expired, the store removes up to 500
    /// expired keys. The store refuses the claim only if the share is still used up after that.
    ///
    /// A claim of a new key takes three round trips: lock and read, insert, commit. A claim of a running or finished key takes two round
    /// trips.
    /// - Parameters:
    ///   - claim: The claim, with a random id. A repeated transaction recognizes its own key by this id.
    ///   - lease: The time after which other requests can claim the key, unless this claim has finished the key by then.
    ///   - now: The present time of the database. The lease begins at this time, and keys that have expired by then are free.
    /// - Returns: Whether the key is claimed, running, finished, used by another request, or refused because the store is full.
    /// - Throws: `StoreFailure`, also if a stored response can't be decoded.
    public func claim(_ claim: IdempotencyClaim, lease: Duration, at now: Date) async throws -> ClaimOutcome {
        try await connections.transaction { [bounds] transaction in
            // Locks the rows of the client and its network first, so that their claims are executed one after the other.
            let found = try await transaction.execute(
                claim.ownerColumns.map { (Self.lockOwner, [.integer($0)]) } + [
                    (Self.poolSize, [.integer(claim.pool.rawValue)]),
                    (Self.stored, [.bytes(claim.key.rawValue)]),
                ]
            )
            var (row, ended) = (found.last?.rows.first, 0)
            if let stored = row, try stored.value(3) <= now.timeIntervalSince1970 {
                // The key has expired, or its lease has ended. If the transaction of the earlier request is finishing the key at this
                // moment, the statement waits for the commit and then removes nothing. The key has not expired then.
                ended = try await Self.remove(
                    """
                    DELETE FROM idempotency_key WHERE digest = $1 AND ends_at <= $2 RETURNING client, network, size, digest
                    """,
                    [.bytes(claim.key.rawValue), .time(now)],
                    in: transaction
                )
                row = try await ended > 0 ? nil : transaction.execute(Self.stored, [.bytes(claim.key.rawValue)]).rows.first
            }
            if let row { return try Self.outcome(of: claim, row, at: now) }
            if try ended > 0 || !bounds.admits(Self.usage(of: claim, found.dropLast())) {
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

    /// Creates or locks the row of a client or network, and returns the bytes that its keys use.
    private static let lockOwner: PostgresStatement = """
        INSERT INTO idempotency_usage (owner, size) VALUES ($1, 0)
        ON CONFLICT (owner) DO UPDATE SET size = idempotency_usage.size RETURNING size
        """

    /// Reads the bytes that the keys of a client or network use.
    private static let ownerSize: PostgresStatement = "SELECT size FROM idempotency_usage WHERE owner = $1"

    /// Reads the bytes that are in use in a half of the capacity, without a lock.
    private static let poolSize: PostgresStatement = """
        SELECT coalesce(sum(size), 0)::bigint FROM idempotency_pool WHERE pool = $1
        """

    /// Reads a key that is running or finished. Its lease may have ended, or it may have expired.
    private static let stored: PostgresStatement = """
        SELECT fingerprint, claim, is_finished, ends_at, status, headers, body FROM idempotency_key WHERE digest = $1
        """

    /// Finishes a running key: stores the response for repetitions of the request. For a response of at most 512 bytes, the method executes
    /// one statement. For a larger response, it executes a transaction that also changes the counted bytes.
    ///
    /// The body of the response is already encrypted. If the response is `nil`, the key is finished without a response. The store
    /// recognizes a repeated call by the expiry, so a caller must pass the same expiry in each attempt.
    /// - Returns: Whether the key belongs to the claim.
    /// - Throws: `StoreFailure`.
    @discardableResult
    public func finish(_ claim: IdempotencyClaim, with answer: IdempotentResponse?, until expiry: Date) async throws -> Bool {
        guard IdempotencyBounds.size(with: answer) > IdempotencyBounds.keySize else {
            let values = Self.values(of: claim, with: answer, until: expiry)
            return try await connections.execute(Self.finishing, values).rows.count == 1
        }
        return try await connections.transaction { try await Self.finish(claim, with: answer, until: expiry, in: $0) }
    }

    /// Finishes the key of a claim, and returns the bytes that were counted for the key before. If the statement is repeated with the same
    /// expiry, it writes the same values again.
    private static let finishing: PostgresStatement = """
        UPDATE idempotency_key SET is_finished = true, ends_at = $1, status = $2, headers = $3, body = $4
        WHERE digest = $5 AND claim = $6 AND (NOT is_finished OR ends_at = $1) RETURNING size
        """

    /// Returns the values of `finishing`.
    private static func values(
        of claim: IdempotencyClaim,
        with answer: IdempotentResponse?,
        until expiry: Date
    ) -> [PostgresValue] {
        [
            .time(expiry), answer.map { .integer($0.status) } ?? .null, .text(answer?.headers.stored), .bytes(answer?.body),
            .bytes(claim.key.rawValue), .integer(claim.column),
        ]
    }

    /// Finishes a key within a transaction, and corrects the counted bytes.
    ///
    /// If the response of an earlier attempt was lost, this attempt may have finished the key. The method recognizes the finished key by
    /// its expiry, because each attempt passes the same expiry.
    /// - Parameter answer: The response, with an encrypted body.
    /// - Returns: Whether the key belongs to the claim.
    static func finish(
        _ claim: IdempotencyClaim,
        with answer: IdempotentResponse?,
        until expiry: Date,
        in transaction: PostgresTransaction
    ) async throws -> Bool {
        let size = IdempotencyBounds.size(with: answer)
        let changed = try await transaction.execute(finishing, values(of: claim, with: answer, until: expiry))
        guard let counted: Int = try changed.rows.first?.value(0) else { return false }
        // A small response doesn't change the counted size. A key that an earlier version stored has the size 0 and isn't counted.
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

    /// Removes the running key of a claim, so that another request can claim the key. Does nothing if the key is finished or belongs to
    /// another claim.
    /// - Parameter claim: The claim.
    /// - Throws: `StoreFailure`.
    public func release(_ claim: IdempotencyClaim) async throws {
        try await connections.transaction { transaction in
            _ = try await Self.remove(
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

    /// Removes up to 500 expired keys that no other transaction has locked, and the rows of clients without keys.
    /// - Returns: Whether 500 keys were removed, so that there may be more.
    /// - Throws: `StoreFailure`.
    public func sweep(at now: Date) async throws -> Bool {
        let count = try await connections.transaction { try await Self.removeExpired(at: now, in: $0) }
        try await connections.execute("DELETE FROM idempotency_usage WHERE size <= 0")
        return count == PostgresDatabase.sweepLimit
    }

    /// Returns the number of stored keys.
    /// - Throws: `StoreFailure`.
    /// - Complexity: O(n) for n keys.
    public func count() async throws -> Int {
        try await connections.first("SELECT count(*) FROM idempotency_key", []) { try $0.value(0) } ?? 0
    }
}

extension PostgresIdempotencyStore {
    /// One of the 16 rows that together count the used bytes of a half of the capacity. Four bits of a key's digest select the row, so that
    /// claims of different keys rarely wait for each other.
    private struct Part: Hashable {
        /// The half of the capacity: 0 for keys of accounts, 1 for keys of network addresses.
        let pool: Int
        /// The row of the half, from 0 to 15.
        let number: Int

        /// Selects the row of a key.
        /// - Parameters:
        ///   - pool: The half of the capacity.
        ///   - digest: The digest of the key, which is evenly distributed.
        init(_ pool: IdempotencyPool, _ digest: [UInt8]) {
            (self.pool, number) = (pool.rawValue, Int(digest.first ?? 0) & 15)
        }
    }

    /// Returns statements that add to the counted bytes. The statements first change the rows of clients and networks, sorted by their
    /// numbers, and then the rows of the halves. All transactions lock the rows in this order, so they don't cause deadlocks.
    ///
    /// - Parameters:
    ///   - owners: The bytes to add, by the number of the client or network; negative to subtract.
    ///   - parts: The bytes to add, by the row of a half.
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

    /// Executes a statement that removes keys, and subtracts their bytes.
    /// - Parameter statement: A statement that returns the client, network, size and digest of each removed key, in this order.
    /// - Returns: The number of removed keys.
    private static func remove(
        _ statement: PostgresStatement,
        _ values: [PostgresValue],
        in transaction: PostgresTransaction
    ) async throws -> Int {
        let rows = try await transaction.execute(statement, values).rows
        var (owners, parts): ([Int: Int], [Part: Int]) = ([:], [:])
        for row in rows {
            let (network, size): (Int?, Int) = (try row.value(1), try row.value(2))
            // Keys that an earlier version has stored are not counted.
            guard size > 0 else { continue }
            owners[try row.value(0), default: 0] -= size
            if let network { owners[network, default: 0] -= size }
            parts[Part(network == nil ? .accounts : .addresses, try row.value(3)), default: 0] -= size
        }
        let changes = resizing(owners: owners, parts: parts)
        if !changes.isEmpty { try await transaction.execute(changes) }
        return rows.count
    }

    /// Removes up to 500 expired keys. The method skips rows that other transactions have locked, so it doesn't wait for these
    /// transactions.
    /// - Returns: The number of removed keys.
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

    /// Reads the numbers of bytes that are in use: by the client of a claim, by the client's network, and in the half of the capacity to
    /// which the key belongs.
    private static func usage(
        of claim: IdempotencyClaim,
        in transaction: PostgresTransaction
    ) async throws -> IdempotencyUsage {
        let found = try await transaction.execute(
            claim.ownerColumns.map { (ownerSize, [.integer($0)]) } + [(poolSize, [.integer(claim.pool.rawValue)])]
        )
        return try usage(of: claim, found[...])
    }

    /// Decodes the usage of a claim from the results of several statements: first the bytes for each of the `ownerColumns`, then the bytes
    /// of the key's half of the capacity.
    private static func usage(of claim: IdempotencyClaim, _ found: ArraySlice<PostgresResult>) throws -> IdempotencyUsage {
        let sizes = try found.map { try $0.rows.first?.value(0) as Int? ?? 0 }
        let owners = Dictionary(zip(claim.ownerColumns, sizes)) { $1 }
        return IdempotencyUsage(
            owner: owners[claim.clientColumn] ?? 0,
            network: claim.networkColumn.map { owners[$0] ?? 0 },
            pool: sizes.last ?? 0
        )
    }

    /// Returns the time until the first finished key of the client expires; 60 s if the client has no finished key.
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

    /// Returns the outcome of a claim for a running or finished key that has not ended.
    /// - Throws: `StoreFailure` if the stored response can't be decoded.
    private static func outcome(of claim: IdempotencyClaim, _ row: PostgresRow, at now: Date) throws -> ClaimOutcome {
        guard try row.value(0) == claim.fingerprint.rawValue else { return .otherRequest }
        guard try row.value(2) else {
            // An earlier attempt of the same claim has succeeded, but its response was lost.
            if try row.value(1) == claim.column { return .claimed }
            return .running(.seconds(try row.value(3) - now.timeIntervalSince1970))
        }
        guard let status: Int = try row.value(4) else { return .finished(nil) }
        guard let headers = HTTPFields(stored: try row.value(5)),
            let response = IdempotentResponse(status: status, headers: headers, storedBody: try row.value(6))
        else { throw StoreFailure.corruptRow(of: "idempotency_key") }
        return .finished(response)
    }
}

extension IdempotentRequest {
    /// Finishes the key: stores the response that repetitions of the request receive. The method runs in a transaction of the database that
    /// contains the key.
    ///
    /// Call it in the closure of `IdempotentRequest.commit` of `ServerMiddleware`, in the transaction that writes the data of the request.
    /// The transaction's closure may run more than once, even after an earlier run was committed. The method then recognizes that the
    /// earlier run has finished the key, and doesn't throw.
    /// - Parameters:
    ///   - response: The response that repetitions receive, with any status. If the closure runs again, the method stores the last
    ///     response.
    ///   - transaction: The parameter of the closure of `PostgresClient.transaction`.
    /// - Throws: `LostIdempotencyKey` if the key belongs to another request. Don't catch this error in the closure, because it must roll
    ///   back the transaction. Also `PostgresError`.
    public func finish(with response: IdempotentResponse, in transaction: PostgresTransaction) async throws {
        let stored = try stored(response)
        let isFinished = try await PostgresIdempotencyStore.finish(claim, with: stored, until: expiry, in: transaction)
        guard isFinished else { throw LostIdempotencyKey() }
        noteFinished()
    }
}

extension IdempotentEffect {
    /// Finishes the key: stores the response in the transaction that makes the change.
    /// - Throws: `LostIdempotencyKey`, which must roll back the transaction; `PostgresError`.
    func finish(in transaction: PostgresTransaction) async throws { try await request.finish(with: response, in: transaction) }
}

extension IdempotencyClaim {
    /// The id of the claim as a `bigint`, with the same bits.
    fileprivate var column: Int { Int(bitPattern: UInt(id)) }
    /// The number of the client as a `bigint`, with the same bits.
    fileprivate var clientColumn: Int { Int(bitPattern: UInt(client.rawValue)) }
    /// The number of the network as a `bigint`; `nil` for an account.
    fileprivate var networkColumn: Int? { network.map { Int(bitPattern: UInt($0.rawValue)) } }
    /// The numbers of the rows that count the bytes of the client and its network, in the order in which all transactions lock them.
    fileprivate var ownerColumns: [Int] { ([clientColumn] + (networkColumn.map { [$0] } ?? [])).sorted() }
}
