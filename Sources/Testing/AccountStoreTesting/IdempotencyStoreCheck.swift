import Foundation
import HTTPTypes
public import Idempotency
import RateLimiting

/// One thing that every implementation of `IdempotencyStore` does.
///
/// ```swift
/// @Test("The MySQL store of keys passes every check", arguments: IdempotencyStoreCheck.all)
/// func passes(_ check: IdempotencyStoreCheck) async throws {
///     try await check.run(MySQLIdempotencyStore(try await .empty(), bounds: check.bounds))
/// }
/// ```
public struct IdempotencyStoreCheck: Sendable, CustomStringConvertible {
    /// The rule, as a sentence.
    public let description: String
    /// The bounds that the store must be created with.
    public let bounds: IdempotencyBounds
    private let body: @Sendable (any IdempotencyStore) async throws -> Void

    init(
        _ rule: String,
        _ bounds: IdempotencyBounds = IdempotencyBounds(),
        _ body: @escaping @Sendable (any IdempotencyStore) async throws -> Void
    ) {
        description = "idempotency: \(rule)"
        self.bounds = bounds
        self.body = body
    }

    /// Tries a store, which must be new and empty, and have the ``bounds`` of the check.
    /// - Throws: `AccountStoreCheck.Violation` if it does not do what it should; errors of the store.
    public func run(_ store: any IdempotencyStore) async throws {
        do {
            try await body(store)
        } catch let difference as Difference {
            throw AccountStoreCheck.Violation(description: "\(description): \(difference)")
        }
    }

    /// All checks.
    public static let all = states + ownership + capacity

    private static let states: [IdempotencyStoreCheck] = [
        .init("Returns the response of a finished key as it was, until the key expires") { store in
            let answer = try answer()
            try await store.answer(try .sample(), with: answer)
            try require(
                try await store.claim(try .sample(), after: 999.9),
                equals: .finished(answer),
                "A claim before the expiry"
            )
            try require(try await store.claim(try .sample(), after: 1_000), equals: .claimed, "A claim at the expiry")
        },
        .init("Keeps a key finished whose response is not stored") { store in
            try await store.answer(try .sample())
            try require(try await store.claim(try .sample(), after: 500), equals: .finished(nil), "A claim")
        },
        .init("Reports how long the lease of a running key lasts, and frees the key after it") { store in
            try require(try await store.claim(try .sample()), equals: .claimed, "The first claim")
            try require(try await store.claim(try .sample(), after: 20), equals: .running(.seconds(40)), "A claim after 20 s")
            try require(try await store.claim(try .sample(), after: 60), equals: .claimed, "A claim after 60 s")
            try require(try await store.count(), equals: 1, "The number of keys")
        },
        .init("Frees a released key, and releases no finished one") { store in
            let first = try IdempotencyClaim.sample(body: "one")
            try require(try await store.claim(first), equals: .claimed, "A claim")
            try await store.release(first)
            try require(try await store.count(), equals: 0, "The number of keys")
            let second = try IdempotencyClaim.sample(body: "two")
            try await store.answer(second)
            try await store.release(second)
            try require(try await store.claim(try .sample(body: "two")), equals: .finished(nil), "A claim of a finished key")
        },
        .init("Sweeps what has expired and nothing else") { store in
            try await store.answer(try .sample("old"))
            try await store.answer(try .sample("new"), after: 100)
            try require(try await store.claim(try .sample("dead"), after: 900), equals: .claimed, "A claim")
            while try await store.sweep(at: .after(1_050)) {}
            try require(try await store.count(), equals: 1, "The number of keys")
            try require(try await store.claim(try .sample("new"), after: 1_050), equals: .finished(nil), "The key that is left")
        },
    ]

    private static let ownership: [IdempotencyStoreCheck] = [
        .init("Reports another request with a key, running or finished") { store in
            let first = try IdempotencyClaim.sample(body: "one")
            let other = try IdempotencyClaim.sample(body: "two")
            try require(try await store.claim(first), equals: .claimed, "The first claim")
            try require(try await store.claim(other), equals: .otherRequest, "Another request while the first runs")
            try require(await store.finish(first, with: nil, until: .after(1_000)), "finish returns true")
            try require(try await store.claim(other), equals: .otherRequest, "Another request when the first is finished")
            try require(try await store.claim(try .sample(body: "one")), equals: .finished(nil), "The same request")
        },
        .init("Ignores a claim that was too slow and lost its key to another") { store in
            let (slow, next) = (try IdempotencyClaim.sample(), try IdempotencyClaim.sample())
            try require(try await store.claim(slow), equals: .claimed, "The first claim")
            try require(try await store.claim(next, after: 61), equals: .claimed, "The claim after its lease")
            try require(await !store.finish(slow, with: try answer("slow"), until: .after(2_000)), "finish returns false")
            try await store.release(slow)
            try require(try await store.claim(try .sample(), after: 62), equals: .running(.seconds(59)), "A further claim")
            try require(await store.finish(next, with: try answer("next"), until: .after(2_000)), "finish returns true")
            try require(try await store.claim(try .sample(), after: 63), equals: .finished(try answer("next")), "A repetition")
        },
        .init("Gives a key to one of a hundred concurrent claims") { store in
            for round in 0..<5 {
                let outcomes = try await concurrently(100) { _ in try await store.claim(try .sample("\(round)")) }
                try require(outcomes.count { $0 == .claimed }, equals: 1, "The number of winners")
                try require(outcomes.count { $0 == .running(.seconds(60)) }, equals: 99, "The number of others")
            }
        },
        .init("Keeps the keys of clients apart") { store in
            try await store.answer(try .sample(client: "ana"), with: try answer())
            try require(try await store.claim(try .sample(client: "bea")), equals: .claimed, "A claim of another client")
        },
    ]

