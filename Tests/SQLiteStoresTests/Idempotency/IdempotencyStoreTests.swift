import Foundation
import HTTPTypes
import Idempotency
import SQLiteStores
import Testing

/// What every store of idempotency keys must do.
@Suite struct IdempotencyStoreTests {
    private func answer(_ text: String = "done") throws -> KeptAnswer {
        let headers: HTTPFields = [.contentType: "application/json", .location: "/orders/7", .vary: "Accept", .vary: "Origin"]
        return try #require(KeptAnswer(status: 201, headers: headers, body: Array("\(text) \u{0}ß".utf8)))
    }

    @Test("A finished key gives its answer back as it was, until it expires", arguments: IdempotencyStores.allCases)
    func finished(stores: IdempotencyStores) async throws {
        try await stores.with { store in
            let answer = try answer()
            try await store.answer(try .sample(), with: answer)
            #expect(try await store.claim(try .sample(), after: 999.9) == .finished(answer))
            #expect(try await store.claim(try .sample(), after: 1_000) == .claimed)
        }
    }

    @Test("An answer that is not kept leaves the key finished", arguments: IdempotencyStores.allCases)
    func notKept(stores: IdempotencyStores) async throws {
        try await stores.with { store in
            try await store.answer(try .sample())
            #expect(try await store.claim(try .sample(), after: 500) == .finished(nil))
        }
    }

    @Test("A running key says how long its lease lasts, and is free after it", arguments: IdempotencyStores.allCases)
    func lease(stores: IdempotencyStores) async throws {
        try await stores.with { store in
            let first = try await store.claim(try .sample())
            #expect(first == .claimed)
            #expect(try await store.claim(try .sample(), after: 20) == .running(.seconds(40)))
            #expect(try await store.claim(try .sample(), after: 60) == .claimed)
            #expect(try await store.count() == 1)
        }
    }

    @Test("Another request with the key is told so, running or finished", arguments: IdempotencyStores.allCases)
    func otherRequest(stores: IdempotencyStores) async throws {
        try await stores.with { store in
            let first = try IdempotencyClaim.sample(body: "one")
            let other = try IdempotencyClaim.sample(body: "two")
            #expect(try await store.claim(first) == .claimed)
            #expect(try await store.claim(other) == .otherRequest)
            #expect(try await store.finish(first, with: nil, until: .after(1_000)))
            #expect(try await store.claim(other) == .otherRequest)
            #expect(try await store.claim(try .sample(body: "one")) == .finished(nil))
        }
    }

    @Test("A released key is free, and one that is finished can't be released", arguments: IdempotencyStores.allCases)
    func release(stores: IdempotencyStores) async throws {
        try await stores.with { store in
            let first = try IdempotencyClaim.sample(body: "one")
            #expect(try await store.claim(first) == .claimed)
            try await store.release(first)
            #expect(try await store.count() == 0)
            let second = try IdempotencyClaim.sample(body: "two")
            try await store.answer(second)
            try await store.release(second)
            #expect(try await store.claim(try .sample(body: "two")) == .finished(nil))
        }
    }

    @Test(
        "Who was too slow and lost the key neither finishes nor releases it for who has it now",
        arguments: IdempotencyStores.allCases
    )
    func fencing(stores: IdempotencyStores) async throws {
        try await stores.with { store in
            let slow = try IdempotencyClaim.sample()
            let next = try IdempotencyClaim.sample()
            #expect(try await store.claim(slow) == .claimed)
            #expect(try await store.claim(next, after: 61) == .claimed)
            #expect(try await !store.finish(slow, with: try answer("slow"), until: .after(2_000)))
            try await store.release(slow)
            #expect(try await store.claim(try .sample(), after: 62) == .running(.seconds(59)))
            #expect(try await store.finish(next, with: try answer("next"), until: .after(2_000)))
            #expect(try await store.claim(try .sample(), after: 63) == .finished(try answer("next")))
        }
    }

    @Test("Of a hundred concurrent claims one has the key", arguments: IdempotencyStores.allCases)
    func race(stores: IdempotencyStores) async throws {
        try await stores.with { store in
            for round in 0..<5 {
                let outcomes = try await concurrently(100) { _ in try await store.claim(try .sample("\(round)")) }
                #expect(outcomes.count { $0 == .claimed } == 1)
                #expect(outcomes.count { $0 == .running(.seconds(60)) } == 99)
            }
        }
    }

