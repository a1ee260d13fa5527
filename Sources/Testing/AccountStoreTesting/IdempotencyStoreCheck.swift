import Foundation
import HTTPTypes
public import Idempotency
import RateLimiting

/// A check of one rule that every implementation of `IdempotencyStore` must obey.
///
/// Run ``all`` in a parameterized test, with a new and empty store for each check. Create the store with the ``bounds`` of the check,
/// because the checks of capacity need a small store:
///
/// ```swift
/// @Test("The MySQL store of keys passes every check", arguments: IdempotencyStoreCheck.all)
/// func passes(_ check: IdempotencyStoreCheck) async throws {
///     try await check.run(MySQLIdempotencyStore(try await .empty(), bounds: check.bounds))
/// }
/// ```
///
/// The checks of concurrency start a hundred claims at once. If the keys and the accounts are in the same database, also run
/// ``IdempotentEffectCheck``. It checks that the stores commit a change of an account and its key together.
public struct IdempotencyStoreCheck: Sendable, CustomStringConvertible {
    /// The rule, as a sentence that begins with `idempotency:`. A parameterized test shows it as the name of the test case.
    public let description: String
    /// The bounds with which the test must create the store: the defaults, or a capacity of 1 MiB or 4 MiB for the checks of capacity.
    public let bounds: IdempotencyBounds
    /// The steps of the check. They throw ``Difference`` at the first violation.
    private let body: @Sendable (any IdempotencyStore) async throws -> Void

    /// Creates a check.
    /// - Parameters:
    ///   - rule: The rule as a sentence in the present tense.
    ///   - bounds: The bounds that the store must have.
    ///   - body: The steps of the check.
    init(
        _ rule: String,
        _ bounds: IdempotencyBounds = IdempotencyBounds(),
        _ body: @escaping @Sendable (any IdempotencyStore) async throws -> Void
    ) {
        description = "idempotency: \(rule)"
        self.bounds = bounds
        self.body = body
    }

    /// Runs the check. The check passes times to the store, so it doesn't wait for leases and expiries.
    /// - Parameter store: A new and empty store with the ``bounds`` of the check.
    /// - Throws: `AccountStoreCheck.Violation` if the store breaks the rule; errors of the store.
    public func run(_ store: any IdempotencyStore) async throws {
        try await AccountStoreCheck.Violation.report(of: description) { try await body(store) }
    }

    /// All checks: of the states of a key, of the ownership of keys, and of a full store.
    public static let all = states + ownership + capacity

