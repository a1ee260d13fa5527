import AccountCore
public import Foundation
public import GRDB
import HTTPTypes
public import Idempotency
import RateLimiting

/// A store of idempotency keys in a SQLite database.
///
/// Several processes on one machine can share the database. When a method returns, its change is on disk, so claimed and finished keys
/// survive a crash. Use `PostgresIdempotencyStore` if several machines share the keys, and `MemoryIdempotencyStore` in tests.
///
/// ```swift
/// let database = try SQLiteDatabase(path: "orders.sqlite3")
/// let keys = IdempotencyKeys(store: SQLiteIdempotencyStore(database), secret: secret)
/// ```
/// A route that writes its data to the same database can store the response in the transaction of this write, and so finish the key; see
/// `IdempotentRequest.finish(with:in:)`.
///
/// A claim reserves a key for a request. The key is running until the request is finished and the response is stored. A claim of a key that
/// is already running or finished needs only one read. Any other claim is a write, and so are `finish` and `release`. Concurrent writes
/// share one transaction and one synchronization with the disk. Triggers maintain the sum of bytes for each client, for each network and
/// for each half of the capacity (see `IdempotencyBounds`). So the check of these bounds reads at most three rows.
public struct SQLiteIdempotencyStore: IdempotencyStore {
    private let file: SQLiteDatabase
    private let bounds: IdempotencyBounds

    /// Creates a store in a database, whose schema already has the tables.
    /// - Parameters:
    ///   - database: The database. Use the instance with which you write your other data, so that your transactions can finish keys.
    ///   - bounds: The capacity; 1 GiB by default. All processes on the database should use the same bounds.
    public init(_ database: SQLiteDatabase, bounds: IdempotencyBounds = IdempotencyBounds()) {
        file = database
        self.bounds = bounds
    }

    /// The identity of the ``SQLiteDatabase``.
    public var database: ObjectIdentifier? { ObjectIdentifier(file) }

    /// Claims a key for a request. If the client has used up its part of the capacity, its share, the store first removes up to 500 expired
    /// keys. The store refuses the claim only if the share is still used up.
    ///
    /// - Parameters:
    ///   - claim: The claim, with a random id.
    ///   - lease: The time after which another request can claim the key, unless this claim has finished the key by then.
    ///   - now: The present time. The lease begins at this time, and keys that have expired by then are free.
    /// - Returns: Whether the key is claimed, running, finished, used by another request, or refused because the store is full.
    /// - Throws: `StoreFailure` for errors of SQLite, or if a stored response can't be decoded.
    public func claim(_ claim: IdempotencyClaim, lease: Duration, at now: Date) async throws -> ClaimOutcome {
        let time = now.timeIntervalSince1970
        // A repetition of a running or finished request needs no write transaction.
        if let known = try file.lookUp({ try Self.outcome(of: claim, at: time, in: $0) }) { return known }
        return try await file.write { [bounds] database in
            if let known = try Self.outcome(of: claim, at: time, in: database) { return known }
            try database.execute("DELETE FROM idempotency_key WHERE digest = ?", [Data(claim.key.rawValue)])
            if try !bounds.admits(Self.usage(of: claim, in: database)) {
                _ = try Self.removeExpired(at: now, in: database)
                guard try bounds.admits(Self.usage(of: claim, in: database)) else {
                    return .full(try Self.wait(of: claim, at: time, in: database))
                }
            }
            try database.execute(
                """
                INSERT INTO idempotency_key (digest, client, network, fingerprint, claim, is_finished, ends_at, size)
                VALUES (?, ?, ?, ?, ?, 0, ?, ?)
                """,
                [
                    Data(claim.key.rawValue), claim.client.column, claim.network?.column, Data(claim.fingerprint.rawValue),
                    claim.column, time + lease / .seconds(1), IdempotencyBounds.keySize,
                ]
            )
            return .claimed
        }
    }

    /// Finishes a running key: stores the response for repetitions of the request. If the lease of this claim has ended and the key belongs
    /// to another claim now, the method changes nothing.
    ///
    /// The body of the response is already encrypted. If the response is `nil`, the key is finished without a response.
    /// - Returns: Whether the key belonged to the claim and was running.
    /// - Throws: `StoreFailure` for errors of SQLite.
    @discardableResult
    public func finish(_ claim: IdempotencyClaim, with answer: IdempotentResponse?, until expiry: Date) async throws -> Bool {
        try await file.write { try Self.finish(claim, with: answer, until: expiry, in: $0) }
    }

    /// Finishes a running key within a transaction: stores the response for repetitions of the request.
    /// - Parameter answer: The response, with an encrypted body.
    /// - Returns: Whether the key belonged to the claim and was running.
    fileprivate static func finish(
        _ claim: IdempotencyClaim,
        with answer: IdempotentResponse?,
        until expiry: Date,
        in database: Database
    ) throws -> Bool {
        try database.execute(
            """
            UPDATE idempotency_key SET is_finished = 1, ends_at = ?, status = ?, headers = ?, body = ?, size = ?
            WHERE digest = ? AND claim = ? AND is_finished = 0
            """,
            [
                expiry.timeIntervalSince1970, answer?.status, answer?.headers.stored, answer.map { Data($0.body) },
                IdempotencyBounds.size(with: answer), Data(claim.key.rawValue), claim.column,
            ]
        )
        return database.changesCount == 1
    }

    /// Removes the running key of a claim, so that another request can claim the key. Does nothing if the key is finished or belongs to
    /// another claim.
    /// - Parameter claim: The claim.
    /// - Throws: `StoreFailure` for errors of SQLite.
    public func release(_ claim: IdempotencyClaim) async throws {
        try await file.execute(
            "DELETE FROM idempotency_key WHERE digest = ? AND claim = ? AND is_finished = 0",
            [Data(claim.key.rawValue), claim.column]
        )
    }

