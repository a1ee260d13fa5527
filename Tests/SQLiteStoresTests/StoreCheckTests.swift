import AccountStoreTesting
import Foundation
import HoldfastTesting
import Idempotency
import RateLimiting
import SQLiteStores
import Testing

@Suite(.timeLimit(.minutes(5))) struct StoreCheckTests {
    @Test("Passes every check of stores, with a second connection to the file", arguments: AccountStoreCheck.all)
    func accounts(_ check: AccountStoreCheck) async throws {
        try await withStores { stores in
            let other = try stores.reopened()
            try await check.run(SQLiteAccountStores(stores.database), sharedWith: SQLiteAccountStores(other.database))
            try other.database.close()
        }
    }

    @Test("Passes every check of stores of idempotency keys", arguments: IdempotencyStoreCheck.all)
    func idempotency(_ check: IdempotencyStoreCheck) async throws {
        try await withStores { try await check.run(SQLiteIdempotencyStore($0.database, bounds: check.bounds)) }
    }

    @Test("Commits mutations together with their idempotency keys", arguments: IdempotentEffectCheck.all)
    func effects(_ check: IdempotentEffectCheck) async throws {
        try await withStores { stores in
            try await check.run(SQLiteAccountStores(stores.database), SQLiteIdempotencyStore(stores.database))
        }
    }

    @Test("The in-memory store passes every check of stores of idempotency keys", arguments: IdempotencyStoreCheck.all)
    func idempotencyInMemory(_ check: IdempotencyStoreCheck) async throws {
        try await check.run(MemoryIdempotencyStore(bounds: check.bounds))
    }

    @Test("Passes every check of stores of limits", arguments: RateLimitStoreCheck.all)
    func limits(_ check: RateLimitStoreCheck) async throws {
        try await withMachine { machine in
            let store = try await machine.start(check.rules)
            try await check.run(store) { machine.pass($0) }
        }
    }

    @Test("The in-memory limiter passes every check of stores of limits", arguments: RateLimitStoreCheck.all)
    func limitsInMemory(_ check: RateLimitStoreCheck) async throws {
        let clock = ManualClock()
        try await check.run(JointRateLimiter(check.rules, clock: clock)) { clock.advance(by: $0) }
    }

    @Test("A hundred thousand junk keys evict no key of another client")
    func junk() async throws {
        let store = MemoryIdempotencyStore(bounds: IdempotencyBounds(bytes: 4 << 20))
        try await store.answer(try .sample("mine", client: "victim"))
        for number in 0..<100_000 {
            let claim = try IdempotencyClaim.sample("\(number)", client: "junk-\(number % 300)")
            guard try await store.claim(claim, after: 1) == .claimed else { continue }
            store.finish(claim, with: nil, until: .after(900))
        }
        #expect(store.count() <= 2_048)
        #expect(try await store.claim(try .sample("mine", client: "victim"), after: 2) == .finished(nil))
        #expect(try await store.claim(try .sample("new", client: "victim"), after: 2) == .claimed)
    }
}
