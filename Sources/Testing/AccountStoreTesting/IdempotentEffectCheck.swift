import AccountContract
public import AccountCore
import ErrorContract
import Foundation
public import Idempotency

/// A check that the store of accounts and the store of idempotency keys work together in one database. If a request with an idempotency key
/// changes an account, the stores must commit the change and the response for the key in one transaction.
///
/// Each check tests these cases. The check of a reset request omits the last case, because a second reset request is also a change:
/// 1. If another request has taken the key, the request must throw `LostIdempotencyKey` and change nothing.
/// 2. If the request still has its key, the request must make the change and finish the key, that is, store the response for the key.
/// 3. A repetition of the request must return the stored response.
/// 4. If a request with another key finds nothing left to change, it must not finish its key with the response of a success. A sign-out is
///    the exception: it succeeds even if its token is unknown, so it must finish its key.
///
/// Use ``IdempotencyStoreCheck`` for the store of the keys alone.
///
/// ```swift
/// @Test("Mutations commit with their keys", arguments: IdempotentEffectCheck.all)
/// func commits(_ check: IdempotentEffectCheck) async throws {
///     let database = try await MySQLDatabase.empty()
///     try await check.run(MySQLAccountStores(database), MySQLIdempotencyStore(database))
/// }
/// ```
///
/// Only stores that share a database can pass. If the keys are in another database, the server makes the change first and then finishes the
/// key. If the server crashes between these two steps, a repetition of the request makes the change again.
public struct IdempotentEffectCheck: Sendable, CustomStringConvertible {
    /// The rule, as a sentence that begins with `idempotency:`.
    public let description: String
    /// Prepares the accounts and tokens of the check, and returns the change.
    private let mutation: @Sendable (any AccountStores) async throws -> Mutation

    /// A change of the stores, and a function that finds out whether the change is stored.
    private struct Mutation: Sendable {
        /// Makes the change, or throws an error if the request has lost its key. Returns `false` if there is nothing to change.
        let run: @Sendable () async throws -> Bool
        /// Returns whether the change is stored.
        let isStored: @Sendable () async throws -> Bool
        /// Whether the check makes the change again after a success, with another key. The repeated call then finds nothing left to change.
        var isRepeatable = true
        /// Whether the change also succeeds if there is nothing left to change.
        var alwaysSucceeds = false
    }

    /// Runs the check on the stores of a new and empty database.
    ///
    /// The check creates its accounts and tokens in the database, so use the stores for one check only.
    /// - Parameters:
    ///   - stores: The stores of the accounts.
    ///   - keys: The store of the idempotency keys, in the same database.
    /// - Throws: `AccountStoreCheck.Violation` if the stores violate the rule; errors of the stores.
    public func run(_ stores: any AccountStores, _ keys: any IdempotencyStore) async throws {
        try await AccountStoreCheck.Violation.report(of: description) { try await check(stores, keys) }
    }

    /// All checks: a reset request, the confirmation of a reset, a sign-out, the end of a session, a change by a link, and an activation.
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
                try await stores.resetTokens.confirm(
                    token,
                    passwordHash: "new hash",
                    epoch: 1,
                    confirmation: confirmation,
                    at: .after(2)
                )
            } isStored: {
                try await stores.accounts.account(id: account.id)?.passwordHash == "new hash"
            }
        },
        .init("A sign-out finishes its key with the session's end") { stores in
            let account = try await stores.addAccount()
            let session = try await OpenedSession(stores, account: account)
            return Mutation(
                run: {
                    try await stores.sessions.end(refresh: session.first)
                    return true
                },
                isStored: { try await !stores.sessions.isAlive(session.session.id) },
                alwaysSucceeds: true
            )
        },
        .init("The end of a session by its id finishes its key with the session's end") { stores in
            let account = try await stores.addAccount()
            let session = try await OpenedSession(stores, account: account)
            return Mutation {
                try await stores.sessions.end(session.session.id, of: account.id)
            } isStored: {
                try await !stores.sessions.isAlive(session.session.id)
            }
        },
        .init("A change of an account finishes its key with the change") { stores in
            let account = try await stores.addAccount()
            let name = try FirstName("Bea")
            return Mutation {
                try await stores.records.change(account.id, at: .after(1)) { $0.account.firstName = name } != nil
            } isStored: {
                try await stores.accounts.account(id: account.id)?.firstName == name
            }
        },
        .init("An activation finishes its key with the account") { stores in
            let link = try StoredLink.registration(of: "ana@example.com")
            try await stores.records.insert(link)
            let account = try Account.sample()
            return Mutation {
                try await stores.records.activate(link.digest, as: try .sample(), at: .after(1))
            } isStored: {
                try await stores.accounts.account(email: account.email) != nil
            }
        },
    ]

    /// Creates a check.
    /// - Parameters:
    ///   - rule: The rule as a sentence in the present tense.
    ///   - mutation: Prepares the stores and returns the change.
    private init(_ rule: String, _ mutation: @escaping @Sendable (any AccountStores) async throws -> Mutation) {
        description = "idempotency: \(rule)"
        self.mutation = mutation
    }

    /// Tests the cases of ``IdempotentEffectCheck`` with the change of this check.
    /// - Parameters:
    ///   - stores: The stores of the accounts.
    ///   - keys: The store of the keys, in the same database.
    /// - Throws: ``Difference`` at the first violation; errors of the stores.
    private func check(_ stores: any AccountStores, _ keys: any IdempotencyStore) async throws {
        let mutation = try await mutation(stores)
        let answer = try IdempotentResponse.json(["done": true])
        // Another claim has taken the key after the lease, so the stores must roll the change back.
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
        // The claim still has its key, so the stores must store the change and the response.
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
        // The second request changes nothing. So the stores must not store the response of a success for its key, unless it also succeeds.
        let other = try IdempotencyClaim.sample("other")
        try require(try await keys.claim(other), equals: .claimed, "A claim")
        let again = try await work(on: other, keys, answer, mutation)
        if mutation.alwaysSucceeds {
            try require(again.request.isFinished, "Work that succeeds without a change finishes its key")
        } else {
            try require(again.isStored || !again.request.isFinished, "Work that is refused finishes no key")
        }
    }

    /// Makes the change within a request that holds a key.
    /// - Parameters:
    ///   - claim: The claim to the key.
    ///   - keys: The store of the key.
    ///   - answer: The response with which the change finishes the key.
    ///   - mutation: The change.
    /// - Returns: Whether `mutation` made the change; and the request, which records whether its key is finished.
    /// - Throws: `LostIdempotencyKey` if the key belongs to another request.
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
