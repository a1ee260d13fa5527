public import AccountCore
import Foundation
package import GRDB

/// A store of the keys that sign access tokens, in SQLite. A change replaces all rows in one transaction.
///
/// The private keys are encrypted under a secret that is not in the database.
///
/// ``SQLiteAccountStores`` creates this store together with the other stores of a server. Create this store separately only in a tool that
/// needs no other store.
public struct SQLiteSigningKeyStore: SigningKeyStore {
    private let database: SQLiteDatabase

    /// Creates the store. Does no I/O.
    /// - Parameter database: The database, which the other stores of the server also use.
    public init(_ database: SQLiteDatabase) {
        self.database = database
    }

    /// Returns the stored keys.
    /// - Throws: `StoreFailure`.
    public func signingKeys() async throws -> SigningKeySet { try await database.read { try SigningKeySet($0) } }

    /// Changes the keys in one transaction. If the closure returns the same keys, nothing is written.
    /// - Parameter change: Receives the stored keys and returns the new keys. If it throws, the transaction is rolled back.
    /// - Returns: The keys that are stored after the call.
    /// - Throws: `StoreFailure`, and the error of the closure.
    public func changeSigningKeys(
        _ change: @escaping @Sendable (SigningKeySet) throws -> SigningKeySet
    ) async throws -> SigningKeySet {
        try await database.write { database in
            let old = try SigningKeySet(database)
            let new = try change(old)
            guard new != old else { return old }
            try database.execute(sql: "DELETE FROM signing_key")
            for key in new.keys {
                try database.execute(
                    "INSERT INTO signing_key (id, sealed, created_at, signs_from, retired_at) VALUES (?, ?, ?, ?, ?)",
                    [
                        key.id, key.sealed, key.createdAt.timeIntervalSince1970, key.signsFrom.timeIntervalSince1970,
                        key.retiredAt?.timeIntervalSince1970,
                    ]
                )
            }
            // The database rounds times.
            return try SigningKeySet(database)
        }
    }
}

extension SigningKeySet {
    /// Reads the stored keys.
    package init(_ database: Database) throws {
        self.init(
            try Row.fetchAll(database, sql: "SELECT id, sealed, created_at, signs_from, retired_at FROM signing_key").map { row in
                SigningKey(
                    id: row[0],
                    sealed: row[1],
                    createdAt: Date(timeIntervalSince1970: row[2]),
                    signsFrom: Date(timeIntervalSince1970: row[3]),
                    retiredAt: (row[4] as Double?).map(Date.init(timeIntervalSince1970:))
                )
            }
        )
    }
}
