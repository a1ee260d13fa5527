import AccountContract
public import AccountCore
import ErrorContract
import Foundation
public import Idempotency

/// One thing that the stores of a database do with a mutation whose request has an idempotency key in the same database: they commit both in
/// one transaction, or neither.
public struct IdempotentEffectCheck: Sendable, CustomStringConvertible {
    /// The rule, as a sentence.
    public let description: String
    private let mutation: @Sendable (any AccountStores) async throws -> Mutation

    private struct Mutation: Sendable {
        /// Makes the change; `false` if there is nothing to change.
        let run: @Sendable () async throws -> Bool
        /// Whether the change is stored.
        let isStored: @Sendable () async throws -> Bool
        /// Whether it can be made again, and then changes nothing.
        var isRepeatable = true
    }

    /// Tries the stores of a new and empty database.
    /// - Throws: `AccountStoreCheck.Violation` if they do not do what they should; errors of the stores.
    public func run(_ stores: any AccountStores, _ keys: any IdempotencyStore) async throws {
        do {
            try await check(stores, keys)
        } catch let difference as Difference {
            throw AccountStoreCheck.Violation(description: "\(description): \(difference)")
        }
    }

    /// All checks.
    public static let all: [IdempotentEffectCheck] = [
        .init("A reset request finishes its key with the email") { stores in
            let intent = MailIntent(
                subject: .passwordReset(try EmailAddress("ana@example.com")),
                language: .english,
                createdAt: .after(0)
            )
            return Mutation(
                run: {
                    try await stores.intents.enqueue(intent)
                    return true
                },
                isStored: { try await stores.intents.oldest(at: .after(100)) != nil },
                isRepeatable: false
            )
        },
        .init("A confirmation finishes its key with the password") { stores in
            let account = try await stores.addAccount()
            let token = try await stores.mint(for: account)
            let confirmation = MailIntent(subject: .passwordChanged(account.id), language: .english, createdAt: .after(1))
            return Mutation {
                try await stores.resetTokens.confirm(token, passwordHash: "new hash", confirmation: confirmation, at: .after(2))
            } isStored: {
                try await stores.accounts.account(id: account.id)?.passwordHash == "new hash"
            }
        },
        .init("A sign-out finishes its key with the session's end") { stores in
            let account = try await stores.addAccount()
            let session = try await OpenedSession(stores, account: account)
            return Mutation {
                try await stores.sessions.end(refresh: session.first)
                return true
            } isStored: {
                try await !stores.sessions.isAlive(session.session.id)
            }
        },
    ]

    private init(_ rule: String, _ mutation: @escaping @Sendable (any AccountStores) async throws -> Mutation) {
        description = "idempotency: \(rule)"
        self.mutation = mutation
    }

    private func check(_ stores: any AccountStores, _ keys: any IdempotencyStore) async throws {
        let mutation = try await mutation(stores)
        let answer = try IdempotentResponse.json(["done": true])
        // A claim that has lost its key to another changes nothing.
        let lost = try IdempotencyClaim.sample("lost")
        try require(try await keys.claim(lost), equals: .claimed, "A claim")
        try require(try await keys.claim(try .sample("lost"), after: 61), equals: .claimed, "A claim after the lease")
        var isRefused = false
        do {
            _ = try await work(on: lost, keys, answer, mutation).isStored
        } catch is LostIdempotencyKey {
            isRefused = true
        }
        try require(isRefused, "The work on a lost key throws LostIdempotencyKey")
        try require(try await !mutation.isStored(), "The work on a lost key is not stored")
        // The claim that has the key does both.
        let claim = try IdempotencyClaim.sample("kept")
        try require(try await keys.claim(claim), equals: .claimed, "A claim")
        let done = try await work(on: claim, keys, answer, mutation)
        try require(done.isStored && done.request.isFinished, "The work is done and has finished its key")
        try require(try await mutation.isStored(), "The work is stored")
        guard case .finished(let stored?) = try await keys.claim(try .sample("kept"), after: 1) else {
            throw Difference(description: "A repetition gets the response")
        }
        try require(try stored.opened(for: claim), equals: answer, "The response")
        guard mutation.isRepeatable else { return }
        // Where nothing is changed, the response is not that of a success.
        let other = try IdempotencyClaim.sample("other")
        try require(try await keys.claim(other), equals: .claimed, "A claim")
        let again = try await work(on: other, keys, answer, mutation)
        try require(again.isStored || !again.request.isFinished, "Work that is refused finishes no key")
    }

    private func work(
        on claim: IdempotencyClaim,
        _ keys: any IdempotencyStore,
        _ answer: IdempotentResponse,
        _ mutation: Mutation
    ) async throws -> (isStored: Bool, request: IdempotentRequest) {
        let request = IdempotentRequest(claim, lifetime: .seconds(1_000), database: keys.database) { .after(0) }
        let isStored = try await IdempotentRequest.$current.withValue(request) {
            try await request.expecting(answer, mutation.run)
        }
        return (isStored, request)
    }
}
