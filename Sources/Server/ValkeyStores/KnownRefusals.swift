import RateLimiting
import Synchronization

/// A cache of the refusals of the last second. The same request is then refused without a round trip.
///
/// A cached refusal is the server's refusal with shorter delays. It becomes invalid at the first of these events:
///
/// - One of its keys gets more units, or its delay ends.
/// - This process counts or refunds one of its keys.
/// - A second has passed. Until then, the cache can't detect what other processes count or refund.
///
/// The table has two generations of 4,096 entries: when the newer one is full, it replaces the older one. Changes of keys are counted in
/// 1,024 counters, which are selected by the digest. A refusal is valid while the sum of its keys' counters is the same. A removed refusal,
/// or two keys that share a counter, only cost a round trip.
///
/// A mutex protects the state. It is locked for a few dictionary lookups and never during a round trip.
final class KnownRefusals: Sendable {
    /// One claim of a request: the key, and the units that the request claims. The list of a request's parts identifies the request in the
    /// table.
    private struct Part: Hashable {
        var table: Int
        var digest: UInt64
        var cost: Int
    }

    /// A refusal with its validity.
    private struct Refusal {
        var result: RateLimitResult
        /// The time of the reply, in nanoseconds of the process's clock.
        var received: Int64
        /// The time at which the refusal becomes invalid, in nanoseconds of the process's clock.
        var end: Int64
        /// The version of the keys when the request was sent.
        var version: UInt64
    }

    private struct State {
        var newer: [[Part]: Refusal] = [:]
        var older: [[Part]: Refusal] = [:]
        /// The numbers of changes of keys, by a part of their digests, and of all keys.
        var changes = [UInt64](repeating: 0, count: 1_024)
        var commonChanges: UInt64 = 0

        /// Returns a number that increases when one of the keys changes.
        func version(of claims: [LimitTables.Claim]) -> UInt64 {
            claims.reduce(commonChanges) { $0 + changes[place(of: $1.digest)] }
        }

        /// The counter of a key.
        func place(of digest: UInt64) -> Int { Int(digest % UInt64(changes.count)) }
    }

    /// Half of the largest number of refusals.
    private static let capacity = 4_096
    /// The longest validity in nanoseconds: a second.
    private static let longest: Int64 = 1_000_000_000

    private let state = Mutex(State())

    /// Returns the cached refusal of a request.
    /// - Parameters:
    ///   - claims: The claims of the request.
    ///   - now: The time in nanoseconds of the process's clock.
    /// - Returns: The refusal with delays that are shorter by the time since the reply, or `nil` if none is valid; and the version of the
    ///   keys, which the caller passes to ``note(_:_:to:version:sent:received:)``.
    func find(_ claims: [LimitTables.Claim], at now: Int64) -> (result: RateLimitResult?, version: UInt64) {
        let (refusal, version) = state.withLock { state -> (Refusal?, UInt64) in
            let version = state.version(of: claims)
            guard !state.newer.isEmpty || !state.older.isEmpty else { return (nil, version) }
            let parts = Self.parts(of: claims)
            guard let refusal = state.newer[parts] ?? state.older[parts], refusal.version == version, now < refusal.end
            else { return (nil, version) }
            return (refusal, version)
        }
        return (refusal.map { $0.result.later(by: .nanoseconds(now - $0.received)) }, version)
    }

    /// Stores a refusal by the server, both as the caller received it and as the reply of the script, whose delays determine how long it is
    /// valid.
    ///
    /// The refusal is dropped if one of the keys has changed since `version`, because the server may have decided before that change.
    /// - Parameters:
    ///   - claims: The claims of the request.
    ///   - version: The version of the keys before the request was sent to the server.
    ///   - sent: The time when the request was sent to the server, in nanoseconds of the process's clock.
    ///   - received: The time of the reply, in nanoseconds of the process's clock.
    func note(
        _ result: RateLimitResult,
        _ reply: LimitReply,
        to claims: [LimitTables.Claim],
        version: UInt64,
        sent: Int64,
        received: Int64
    ) {
        // Until the first of these changes, the server repeats the refusal.
        let changes = reply.standings.flatMap { [$0.delay ?? 0, $0.reset] }.filter { $0 > 0 }
        let lifetime = min(Self.longest, changes.min().map { $0 * 1_000 } ?? Self.longest)
        let refusal = Refusal(result: result, received: received, end: sent + lifetime, version: version)
        guard received < refusal.end else { return }
        state.withLock { state in
            guard state.version(of: claims) == version else { return }
            if state.newer.count >= Self.capacity { (state.older, state.newer) = (state.newer, [:]) }
            state.newer[Self.parts(of: claims)] = refusal
        }
    }

    /// Invalidates the refusals of keys that this process counted or refunded.
    /// - Complexity: O(number of digests).
    func noteChange(of digests: some Sequence<UInt64>) {
        state.withLock { state in
            for digest in digests { state.changes[state.place(of: digest)] += 1 }
        }
    }

    /// Removes all refusals, and invalidates those whose requests are in flight.
    func removeAll() {
        state.withLock { state in
            (state.newer, state.older) = ([:], [:])
            state.commonChanges += 1
        }
    }

    /// The key of a request in the table.
    private static func parts(of claims: [LimitTables.Claim]) -> [Part] {
        claims.map { Part(table: $0.table, digest: $0.digest, cost: $0.cost) }
    }
}

extension RateLimitResult {
    /// Returns the refusal after some time in which nothing else changes.
    fileprivate func later(by time: Duration) -> RateLimitResult {
        func later(_ refusal: Refusal) -> Refusal {
            Refusal(policy: refusal.policy, retryAfter: refusal.retryAfter.map { $0 - time })
        }
        var result = self
        for index in limits.indices where limits[index].reset > .zero { result.limits[index].reset -= time }
        result.refusal = refusal.map(later)
        result.shadowRefusal = shadowRefusal.map(later)
        return result
    }
}
