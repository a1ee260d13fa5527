public import AccountCore
import Foundation
import PostgresDriver
import Synchronization

/// A store of the keys that sign access tokens, in PostgreSQL. Each change first locks the same row, so servers change the keys one after
/// the other.
///
/// The private keys are encrypted under a secret that is not in the database.
///
/// ``PostgresAccountStores`` creates this store together with the other stores of a server. Create this store separately only in a tool
/// that needs no other store.
public struct PostgresSigningKeyStore: SigningKeyStore {
    private let database: PostgresDatabase

    /// Creates the store. Does no I/O.
    /// - Parameter database: The database, with the tables of ``PostgresSchema``.
    public init(_ database: PostgresDatabase) {
        self.database = database
    }

    /// Returns the stored keys, sorted by id, with one statement and without a lock.
    /// - Throws: `StoreFailure`.
    public func signingKeys() async throws -> SigningKeySet { try SigningKeySet(try await database.execute(Self.selection)) }

    /// Changes the keys in one transaction. The transaction first locks a row of `shared_value`, so two servers never change the keys at
    /// the same time.
    ///
    /// The closure may run more than once. If it returns the same keys, nothing is written. If the response of the commit was lost, the
    /// driver repeats the transaction. The repetition finds the new keys and returns them without a call of the closure.
    /// - Parameter change: Receives the stored keys and returns the new keys. If it throws, the transaction is rolled back.
    /// - Returns: The keys that are stored after the call.
    /// - Throws: `StoreFailure`, and the error of the closure.
    public func changeSigningKeys(
        _ change: @escaping @Sendable (SigningKeySet) throws -> SigningKeySet
    ) async throws -> SigningKeySet {
        // The keys that an earlier attempt has written.
        let written = Mutex<SigningKeySet?>(nil)
        return try await database.transaction { transaction in
            _ = try await transaction.lockedValue(of: "signing_keys")
            let old = try SigningKeySet(try await transaction.execute(Self.selection))
            if old == written.withLock({ $0 }) { return old }
            let new = try change(old)
            guard new != old else { return old }
            let ids = Set(new.keys.map(\.id))
            for key in old.keys where !ids.contains(key.id) {
                try await transaction.execute("DELETE FROM signing_key WHERE id = $1", [.text(key.id)])
            }
            for key in new.keys {
                try await transaction.execute(
                    """
                    INSERT INTO signing_key (id, sealed, created_at, signs_from, retired_at) VALUES ($1, $2, $3, $4, $5)
                    ON CONFLICT (id) DO UPDATE
                    SET sealed = excluded.sealed, created_at = excluded.created_at, signs_from = excluded.signs_from,
                        retired_at = excluded.retired_at
                    """,
                    [
                        .text(key.id), .bytes(Array(key.sealed)), .time(key.createdAt), .time(key.signsFrom),
                        key.retiredAt.map { .time($0) } ?? .null,
                    ]
                )
            }
            // The database rounds times, so the repetition compares the keys as they are stored.
            let stored = try SigningKeySet(try await transaction.execute(Self.selection))
            written.withLock { $0 = stored }
            return stored
        }
    }

    /// Reads the keys, at most 1,000. This limit is far above the number of keys that a server has.
    private static let selection: PostgresStatement = """
        SELECT id, sealed, created_at, signs_from, retired_at FROM signing_key ORDER BY id LIMIT 1000
        """
}

extension SigningKeySet {
    /// Decodes the rows of `selection`.
    fileprivate init(_ result: PostgresResult) throws {
        self.init(
            try result.rows.map { row in
                SigningKey(
                    id: try row.value(0),
                    sealed: Data(try row.value(1) as [UInt8]),
                    createdAt: try row.value(2),
                    signsFrom: try row.value(3),
                    retiredAt: try row.value(4)
                )
            }
        )
    }
}
