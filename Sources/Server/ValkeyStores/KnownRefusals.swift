import RateLimiting
import Synchronization

/// A cache of the refusals of the last second. If the same request is repeated, it is refused without a round trip.
///
/// A cached refusal is the server's refusal, with delays that are shorter by the time since then. It becomes invalid at the first of these
/// events:
///
/// - One of its keys gets more units, or its delay ends.
/// - This process counts or refunds one of its keys.
/// - A second has passed. Until then, the cache can't detect what other processes count or refund.
///
/// The table has two generations of 4,096 entries. When the newer generation is full, it replaces the older one.
///
/// The cache has 1,024 counters for changes of keys. The digest of a key selects its counter. A refusal is valid while the sum of the
/// counters of its keys is unchanged. If two keys share a counter, or if a refusal is removed, this costs only a round trip.
///
/// A mutex protects the state. It is locked only for a few dictionary lookups, and never during a round trip.
final class KnownRefusals: Sendable {
    /// One claim of a request: the key, and the units that the request claims. All parts of a request together are its key in the table.
    private struct Part: Hashable {
        var table: Int
        var digest: UInt64
        var cost: Int
    }

    /// A refusal, and the conditions under which it is valid.
    private struct Refusal {
        var result: RateLimitResult
        /// The time of the reply, in nanoseconds of the process's clock.
        var received: Int64
        /// The time at which the refusal becomes invalid, in nanoseconds of the process's clock.
        var end: Int64
        /// The version of the keys when the request was sent.
        var version: UInt64
    }

    /// The two generations of refusals, and the counters of changes.
    private struct State {
        /// The refusals of the newer generation.
        var newer: [[Part]: Refusal] = [:]
        /// The refusals of the older generation. A refusal that is found here isn't moved.
        var older: [[Part]: Refusal] = [:]
        /// The number of changes for each part of the digests. Changes of all keys are counted in `commonChanges` instead.
        var changes = [UInt64](repeating: 0, count: 1_024)
        /// The number of changes that concern all keys.
        var commonChanges: UInt64 = 0

        /// Returns a number that increases when one of the keys changes.
        func version(of claims: [LimitTables.Claim]) -> UInt64 {
            claims.reduce(commonChanges) { $0 + changes[place(of: $1.digest)] }
        }

        /// Returns the counter of a key.
        func place(of digest: UInt64) -> Int { Int(digest % UInt64(changes.count)) }
    }

    /// The number of refusals in one generation. The table has two generations.
    private static let capacity = 4_096
    /// The longest time for which a refusal is valid, in nanoseconds: a second.
    private static let longest: Int64 = 1_000_000_000

    private let state = Mutex(State())

    /// Returns the cached refusal of a request.
    /// - Parameters:
    ///   - claims: The claims of the request.
    ///   - now: The time in nanoseconds of the process's clock.
    /// - Returns: The refusal, and the version of the keys. The delays of the refusal are shorter by the time since the reply. The refusal
    ///   is `nil` if no valid one is cached. The caller passes the version to ``note(_:_:to:version:sent:received:)``.
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

    /// Stores a refusal by the server in two forms: the result for the caller, and the reply of the script. The delays in the reply
    /// determine how long the refusal is valid.
    ///
    /// If one of the keys has changed since `version`, the refusal is dropped, because the server may have decided before that change.
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
        // The server repeats the refusal until the first of these changes.
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

    /// Removes all refusals. Also invalidates refusals whose requests are still in flight.
    func removeAll() {
        state.withLock { state in
            (state.newer, state.older) = ([:], [:])
            state.commonChanges += 1
        }
    }

    /// Returns the key of a request in the table.
    private static func parts(of claims: [LimitTables.Claim]) -> [Part] {
        claims.map { Part(table: $0.table, digest: $0.digest, cost: $0.cost) }
    }
}

extension RateLimitResult {
    /// Returns the refusal after some time, if nothing else changes in that time.
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
