import AccountCore
import AccountStoreTesting
import Foundation
import Idempotency
import PostgresDriver
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

    @Test("An account whose audit event can't be stored keeps its state")
    func refusedEvent() async throws {
        try await withDatabase { temporary in
            let account = try await temporary.stores.addAccount()
            try await temporary.database.execute("ALTER TABLE audit_event ADD CHECK (kind <> 'suspended')")
            let event = AuditEvent(kind: .suspended, accountID: account.id, time: .after(1), origin: .none)
            await #expect(throws: StoreFailure.self) {
                _ = try await temporary.stores.accounts.setState(.suspended, of: account.id, event: event)
            }
            #expect(try await temporary.stores.accounts.account(id: account.id) == account)
        }
    }
}
