import AccountCore
import AccountStoreTesting
import Foundation
import HTTPTypes
import Idempotency
import SQLiteStores
import Testing

@Suite struct SQLiteIdempotencyTests {
    private func response(_ text: String) throws -> IdempotentResponse {
        try #require(IdempotentResponse(status: 200, headers: [.contentType: "text/plain"], body: Array(text.utf8)))
    }

    @Test("Shares claims and responses with another connection to the same file")
    func processes() async throws {
        try await withStores { stores in
            let first = SQLiteIdempotencyStore(stores.database)
            let claim = try IdempotencyClaim.sample()
            #expect(try await first.claim(claim) == .claimed)
            let other = try stores.reopened()
            let second = SQLiteIdempotencyStore(other.database)
            #expect(try await second.claim(try .sample(), after: 30) == .running(.seconds(30)))
            #expect(try await first.finish(claim, with: try response("done"), until: .after(1_000)))
            #expect(try await second.claim(try .sample(), after: 31) == .finished(try response("done")))
            try other.database.close()
        }
    }

    @Test("Gives a key to one of 60 concurrent claims over two connections")
    func race() async throws {
        try await withStores { stores in
            let other = try stores.reopened()
            let pair = [SQLiteIdempotencyStore(stores.database), SQLiteIdempotencyStore(other.database)]
            let outcomes = try await concurrently(60) { try await pair[$0 % 2].claim(try .sample()) }
            #expect(outcomes.count { $0 == .claimed } == 1)
            try other.database.close()
        }
    }

    @Test("Stores neither the key, the client nor the request in clear text")
    func atRest() async throws {
        try await withStores { stores in
            let store = SQLiteIdempotencyStore(stores.database)
            let claim = try IdempotencyClaim.sample("key-of-ana-7f3e9a52", client: "198.51.100.7", body: "hunter2-hunter2")
            try await store.answer(claim, with: try response("the answer itself"))
            let bytes = try stores.bytes()
            #expect(bytes.range(of: Data("the answer itself".utf8)) != nil)
            for secret in ["key-of-ana", "198.51.100.7", "hunter2"] { #expect(bytes.range(of: Data(secret.utf8)) == nil) }
        }
    }

    @Test("Keeps the counted bytes equal to the sizes of the stored keys")
    func counts() async throws {
        try await withStores { stores in
            let store = SQLiteIdempotencyStore(stores.database, bounds: IdempotencyBounds(bytes: 16 << 20))
            for number in 0..<120 {
                let owner = IdempotencyOwner.address("\(number % 9)", network: "\(number % 3)")
                let claim = try IdempotencyClaim.sample("\(number)", owner: number % 2 == 0 ? .account("\(number % 9)") : owner)
                _ = try await store.claim(claim, after: Double(number))
                if number % 3 == 0 { try await store.release(claim) }
                if number % 3 == 1 {
                    let response = try response(String(repeating: "x", count: number * 20))
                    try await store.finish(claim, with: response, until: .after(Double(200 + number)))
                }
            }
            while try await store.sweep(at: .after(230)) {}
            let rows = try await stores.number("SELECT COUNT(*) FROM idempotency_key")
            #expect(rows > 0)
            #expect(try await store.count() == rows)
            let differing = """
                SELECT COUNT(*) FROM idempotency_usage AS u
                WHERE size <> (SELECT SUM(size) FROM idempotency_key WHERE client = u.owner OR network = u.owner)
                """
            #expect(try await stores.number(differing) == 0)
            #expect(try await stores.number("SELECT COUNT(*) FROM idempotency_usage") > 3)
            for (pool, condition) in [(0, "IS NULL"), (1, "IS NOT NULL")] {
                let size = try await stores.number("SELECT TOTAL(size) FROM idempotency_key WHERE network \(condition)")
                #expect(size > 0)
                #expect(try await stores.number("SELECT size FROM idempotency_pool WHERE id = \(pool)") == size)
            }
            while try await store.sweep(at: .after(1_000)) {}
            #expect(try await stores.number("SELECT COUNT(*) FROM idempotency_usage") == 0)
            #expect(try await stores.number("SELECT SUM(size) FROM idempotency_pool") == 0)
        }
    }

    @Test("Throws StoreFailure for a manipulated row")
    func corrupt() async throws {
        try await withStores { stores in
            let store = SQLiteIdempotencyStore(stores.database)
            try await store.answer(try .sample(), with: try response("x"))
            try await stores.execute("UPDATE idempotency_key SET headers = 'no JSON'")
            await #expect(throws: StoreFailure.self) { _ = try await store.claim(try .sample(), after: 1) }
            try await stores.execute("UPDATE idempotency_key SET headers = '[]', body = zeroblob(70000)")
            await #expect(throws: StoreFailure.self) { _ = try await store.claim(try .sample(), after: 1) }
        }
    }

    @Test("Removes at most 500 expired keys per sweep")
    func sweepInSteps() async throws {
        try await withStores { stores in
            let store = SQLiteIdempotencyStore(stores.database)
            try await stores.execute(
                """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
                INSERT INTO idempotency_key (digest, client, fingerprint, claim, is_finished, ends_at)
                SELECT CAST('key ' || i AS BLOB), i % 7, x'00', i, 1, 5 FROM n
                """
            )
            #expect(try await store.count() == 1_200)
            #expect(try await store.sweep(at: .after(0)))
            #expect(try await store.count() == 700)
            #expect(try await store.sweep(at: .after(0)))
            #expect(try await !store.sweep(at: .after(0)))
            #expect(try await store.count() == 0)
        }
    }
}