    /// Removes up to 500 expired keys in one transaction.
    ///
    /// - Parameter now: The present time. Keys that have expired by then are removed.
    /// - Returns: Whether 500 keys were removed, so that there may be more.
    /// - Throws: `StoreFailure` for errors of SQLite.
    public func sweep(at now: Date) async throws -> Bool {
        try await file.write { try Self.removeExpired(at: now, in: $0) }
    }

    /// Returns the number of stored keys.
    /// - Throws: `StoreFailure` for errors of SQLite.
    /// - Complexity: O(n) for n keys.
    public func count() async throws -> Int {
        try await file.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM idempotency_key") ?? 0 }
    }
}

extension SQLiteIdempotencyStore {
    /// Returns the outcome of a claim for a running or finished key; `nil` if the key is free.
    /// - Throws: `StoreFailure` if the stored response can't be decoded or has a body that is too large.
    private static func outcome(of claim: IdempotencyClaim, at time: Double, in database: Database) throws -> ClaimOutcome? {
        let found = try database.firstRow(
            "SELECT * FROM idempotency_key WHERE digest = ? AND ends_at > ?",
            [Data(claim.key.rawValue), time]
        )
        guard let found else { return nil }
        let fingerprint: Data = found["fingerprint"]
        guard Array(fingerprint) == claim.fingerprint.rawValue else { return .otherRequest }
        guard found["is_finished"] else { return .running(.seconds(found["ends_at"] - time)) }
        guard let status = found["status"] as Int? else { return .finished(nil) }
        let body: Data = found["body"]
        guard let headers = HTTPFields(stored: found["headers"]),
            let response = IdempotentResponse(status: status, headers: headers, storedBody: Array(body))
        else { throw StoreFailure(isBusy: false, message: "a stored response can't be decoded") }
        return .finished(response)
    }

    /// Removes up to 500 expired keys. Triggers subtract the bytes of these keys from the sums.
    /// - Returns: Whether there may be more expired keys.
    private static func removeExpired(at now: Date, in database: Database) throws -> Bool {
        try database.sweep("idempotency_key", by: "digest", where: "ends_at <= ?", now)
    }

    /// Returns the numbers of bytes that are in use: by the client of a claim, by the client's network, and in the half of the capacity to
    /// which the key belongs. Triggers of the schema maintain these sums.
    private static func usage(of claim: IdempotencyClaim, in database: Database) throws -> IdempotencyUsage {
        func size(of owner: KeyDigest) throws -> Int {
            let sql = "SELECT size FROM idempotency_usage WHERE owner = ?"
            return try Int.fetchOne(database, sql: sql, arguments: [owner.column]) ?? 0
        }
        let pool = try Int.fetchOne(
            database,
            sql: "SELECT size FROM idempotency_pool WHERE id = ?",
            arguments: [claim.pool.rawValue]
        )
        return IdempotencyUsage(owner: try size(of: claim.client), network: try claim.network.map(size), pool: pool ?? 0)
    }

    /// Returns the time until the first finished key of the client expires; 60 s if the client has no finished key.
    private static func wait(of claim: IdempotencyClaim, at time: Double, in database: Database) throws -> Duration {
        let expiry = try Double.fetchOne(
            database,
            sql: "SELECT MIN(ends_at) FROM idempotency_key WHERE client = ? AND is_finished = 1",
            arguments: [claim.client.column]
        )
        return expiry.map { .seconds($0 - time) } ?? .seconds(60)
    }
}

extension IdempotentRequest {
    /// Finishes the key: stores the response that repetitions of the request receive. The method runs in a transaction of the database that
    /// contains the key.
    ///
    /// Call it in the closure of `IdempotentRequest.commit` of `ServerMiddleware`, once per request and in the transaction that writes the
    /// data of the request:
    ///
    /// ```swift
    /// try await IdempotentRequest.commit { request in
    ///     try await database.write { database in
    ///         try database.execute(sql: "INSERT INTO note (title) VALUES (?)", arguments: [title])
    ///         let response = try IdempotentResponse.json(["id": database.lastInsertedRowID], status: 201)
    ///         try request?.finish(with: response, in: database)
    ///         return response
    ///     }
    /// }
    /// ```
    /// - Parameters:
    ///   - response: The response that repetitions receive, with any status.
    ///   - database: The parameter of the closure of ``SQLiteDatabase/write(_:)``.
    /// - Throws: `LostIdempotencyKey` if the key belongs to another request or is already finished. Don't catch this error in the closure,
    ///   because it must roll back the transaction. Also errors of SQLite.
    public func finish(with response: IdempotentResponse, in database: Database) throws {
        let stored = try stored(response)
        guard try SQLiteIdempotencyStore.finish(claim, with: stored, until: expiry, in: database) else {
            throw LostIdempotencyKey()
        }
        noteFinished()
    }
}

extension IdempotentEffect {
    /// Finishes the key: stores the response in the transaction that makes the change.
    /// - Throws: `LostIdempotencyKey`, which must roll back the transaction; errors of SQLite.
    func finish(in database: Database) throws { try request.finish(with: response, in: database) }
}

extension KeyDigest {
    /// The number of the client or network as an `INTEGER`, with the same bits.
    fileprivate var column: Int64 { Int64(bitPattern: rawValue) }
}

extension IdempotencyClaim {
    /// The id of the claim as an `INTEGER`, with the same bits.
    fileprivate var column: Int64 { Int64(bitPattern: id) }
}
