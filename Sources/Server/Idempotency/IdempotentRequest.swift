public import Foundation
import Synchronization

/// A request that has claimed its idempotency key and is being worked on.
///
/// With it, a handler finishes the key in the transaction of its work: either both are stored or neither. Without it the middleware
/// finishes the key after the work, and a process that is killed in between leaves a key whose request is done again when the lease ends.
public final class IdempotentRequest: Sendable {
    /// The request of the calling task; `nil` if it has no key.
    @TaskLocal public static var current: IdempotentRequest?

    private struct State {
        var expiry: Date?
        var effect: IdempotentResponse?
        var isFinished = false
    }

    /// The claim that has the key.
    public let claim: IdempotencyClaim
    private let lifetime: Duration
    private let now: @Sendable () -> Date
    private let database: ObjectIdentifier?
    private let state = Mutex(State())

    /// Creates a request.
    /// - Parameters:
    ///   - lifetime: How long the key is stored.
    ///   - database: The database of the key's store; see ``IdempotencyStore/database``.
    package init(
        _ claim: IdempotencyClaim,
        lifetime: Duration,
        database: ObjectIdentifier?,
        now: @escaping @Sendable () -> Date
    ) {
        (self.claim, self.lifetime, self.database, self.now) = (claim, lifetime, database, now)
    }

    /// When the finished key expires. It stays the same, so that a transaction that is repeated stores the same values.
    public var expiry: Date {
        state.withLock { state in
            let expiry = state.expiry ?? now().addingTimeInterval(lifetime / .seconds(1))
            state.expiry = expiry
            return expiry
        }
    }

    /// Returns a response as a store stores it: with an encrypted body.
    public func stored(_ answer: IdempotentResponse) throws -> IdempotentResponse { try answer.sealed(for: claim) }

    /// Notes that a transaction finishes the key. Stores of keys call it in their transactions.
    public func noteFinished() { state.withLock { $0.isFinished = true } }

    /// Notes that the transaction has failed.
    package func noteFailed() { state.withLock { $0.isFinished = false } }

    /// Whether a transaction has finished the key.
    package var isFinished: Bool { state.withLock(\.isFinished) }

    /// Executes the work of a request whose response is known before. The store that writes the effect finishes the key with it.
    package func expecting<Value>(_ answer: IdempotentResponse?, _ work: () async throws -> Value) async rethrows -> Value {
        state.withLock { $0.effect = answer }
        defer { state.withLock { $0.effect = nil } }
        return try await work()
    }

    /// The response that finishes the key with the next effect in a database.
    fileprivate func effect(in database: ObjectIdentifier) -> IdempotentResponse? {
        self.database == database ? state.withLock(\.effect) : nil
    }
}

/// The effect of a request whose response is known before: what a store writes for it, and the end of its key, are one transaction.
package struct IdempotentEffect: Sendable {
    package let request: IdempotentRequest
    package let answer: IdempotentResponse

    /// Returns the effect that the calling task is about to write to a database, if its key is in it.
    package static func current(in database: AnyObject) -> IdempotentEffect? {
        guard let request = IdempotentRequest.current, let answer = request.effect(in: ObjectIdentifier(database)) else {
            return nil
        }
        return IdempotentEffect(request: request, answer: answer)
    }
}

/// The key of a request belongs to another process by now, because its lease ended while the request was worked on. The transaction is rolled back:
/// the other process does the work.
public struct LostIdempotencyKey: Error {
    /// Creates the error.
    public init() {}
}
