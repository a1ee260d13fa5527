public import Foundation
import Synchronization

/// A request that has claimed an idempotency key and is being executed.
///
/// After the work, the key must be finished: the store saves the response to the request under the key. With an `IdempotentRequest`, a
/// handler finishes the key in the same transaction as its work. The database then commits both or neither of them. If the handler doesn't
/// finish the key, the middleware finishes it after the work. If the process crashes between the work and this step, the key stays claimed
/// until its lease ends. If the client repeats the request after that, the server executes the request a second time.
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

    /// The values that a transaction and the middleware share.
    private struct State {
        /// The value of `expiry`; `nil` before the first read.
        var expiry: Date?
        /// The response to store with the key, when a store of other data writes its next change; `nil` if the response is not known yet.
        var effect: IdempotentResponse?
        /// Whether a transaction has finished the key. If so, the middleware doesn't finish the key again.
        var isFinished = false
    }

    /// The claim that has the key while its lease lasts.
    public let claim: IdempotencyClaim
    /// The time for which the store keeps the finished key.
    private let lifetime: Duration
    /// The wall clock.
    private let now: @Sendable () -> Date
    /// The database of the store that contains the key; `nil` if no other store can use this database.
    private let database: ObjectIdentifier?
    private let state = Mutex(State())

    /// Creates a request.
    /// - Parameters:
    ///   - claim: The claim that has the key.
    ///   - lifetime: The time for which the store keeps the finished key.
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
    /// The first read computes the time, and later reads return the same time. If the connection to the database is lost, the transaction
    /// can run a second time. Both runs then store the same expiry, by which the store recognizes the second run.
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

    /// Records that a transaction finishes the key, so that the middleware doesn't finish it again after the response.
    ///
    /// A store of keys calls this method within the transaction, after the statement that finishes the key. If the transaction fails,
    /// `commit` removes this record.
    public func noteFinished() { state.withLock { $0.isFinished = true } }

    /// Records that the transaction has failed. The middleware then releases or finishes the key after the route.
    package func noteFailed() { state.withLock { $0.isFinished = false } }

    /// Whether a transaction has finished the key or is about to finish it.
    package var isFinished: Bool { state.withLock(\.isFinished) }

    /// Executes the work of a request whose response is known before the work.
    ///
    /// A store of other data can use the same database as the store of the keys. Such a store reads the response with
    /// `IdempotentEffect.current(in:)`, and finishes the key in the transaction of its write. The work may contain only one write of such a
    /// store. A second write would fail, because the key is already finished.
    /// - Parameters:
    ///   - response: The response to repetitions; `nil` if it can't be stored. With `nil`, no store finishes the key.
    ///   - work: A closure that does the work of the request.
    package func expecting<Value>(_ response: IdempotentResponse?, _ work: () async throws -> Value) async rethrows -> Value {
        state.withLock { $0.effect = response }
        defer { state.withLock { $0.effect = nil } }
        return try await work()
    }

    /// Returns the response with which a write to a database must finish the key; `nil` if the response is not known yet, or if the key is
    /// in another database.
    fileprivate func effect(in database: ObjectIdentifier) -> IdempotentResponse? {
        self.database == database ? state.withLock(\.effect) : nil
    }
}

/// An idempotency key that a store must finish in the same transaction as a change, and the response to store with the key.
///
/// The stores of emails, reset tokens and sessions check this value in each method that changes data for requests with keys.
package struct IdempotentEffect: Sendable {
    /// The request that has the key.
    package let request: IdempotentRequest
    /// The response to repetitions. It is not encrypted yet.
    package let response: IdempotentResponse

    /// Returns the key that the calling task must finish in its next change of a database.
    /// - Parameter database: The object that identifies the database; see ``IdempotencyStore/database``.
    /// - Returns: `nil` if the task's request has no key, if its response is not known yet, or if the key is in another database.
    package static func current(in database: AnyObject) -> IdempotentEffect? {
        guard let request = IdempotentRequest.current, let response = request.effect(in: ObjectIdentifier(database)) else {
            return nil
        }
        return IdempotentEffect(request: request, response: response)
    }
}

/// An error that rolls back a transaction, because its request has lost its key to a repetition.
///
/// A request loses its key if the lease of the key ends while the server executes the request, and a repetition claims the key. The
/// repetition then does the work, so the transaction of the first request must change nothing. The middleware converts the error to 409
/// `REQUEST_CONFLICT` with a Retry-After of one second.
public struct LostIdempotencyKey: Error {
    /// Creates the error.
    public init() {}
}
