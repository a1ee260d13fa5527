import AccountCore
public import Foundation
import GRDB
import HTTPTypes
public import Idempotency
import RateLimiting

/// Idempotency keys in SQLite: they survive the process, and several processes share them.
public struct SQLiteIdempotencyStore: IdempotencyStore {
    private let database: SQLiteDatabase
    private let bounds: IdempotencyBounds

    /// Creates the store.
    public init(_ database: SQLiteDatabase, bounds: IdempotencyBounds = IdempotencyBounds()) {
        self.database = database
        self.bounds = bounds
    }

    public func claim(_ claim: IdempotencyClaim, lease: Duration, at now: Date) async throws -> ClaimOutcome {
        let time = now.timeIntervalSince1970
        // Most repetitions only read.
        if let known = try database.lookUp({ try Self.outcome(of: claim, at: time, in: $0) }) { return known }
        return try await database.write { [bounds] database in
            if let known = try Self.outcome(of: claim, at: time, in: database) { return known }
            try database.execute(sql: "DELETE FROM idempotency_key WHERE digest = ?", arguments: [Data(claim.key.rawValue)])
            guard try Self.makeRoom(for: claim.client, bounds, at: time, in: database) else { return .full }
            try database.execute(
                sql: """
                    INSERT INTO idempotency_key (digest, client, fingerprint, claim, is_finished, ends_at)
                    VALUES (?, ?, ?, ?, 0, ?)
                    """,
                arguments: [
                    Data(claim.key.rawValue), claim.client.column, Data(claim.fingerprint.rawValue), claim.column,
                    time + lease / .seconds(1),
                ]
            )
            return .claimed
        }
    }

    @discardableResult
    public func finish(_ claim: IdempotencyClaim, with answer: IdempotentResponse?, until expiry: Date) async throws -> Bool {
        let headers = answer.map(\.headers.stored)
        return try await database.write { database in
            try database.execute(
                sql: """
                    UPDATE idempotency_key SET is_finished = 1, ends_at = ?, status = ?, headers = ?, body = ?
                    WHERE digest = ? AND claim = ? AND is_finished = 0
                    """,
                arguments: [
                    expiry.timeIntervalSince1970, answer?.status, headers, answer.map { Data($0.body) },
                    Data(claim.key.rawValue), claim.column,
                ]
            )
            return database.changesCount == 1
        }
    }

    public func release(_ claim: IdempotencyClaim) async throws {
        try await database.write { database in
            try database.execute(
                sql: "DELETE FROM idempotency_key WHERE digest = ? AND claim = ? AND is_finished = 0",
                arguments: [Data(claim.key.rawValue), claim.column]
            )
        }
    }

    public func sweep(at now: Date) async throws -> Bool {
        try await database.write { try $0.sweep("idempotency_key", by: "digest", where: "ends_at <= ?", now) }
    }

    public func count() async throws -> Int {
        try await database.read { try Self.total(in: $0) }
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

    /// Forgets the oldest finished key of the client if it has all that are its, or of the fullest client if there is no room.
    private static func makeRoom(
        for client: KeyDigest,
        _ bounds: IdempotencyBounds,
        at time: Double,
        in database: Database
    ) throws -> Bool {
        let own = try Int.fetchOne(
            database,
            sql: "SELECT keys FROM idempotency_client WHERE client = ?",
            arguments: [client.column]
        )
        if own ?? 0 >= bounds.keysPerClient { return try removeOldest(of: client.column, at: time, in: database) }
        guard try total(in: database) >= bounds.keys else { return true }
        let fullest = try Int64.fetchOne(database, sql: "SELECT client FROM idempotency_client ORDER BY keys DESC LIMIT 1")
        guard let fullest else { return true }
        return try removeOldest(of: fullest, at: time, in: database)
    }

    /// Finished keys live equally long, so the one that expires first is the oldest.
    private static func removeOldest(of client: Int64, at time: Double, in database: Database) throws -> Bool {
        for condition in ["is_finished = 1", "is_finished = 0 AND ends_at <= \(time)"] {
            try database.execute(
                sql: """
                    DELETE FROM idempotency_key WHERE digest = (
                        SELECT digest FROM idempotency_key WHERE client = ? AND \(condition) ORDER BY ends_at LIMIT 1
                    )
                    """,
                arguments: [client]
            )
            if database.changesCount == 1 { return true }
        }
        return false
    }

    private static func total(in database: Database) throws -> Int {
        try Int.fetchOne(database, sql: "SELECT keys FROM idempotency_total") ?? 0
    }
}

extension KeyDigest {
    fileprivate var column: Int64 { Int64(bitPattern: rawValue) }
}

extension IdempotencyClaim {
    fileprivate var column: Int64 { Int64(bitPattern: id) }
}
