public import Foundation

/// Where it is kept which keys were used, and what was answered.
///
/// A key is free, running under a lease, or finished until it expires. Each member is one atomic step. Dates come from the caller:
/// they must mean something to every process that shares the store, and after a crash.
public protocol IdempotencyStore: Sendable {
    /// Claims a key. Of concurrent callers for a free key, exactly one is told `claimed`.
    ///
    /// A key whose lease has ended is free: whoever ran under it has died, or has become so slow that it is taken for dead. Its
    /// fingerprint is forgotten with it. When there are as many keys as ``IdempotencyBounds`` allow, the oldest finished one of
    /// the client that has the most is forgotten; if all of those are running, the store is full.
    /// - Parameters:
    ///   - claim: The claim.
    ///   - lease: How long the key is the claim's if nobody finishes or releases it.
    ///   - now: The time.
    func claim(_ claim: IdempotencyClaim, lease: Duration, at now: Date) async throws -> ClaimOutcome

    /// Notes that the request was answered.
    /// - Parameters:
    ///   - claim: The claim that has the key.
    ///   - answer: What to answer repetitions with; `nil` if it is not kept.
    ///   - expiry: When the key is free again.
    /// - Returns: `false` if the key is no longer the claim's; then nothing is noted.
    @discardableResult
    func finish(_ claim: IdempotencyClaim, with answer: KeptAnswer?, until expiry: Date) async throws -> Bool

    /// Frees the key, unless it is no longer the claim's.
    func release(_ claim: IdempotencyClaim) async throws

    /// Removes what has expired, a bounded amount.
    /// - Returns: Whether there may be more.
    func sweep(at now: Date) async throws -> Bool

    /// How many keys are kept.
    func count() async throws -> Int
}

/// How many keys are kept.
public struct IdempotencyBounds: Hashable, Sendable {
    /// In all.
    public let keys: Int
    /// Of one client.
    public let keysPerClient: Int

    /// Creates bounds.
    /// - Precondition: `keysPerClient` is positive, and `keys` no smaller.
    public init(keys: Int = 100_000, keysPerClient: Int = 1_000) {
        precondition(keysPerClient > 0, "keysPerClient must be positive (is \(keysPerClient))")
        precondition(keys >= keysPerClient, "keys must be no fewer than keysPerClient (are \(keys))")
        (self.keys, self.keysPerClient) = (keys, keysPerClient)
    }
}
