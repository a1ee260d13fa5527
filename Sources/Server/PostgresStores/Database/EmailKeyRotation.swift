import AccountContract
import AccountCore
import Foundation
import PostgresDriver

/// Gives the addresses of all accounts a key under the present secret, so that the previous one can be forgotten.
///
/// Any number of servers may do so at once, and again.
public struct EmailKeyRotation: Sendable {
    private let database: PostgresDatabase
    private let keys: EmailKeys

    /// Creates a rotation.
    public init(_ database: PostgresDatabase, keys: EmailKeys) {
        (self.database, self.keys) = (database, keys)
    }

    /// Adds the missing keys, in batches.
    /// - Returns: The number of keys that were added.
    @discardableResult
    public func run() async throws -> Int {
        var (last, added) = (UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)), 0)
        while true {
            try Task.checkCancellation()
            let rows = try await database.execute(
                "SELECT id, email FROM account WHERE id > $1 ORDER BY id LIMIT $2",
                [.uuid(last), .integer(PostgresDatabase.sweepLimit)]
            ).rows
            let accounts = try rows.map { (id: try $0.value(0) as UUID, email: try $0.value(1) as String) }
            guard let end = accounts.last else { return added }
            let claims = accounts.compactMap { account in
                (try? EmailAddress(account.email)).map {
                    (PostgresAccountRepository.claimAddress, [PostgresValue.bytes(keys.key(of: $0)), .uuid(account.id)])
                }
            }
            added += try await database.transaction { try await $0.execute(claims).reduce(0) { $0 + $1.count } }
            last = end.id
        }
    }
}
