import AccountStoreTesting
import Foundation
import Idempotency
import PostgresStores
import Testing

@Suite(.timeLimit(.minutes(10))) struct StoreCheckTests {
    @Test("Passes every check of stores, with the connections of a second server", arguments: AccountStoreCheck.all)
    func accounts(_ check: AccountStoreCheck) async throws {
        try await withDatabase { try await check.run($0.stores, sharedWith: $0.others) }
    }

    @Test("Passes every check of stores of idempotency keys", arguments: IdempotencyStoreCheck.all)
    func idempotency(_ check: IdempotencyStoreCheck) async throws {
        try await withDatabase { try await check.run(PostgresIdempotencyStore($0.database, bounds: check.bounds)) }
    }

    @Test("Commits mutations together with their idempotency keys", arguments: IdempotentEffectCheck.all)
    func effects(_ check: IdempotentEffectCheck) async throws {
        try await withDatabase { try await check.run($0.stores, PostgresIdempotencyStore($0.database)) }
    }
}
