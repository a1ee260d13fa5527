import AccountCore
public import Foundation
public import GRDB
import HTTPTypes
public import Idempotency
import RateLimiting

/// Idempotency keys in SQLite: they survive the process, and several processes share them.
public struct SQLiteIdempotencyStore: IdempotencyStore {
    private let file: SQLiteDatabase
    private let bounds: IdempotencyBounds

    /// Creates the store.
    public init(_ database: SQLiteDatabase, bounds: IdempotencyBounds = IdempotencyBounds()) {
        file = database
        self.bounds = bounds
    }

    public var database: ObjectIdentifier? { ObjectIdentifier(file) }

    public func claim(_ claim: IdempotencyClaim, lease: Duration, at now: Date) async throws -> ClaimOutcome {
        let time = now.timeIntervalSince1970
        // Most repetitions only read.
        if let known = try file.lookUp({ try Self.outcome(of: claim, at: time, in: $0) }) { return known }
        return try await file.write { [bounds] database in
            if let known = try Self.outcome(of: claim, at: time, in: database) { return known }
            try database.execute(sql: "DELETE FROM idempotency_key WHERE digest = ?", arguments: [Data(claim.key.rawValue)])
            if try !bounds.admits(Self.usage(of: claim, in: database)) {
                _ = try Self.removeExpired(at: now, in: database)
                guard try bounds.admits(Self.usage(of: claim, in: database)) else {
                    return .full(try Self.wait(of: claim, at: time, in: database))
                }
            }
            try database.execute(
                sql: """
                    INSERT INTO idempotency_key (digest, client, network, fingerprint, claim, is_finished, ends_at, size)
                    VALUES (?, ?, ?, ?, ?, 0, ?, ?)
                    """,
                arguments: [
                    Data(claim.key.rawValue), claim.client.column, claim.network?.column, Data(claim.fingerprint.rawValue),
                    claim.column, time + lease / .seconds(1), IdempotencyBounds.keySize,
                ]
            )
            return .claimed
        }
    }

    @discardableResult
    public func finish(_ claim: IdempotencyClaim, with answer: IdempotentResponse?, until expiry: Date) async throws -> Bool {
        try await file.write { try Self.finish(claim, with: answer, until: expiry, in: $0) }
    }

    fileprivate static func finish(
        _ claim: IdempotencyClaim,
        with answer: IdempotentResponse?,
        until expiry: Date,
        in database: Database
    ) throws -> Bool {
        try database.execute(
            sql: """
                UPDATE idempotency_key SET is_finished = 1, ends_at = ?, status = ?, headers = ?, body = ?, size = ?
                WHERE digest = ? AND claim = ? AND is_finished = 0
                """,
            arguments: [
                expiry.timeIntervalSince1970, answer?.status, answer?.headers.stored, answer.map { Data($0.body) },
                IdempotencyBounds.size(with: answer), Data(claim.key.rawValue), claim.column,
            ]
        )
        return database.changesCount == 1
    }

    public func release(_ claim: IdempotencyClaim) async throws {
        try await file.write { database in
            try database.execute(
                sql: "DELETE FROM idempotency_key WHERE digest = ? AND claim = ? AND is_finished = 0",
                arguments: [Data(claim.key.rawValue), claim.column]
            )
        }
    }

    public func sweep(at now: Date) async throws -> Bool {
        try await file.write { try Self.removeExpired(at: now, in: $0) }
    }

    public func count() async throws -> Int {
        try await file.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM idempotency_key") ?? 0 }
    }
}

extension SQLiteIdempotencyStore {
    /// What is known of a key; `nil` if it is free.
    private static func outcome(of claim: IdempotencyClaim, at time: Double, in database: Database) throws -> ClaimOutcome? {
        let found = try database.firstRow(
            sql: "SELECT * FROM idempotency_key WHERE digest = ? AND ends_at > ?",
            arguments: [Data(claim.key.rawValue), time]
        )
        guard let found else { return nil }
        let fingerprint: Data = found["fingerprint"]
        guard Array(fingerprint) == claim.fingerprint.rawValue else { return .otherRequest }
        guard found["is_finished"] else { return .running(.seconds(found["ends_at"] - time)) }
        guard let status = found["status"] as Int? else { return .finished(nil) }
        let body: Data = found["body"]
        guard let headers = HTTPFields(stored: found["headers"]),
            let answer = IdempotentResponse(status: status, headers: headers, body: Array(body))
        else { throw StoreFailure(isBusy: false, message: "a kept response can't be read") }
        return .finished(answer)
    }

    private static func removeExpired(at now: Date, in database: Database) throws -> Bool {
        try database.sweep("idempotency_key", by: "digest", where: "ends_at <= ?", now)
    }

    /// The counts of bytes are kept by triggers.
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

    /// The time until a key of the client expires.
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
    /// Finishes the key in a transaction of the database that has it; see `IdempotentRequest.commit` of `ServerMiddleware`.
    /// - Parameters:
    ///   - response: The response to repetitions.
    ///   - database: What ``SQLiteDatabase/write(_:)`` passes to its closure.
    /// - Throws: `LostIdempotencyKey`, which must roll the transaction back; errors of SQLite.
    public func finish(with response: IdempotentResponse, in database: Database) throws {
        let stored = try stored(response)
        guard try SQLiteIdempotencyStore.finish(claim, with: stored, until: expiry, in: database) else {
            throw LostIdempotencyKey()
        }
        noteFinished()
    }
}

extension IdempotentEffect {
    /// Finishes the key in the transaction of the effect.
    func finish(in database: Database) throws { try request.finish(with: answer, in: database) }
}

extension KeyDigest {
    fileprivate var column: Int64 { Int64(bitPattern: rawValue) }
}

extension IdempotencyClaim {
    fileprivate var column: Int64 { Int64(bitPattern: id) }
}
