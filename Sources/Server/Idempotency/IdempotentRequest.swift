public import Foundation
import Synchronization

/// A request that has claimed an idempotency key and is being executed.
///
/// With it, a handler finishes the key in the transaction of its work, so that either both are committed or neither. Without it, the
/// middleware finishes the key after the work. If the process is killed in between, the key stays claimed until its lease ends, and a
/// repetition then executes the request a second time.
///
/// Handlers use `IdempotentRequest.commit` of `ServerMiddleware`, which passes the ``current`` request to a closure:
///
/// ```swift
/// try await IdempotentRequest.commit { request in
///     try await database.write { database in
///         try database.execute(sql: "INSERT INTO note (title) VALUES (?)", arguments: [title])
///         let response = try IdempotentResponse.json(["id": database.lastInsertedRowID], status: 201)
///         try request?.finish(with: response, in: database)
///         return response
///     }
/// }
/// ```
/// All members are thread-safe.
public final class IdempotentRequest: Sendable {
    /// The request that the calling task executes; `nil` if the request has no key. Child tasks inherit the value; detached tasks don't.
    @TaskLocal public static var current: IdempotentRequest?

    private struct State {
        /// The value of `expiry` once it was read.
        var expiry: Date?
        /// The response with which the next store that writes an effect finishes the key.
        var effect: IdempotentResponse?
        /// Whether a transaction has finished the key. If so, the middleware doesn't.
        var isFinished = false
    }

    /// The claim that has the key, as long as its lease lasts.
    public let claim: IdempotencyClaim
    private let lifetime: Duration
    private let now: @Sendable () -> Date
    private let database: ObjectIdentifier?
    private let state = Mutex(State())

    /// Creates a request.
    /// - Parameters:
    ///   - claim: The claim that has the key.
    ///   - lifetime: How long the finished key is stored.
    ///   - database: The database of the key's store; see ``IdempotencyStore/database``.
    ///   - now: The wall clock.
    package init(
        _ claim: IdempotencyClaim,
        lifetime: Duration,
        database: ObjectIdentifier?,
        now: @escaping @Sendable () -> Date
    ) {
        (self.claim, self.lifetime, self.database, self.now) = (claim, lifetime, database, now)
    }

    /// The time at which the finished key expires.
    ///
    /// It is computed when it is first read, and stays the same. A transaction that runs again after a lost connection therefore stores the
    /// same values, and the store recognizes them.
    public var expiry: Date {
        state.withLock { state in
            let expiry = state.expiry ?? now().addingTimeInterval(lifetime / .seconds(1))
            state.expiry = expiry
            return expiry
        }
    }

    /// Returns a response with an encrypted body, which a store saves for repetitions.
    /// - Throws: `CryptoKitError`.
    public func stored(_ response: IdempotentResponse) throws -> IdempotentResponse { try response.sealed(for: claim) }

    /// Records that a transaction finishes the key, so that the middleware doesn't finish it after the response.
    ///
    /// Stores of keys call it within the transaction, after the statement that finishes the key. If the transaction fails, `commit` undoes
    /// the record.
    public func noteFinished() { state.withLock { $0.isFinished = true } }

    /// Records that the transaction has failed, so that the middleware releases or finishes the key after the route.
    package func noteFailed() { state.withLock { $0.isFinished = false } }

    /// Whether a transaction has finished the key or is about to.
    package var isFinished: Bool { state.withLock(\.isFinished) }

    /// Executes the work of a request whose response is known before the work.
    ///
    /// A store that writes to the database of the keys finds the response with `IdempotentEffect.current(in:)`, and finishes the key in
    /// the transaction of its write. The work may contain one such write; a second would find the key finished.
    /// - Parameters:
    ///   - response: The response to repetitions; `nil` if it can't be stored. Then no store finishes the key.
    ///   - work: The work.
    package func expecting<Value>(_ response: IdempotentResponse?, _ work: () async throws -> Value) async rethrows -> Value {
        state.withLock { $0.effect = response }
        defer { state.withLock { $0.effect = nil } }
        return try await work()
    }

    /// Returns the response with which a write to the database must finish the key; `nil` if the key is in another database.
    fileprivate func effect(in database: ObjectIdentifier) -> IdempotentResponse? {
        self.database == database ? state.withLock(\.effect) : nil
    }
}

/// An idempotency key that a store must finish in the same transaction as a change, and the response to store with it.
///
/// The stores of emails, reset tokens and sessions check it in the methods that change data for requests with keys.
package struct IdempotentEffect: Sendable {
    /// The request that has the key.
    package let request: IdempotentRequest
    /// The response to repetitions, not yet encrypted.
    package let response: IdempotentResponse

    /// Returns the key that a change to a database by the calling task must finish.
    /// - Parameter database: The object that identifies the database; see ``IdempotencyStore/database``.
    /// - Returns: `nil` if the task's request has no key, its response is not known yet, or the key is in another database.
    package static func current(in database: AnyObject) -> IdempotentEffect? {
        guard let request = IdempotentRequest.current, let response = request.effect(in: ObjectIdentifier(database)) else {
            return nil
        }
        return IdempotentEffect(request: request, response: response)
    }
}

/// An error that rolls back the transaction of a request whose key belongs to another request.
///
/// The lease of the key ended while the request was executed, and a repetition has claimed the key. The repetition does the work, so the
/// transaction must change nothing. The middleware converts the error to 409 `REQUEST_CONFLICT` with a Retry-After of one second.
public struct LostIdempotencyKey: Error {
    /// Creates the error.
    public init() {}
}