    /// Checks of the states of a key: free, running until its lease ends, and finished until it expires.
    ///
    /// A store must return a response exactly as it was stored, byte for byte. The response of the checks has a NUL byte, a non-ASCII
    /// letter and two fields with the same name. The server encrypts a response before the store receives it, so a store must accept more
    /// bytes than the maximum size of a plain response. If a response is too large, the server finishes the key without a response. If a
    /// client then repeats the request, the server must still not run it again.
    private static let states: [IdempotencyStoreCheck] = [
        .init("Returns the response of a finished key as it was, until the key expires") { store in
            let answer = try answer()
            try await store.answer(try .sample(), with: answer)
            let early = try await store.claim(try .sample(), after: 999.9)
            try require(early, equals: .finished(answer), "A claim before the expiry")
            try require(try await store.claim(try .sample(), after: 1_000), equals: .claimed, "A claim at the expiry")
        },
        .init("Returns the encrypted body of the largest response") { store in
            let body = [UInt8](repeating: 7, count: IdempotentResponse.maximumBodySize)
            guard let largest = IdempotentResponse(status: 200, headers: [:], body: body) else {
                throw Difference(description: "A body of the maximum size can be stored")
            }
            let claim = try IdempotencyClaim.sample()
            try await store.answer(claim, with: try largest.sealed(for: claim))
            guard case .finished(let stored?) = try await store.claim(claim, after: 500) else {
                throw Difference(description: "The largest response is stored")
            }
            try require(try stored.opened(for: claim), equals: largest, "The response")
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

    /// Checks that a key belongs to one request of one client, and to one claim at a time.
    ///
    /// In each state of a key, the store compares the fingerprint of a request with the stored fingerprint. If they are equal, the request
    /// is a repetition; otherwise, it is another request. If a lease ends, another claim can take the key. The earlier claim must then
    /// neither finish nor release the key. Two clients can use the same key for different requests.
    ///
    /// Common causes of failures:
    /// - *Ignores a claim that was too slow*: `finish` and `release` compare only the digest of the key, and not the id of the claim.
    /// - *Gives a key to one of a hundred concurrent claims*: the store reads and inserts in two steps. Insert with a unique key, and let
    ///   the conflict decide.
    /// - *Keeps the keys of clients apart*: the digest of the key doesn't include the client.
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

    /// Checks of a full store.
    ///
    /// A full store must not remove a key before the key expires, because a repetition would then run the request again. Instead, the store
    /// refuses new keys and returns the delay until the next key expires. Each account, address and network may use only a part (its share)
    /// of the bytes, so that one client can't fill the store.
    ///
    /// Common causes of failures:
    /// - *Refuses a key beyond an account's share*: the store removes the oldest key instead.
    /// - *Counts the bytes of responses*: the store counts only the keys, or doesn't update the size when a claim finishes its key.
    /// - *Removes no running key*: the store treats expired and running keys in the same way.
    /// - *Keeps room for others from an attacker with 400 addresses*: the store doesn't limit the bytes of each network, or accounts and
    ///   addresses use the same part of the bytes. The store of this check has a capacity of 4 MiB.
    /// - *Leaves room in a network beside two addresses*: the store passes the bytes of the network, or of the client, for both.
    private static let capacity: [IdempotencyStoreCheck] = [
        .init("Refuses a key beyond an account's share, and removes none before it expires", IdempotencyBounds(bytes: 1 << 20)) {
            store in
            var stored = 0
            while stored < 1_000 {
                let claim = try IdempotencyClaim.sample("\(stored)")
                guard try await store.claim(claim, after: Double(stored)) == .claimed else { break }
                try await store.finish(claim, with: nil, until: .after(1_000))
                stored += 1
            }
            try require((5...10).contains(stored), "An account has 5 to 10 of 1,024 keys (has \(stored))")
            try require(try await store.claim(try .sample("new"), after: 400), equals: .full(.seconds(600)), "A further claim")
            for number in 0..<stored {
                try require(try await store.claim(try .sample("\(number)"), after: 999), equals: .finished(nil), "Key \(number)")
            }
            let other = try await store.claim(try .sample("new", client: "bea"), after: 400)
            try require(other, equals: .claimed, "A claim of another account")
            try require(try await store.claim(try .sample("new"), after: 1_000), equals: .claimed, "A claim after the expiry")
        },
        .init("Counts the bytes of responses", IdempotencyBounds(bytes: 1 << 20)) { store in
            let large = try IdempotentResponse.json(String(repeating: "x", count: 30_000))
            try await store.answer(try .sample("large"), with: large)
            try require(try await store.claim(try .sample("new"), after: 400), equals: .full(.seconds(600)), "A further claim")
            try require(try await store.claim(try .sample("large"), after: 400), equals: .finished(large), "The key")
            try require(try await store.claim(try .sample("new"), after: 1_000), equals: .claimed, "A claim after the expiry")
        },
        .init("Removes no running key, and frees the room of a released one", IdempotencyBounds(bytes: 1 << 20)) { store in
            var running: [IdempotencyClaim] = []
            while running.count < 1_000 {
                let claim = try IdempotencyClaim.sample("\(running.count)")
                guard try await store.claim(claim) == .claimed else { break }
                running.append(claim)
            }
            try require(try await store.claim(try .sample("new")), equals: .full(.seconds(60)), "A further claim")
            try require(try await store.count(), equals: running.count, "The number of keys")
            if let first = running.first { try await store.release(first) }
            try require(try await store.claim(try .sample("new")), equals: .claimed, "A claim after one was released")
            try require(try await store.claim(try .sample("newer"), after: 61), equals: .claimed, "A claim after the leases")
        },
        .init("Keeps room for others from an attacker with 400 addresses", IdempotencyBounds(bytes: 4 << 20)) { store in
            let victim = IdempotencyOwner.address("victim", network: "home")
            try await store.answer(try .sample("mine", owner: victim), with: try answer())
            // In each of 200 networks, two addresses store keys until the store refuses them.
            for number in 0..<400 {
                let owner = IdempotencyOwner.address("junk-\(number)", network: "network-\(number / 2)")
                for key in 0..<100 {
                    let claim = try IdempotencyClaim.sample("\(key)", owner: owner)
                    guard try await store.claim(claim, lease: .seconds(900), at: .after(1)) == .claimed else { break }
                }
            }
            let kept = try await store.claim(try .sample("mine", owner: victim), after: 2)
            try require(kept, equals: .finished(try answer()), "The key of before the attack")
            for number in 0..<10 {
                let owner = IdempotencyOwner.address("address-\(number)", network: "other-\(number)")
                let outcome = try await store.claim(try .sample(owner: owner), after: 2)
                try require(outcome, equals: .claimed, "A key of address \(number)")
            }
            for number in 0..<20 {
                let outcome = try await store.claim(try .sample("\(number)"), after: 2)
                try require(outcome, equals: .claimed, "Key \(number) of an account")
            }
        },
        .init("Leaves room in a network for an address beside one with many keys", IdempotencyBounds(bytes: 1 << 20)) { store in
            var outcome = ClaimOutcome.claimed
            var count = 0
            while outcome == .claimed, count < 100 {
                outcome = try await store.claim(try .sample("\(count)", owner: .address("junk", network: "home")))
                count += 1
            }
            try require(outcome, equals: .full(.seconds(60)), "A claim beyond the share of an address")
            let neighbor = IdempotencyOwner.address("neighbor", network: "home")
            try require(try await store.claim(try .sample(owner: neighbor)), equals: .claimed, "A claim of another address")
        },
        .init("Leaves room in a network beside two addresses that use their shares", IdempotencyBounds(bytes: 4 << 20)) { store in
            for number in 0..<2 {
                let owner = IdempotencyOwner.address("junk-\(number)", network: "home")
                for key in 0..<100 {
                    guard try await store.claim(try .sample("\(key)", owner: owner)) == .claimed else { break }
                }
            }
            for number in 0..<4 {
                let neighbor = IdempotencyOwner.address("neighbor-\(number)", network: "home")
                for key in 0..<2 {
                    let outcome = try await store.claim(try .sample("\(key)", owner: neighbor))
                    try require(outcome, equals: .claimed, "Key \(key) of neighbor \(number)")
                }
            }
        },
    ]

    /// Returns a response with status 201, a repeated field and a body with a NUL byte and a non-ASCII letter.
    /// - Parameter text: The beginning of the body. Checks use different texts to distinguish responses.
    /// - Throws: ``Difference`` if the response can't be stored.
    private static func answer(_ text: String = "done") throws -> IdempotentResponse {
        let headers: HTTPFields = [.contentType: "application/json", .location: "/orders/7", .vary: "Accept", .vary: "Origin"]
        guard let answer = IdempotentResponse(status: 201, headers: headers, body: Array("\(text) \u{0}ß".utf8)) else {
            throw Difference(description: "A short response can be stored")
        }
        return answer
    }
}

extension IdempotencyClaim {
    /// The random secret of all sample claims in this process. In two processes, sample claims have different digests, even for the same
    /// key.
    private static let secret = IdempotencySecret()

    /// Returns a claim of `POST /orders` by an account. All samples of a process use the same secret.
    /// - Parameters:
    ///   - key: The value of `Idempotency-Key`.
    ///   - client: The id of the account.
    ///   - body: The body of the request. Claims with another body have another fingerprint.
    /// - Throws: `IdempotencyKey.Refusal` if the key is invalid.
    public static func sample(_ key: String = "a", client: String = "ana", body: String = "x") throws -> IdempotencyClaim {
        try sample(key, owner: .account(client), body: body)
    }

    /// Returns a claim of `POST /orders` by any client. All samples of a process use the same secret.
    ///
    /// Use ``sample(_:client:body:)`` for an account.
    /// - Parameters:
    ///   - key: The value of `Idempotency-Key`.
    ///   - owner: The client.
    ///   - body: The body of the request. Claims with another body have another fingerprint.
    /// - Throws: `IdempotencyKey.Refusal` if the key is invalid.
    public static func sample(_ key: String = "a", owner: IdempotencyOwner, body: String = "x") throws -> IdempotencyClaim {
        secret.claim(
            try IdempotencyKey(key),
            owner: owner,
            method: "POST",
            route: "/orders",
            path: "/orders",
            body: Array(body.utf8)
        )
    }
}

extension IdempotencyStore {
    /// Claims a key with a lease of 60 s.
    /// - Parameters:
    ///   - claim: The claim.
    ///   - seconds: The time of the claim, in seconds after `Date.after(0)`.
    /// - Throws: Errors of the store.
    public func claim(_ claim: IdempotencyClaim, after seconds: Double = 0) async throws -> ClaimOutcome {
        try await self.claim(claim, lease: .seconds(60), at: .after(seconds))
    }

    /// Claims a free key, and finishes it with an expiry 1,000 s after the claim.
    /// - Parameters:
    ///   - claim: The claim.
    ///   - answer: The response to store; `nil` for a key without a response.
    ///   - seconds: The time of the claim, in seconds after `Date.after(0)`.
    /// - Throws: An error that describes the difference if the store doesn't claim or finish the key; errors of the store.
    public func answer(_ claim: IdempotencyClaim, with answer: IdempotentResponse? = nil, after seconds: Double = 0) async throws
    {
        try require(try await self.claim(claim, after: seconds), equals: .claimed, "A claim of a free key")
        try require(await finish(claim, with: answer, until: .after(1_000 + seconds)), "finish returns true")
    }
}