    @Test("Keys of other clients are other keys", arguments: IdempotencyStores.allCases)
    func clients(stores: IdempotencyStores) async throws {
        try await stores.with { store in
            try await store.answer(try .sample(client: "ana"), with: try answer())
            #expect(try await store.claim(try .sample(client: "bea")) == .claimed)
        }
    }

    @Test("The sweep removes what has expired and nothing else", arguments: IdempotencyStores.allCases)
    func sweep(stores: IdempotencyStores) async throws {
        try await stores.with { store in
            try await store.answer(try .sample("old"))
            try await store.answer(try .sample("new"), after: 100)
            #expect(try await store.claim(try .sample("dead"), after: 900) == .claimed)
            while try await store.sweep(at: .after(1_050)) {}
            #expect(try await store.count() == 1)
            #expect(try await store.claim(try .sample("new"), after: 1_050) == .finished(nil))
        }
    }

    @Test("Whoever has all keys that are his loses his oldest, and nobody else's", arguments: IdempotencyStores.allCases)
    func ownShare(stores: IdempotencyStores) async throws {
        try await stores.with(IdempotencyBounds(keys: 100, keysPerClient: 3)) { store in
            try await store.answer(try .sample("first", client: "bea"))
            for number in 0..<10 { try await store.answer(try .sample("\(number)"), after: Double(number + 1)) }
            #expect(try await store.count() == 4)
            #expect(try await store.claim(try .sample("first", client: "bea"), after: 20) == .finished(nil))
            for number in 7..<10 { #expect(try await store.claim(try .sample("\(number)"), after: 20) == .finished(nil)) }
        }
    }

    @Test("When there is no room the client with the most keys loses its oldest", arguments: IdempotencyStores.allCases)
    func fullest(stores: IdempotencyStores) async throws {
        try await stores.with(IdempotencyBounds(keys: 10, keysPerClient: 8)) { store in
            for number in 0..<2 { try await store.answer(try .sample("\(number)", client: "bea"), after: Double(number)) }
            for number in 0..<8 { try await store.answer(try .sample("\(number)"), after: Double(10 + number)) }
            try await store.answer(try .sample("new", client: "cia"), after: 30)
            #expect(try await store.count() == 10)
            for number in 0..<2 {
                #expect(try await store.claim(try .sample("\(number)", client: "bea"), after: 31) == .finished(nil))
            }
            #expect(try await store.claim(try .sample("1"), after: 31) == .finished(nil))
            #expect(try await store.claim(try .sample("0", client: "cia"), after: 31) == .claimed)
            #expect(try await store.claim(try .sample("1"), after: 31) == .claimed)
        }
    }

    @Test("Keys that are running are never lost; when all are, the store is full", arguments: IdempotencyStores.allCases)
    func full(stores: IdempotencyStores) async throws {
        try await stores.with(IdempotencyBounds(keys: 4, keysPerClient: 3)) { store in
            for number in 0..<3 { #expect(try await store.claim(try .sample("\(number)")) == .claimed) }
            let beyond = try await store.claim(try .sample("3"))
            #expect(beyond == .full)
            #expect(try await store.claim(try .sample("0", client: "bea")) == .claimed)
            #expect(try await store.claim(try .sample("1", client: "bea")) == .full)
            #expect(try await store.claim(try .sample("3"), after: 61) == .claimed)
            #expect(try await store.count() == 4)
        }
    }

    @Test("Junk keys stay within the bounds, and wash out no key of another client", arguments: IdempotencyStores.allCases)
    func junk(stores: IdempotencyStores) async throws {
        // Every commit of the file is on disk, so it gets fewer.
        let rounds = stores == .memory ? 100_000 : 2_000
        try await stores.with(IdempotencyBounds(keys: 500, keysPerClient: 100)) { store in
            try await store.answer(try .sample("mine", client: "victim"), with: try answer())
            for number in 0..<rounds {
                let claim = try IdempotencyClaim.sample("\(number)", client: "junk-\(number % 50)")
                guard try await store.claim(claim, after: 1) == .claimed else { continue }
                try await store.finish(claim, with: nil, until: .after(900))
            }
            #expect(try await store.count() <= 500)
            #expect(try await store.claim(try .sample("mine", client: "victim"), after: 2) == .finished(try answer()))
        }
    }
}