    private static let capacity: [IdempotencyStoreCheck] = [
        .init(
            "Removes the oldest key of a client at its bound, and nobody else's",
            IdempotencyBounds(keys: 100, keysPerClient: 3)
        ) {
            store in
            try await store.answer(try .sample("first", client: "bea"))
            for number in 0..<10 { try await store.answer(try .sample("\(number)"), after: Double(number + 1)) }
            try require(try await store.count(), equals: 4, "The number of keys")
            let other = try await store.claim(try .sample("first", client: "bea"), after: 20)
            try require(other, equals: .finished(nil), "The key of another client")
            for number in 7..<10 {
                try require(try await store.claim(try .sample("\(number)"), after: 20), equals: .finished(nil), "Key \(number)")
            }
        },
        .init("Removes the oldest key of the client with the most when it is full", IdempotencyBounds(keys: 10, keysPerClient: 8))
        {
            store in
            for number in 0..<2 { try await store.answer(try .sample("\(number)", client: "bea"), after: Double(number)) }
            for number in 0..<8 { try await store.answer(try .sample("\(number)"), after: Double(10 + number)) }
            try await store.answer(try .sample("new", client: "cia"), after: 30)
            try require(try await store.count(), equals: 10, "The number of keys")
            for number in 0..<2 {
                let kept = try await store.claim(try .sample("\(number)", client: "bea"), after: 31)
                try require(kept, equals: .finished(nil), "Key \(number) of the client with few keys")
            }
            try require(try await store.claim(try .sample("1"), after: 31), equals: .finished(nil), "The second oldest key")
            try require(try await store.claim(try .sample("0", client: "cia"), after: 31), equals: .claimed, "A new key")
            try require(try await store.claim(try .sample("1"), after: 31), equals: .claimed, "The next oldest key")
        },
        .init("Removes no running key, and is full when all are running", IdempotencyBounds(keys: 4, keysPerClient: 3)) { store in
            for number in 0..<3 { try require(try await store.claim(try .sample("\(number)")), equals: .claimed, "A claim") }
            try require(try await store.claim(try .sample("3")), equals: .full, "A fourth claim of a client")
            try require(try await store.claim(try .sample("0", client: "bea")), equals: .claimed, "A claim of another client")
            try require(try await store.claim(try .sample("1", client: "bea")), equals: .full, "A fifth claim of all")
            try require(try await store.claim(try .sample("3"), after: 61), equals: .claimed, "A claim after the leases")
            try require(try await store.count(), equals: 4, "The number of keys")
        },
        .init("Stays within its bounds and keeps a client's key among junk", IdempotencyBounds(keys: 500, keysPerClient: 100)) {
            store in
            try await store.answer(try .sample("mine", client: "victim"), with: try answer())
            for number in 0..<2_000 {
                let claim = try IdempotencyClaim.sample("\(number)", client: "junk-\(number % 50)")
                guard try await store.claim(claim, after: 1) == .claimed else { continue }
                try await store.finish(claim, with: nil, until: .after(900))
            }
            try require(await store.count() <= 500, "At most 500 keys are stored")
            let kept = try await store.claim(try .sample("mine", client: "victim"), after: 2)
            try require(kept, equals: .finished(try answer()), "The key of the client that sent no junk")
        },
    ]

    private static func answer(_ text: String = "done") throws -> IdempotentResponse {
        let headers: HTTPFields = [.contentType: "application/json", .location: "/orders/7", .vary: "Accept", .vary: "Origin"]
        guard let answer = IdempotentResponse(status: 201, headers: headers, body: Array("\(text) \u{0}ß".utf8)) else {
            throw Difference(description: "A short response can be stored")
        }
        return answer
    }
}

extension IdempotencyClaim {
    private static let secret = IdempotencySecret()

    /// A claim of a client to a key, for a request that differs from others by its body.
    public static func sample(_ key: String = "a", client: String = "ana", body: String = "x") throws -> IdempotencyClaim {
        secret.claim(
            try IdempotencyKey(key),
            client: client,
            method: "POST",
            route: "/orders",
            path: "/orders",
            body: Array(body.utf8)
        )
    }
}

extension IdempotencyStore {
    /// Claims a key for 60 s, some seconds after the start of a test's time.
    public func claim(_ claim: IdempotencyClaim, after seconds: Double = 0) async throws -> ClaimOutcome {
        try await self.claim(claim, lease: .seconds(60), at: .after(seconds))
    }

    /// Claims a key and finishes it, until 1,000 s after that.
    /// - Throws: A description of what the store did instead.
    public func answer(_ claim: IdempotencyClaim, with answer: IdempotentResponse? = nil, after seconds: Double = 0) async throws
    {
        try require(try await self.claim(claim, after: seconds), equals: .claimed, "A claim of a free key")
        try require(await finish(claim, with: answer, until: .after(1_000 + seconds)), "finish returns true")
    }
}
