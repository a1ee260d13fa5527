import RateLimiting
import Synchronization

/// A cache of the refusals of the last second. If a client repeats a refused request, the store refuses it again without a round trip.
///
/// The cache subtracts the time since the reply from the delays of a refusal. A cached refusal becomes invalid at the first of these
/// events:
///
/// - One of the refusal's keys has more units available, or the delay of one of these keys ends.
/// - This process counts or refunds one of the refusal's keys.
/// - A second has passed. The cache doesn't detect changes by other processes during this second.
///
/// The cache has two generations of at most 4,096 refusals each. When the newer generation is full, it replaces the older one, and a new
/// generation begins empty.
///
/// The cache has 1,024 counters for changes of keys. The digest of a key selects its counter. A refusal is valid while the sum of the
/// counters of its keys is unchanged. If two keys share a counter, or if the cache removes a refusal early, the next request only needs
/// another round trip.
///
/// A mutex protects the state. The cache locks the mutex only for a few dictionary lookups, and never during a round trip.
final class KnownRefusals: Sendable {
    /// One claim of a request: the key, and the units that the request claims. The cache finds a refusal by the parts of all claims of the
    /// request.
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
        /// The sum of the counters of the keys before the request was sent to the server.
        var version: UInt64
    }

    /// The two generations of refusals, and the counters of changes.
    private struct State {
        /// The refusals of the newer generation.
        var newer: [[Part]: Refusal] = [:]
        /// The refusals of the older generation. A lookup doesn't move a refusal from here to the newer generation.
        var older: [[Part]: Refusal] = [:]
        /// The counters of changes. The digest of a key selects its counter.
        var changes = [UInt64](repeating: 0, count: 1_024)
        /// The number of changes that concern all keys.
        var commonChanges: UInt64 = 0

        /// Returns the sum of the counters of the keys, which increases when one of the keys changes.
        func version(of claims: [LimitTables.Claim]) -> UInt64 {
            claims.reduce(commonChanges) { $0 + changes[place(of: $1.digest)] }
        }

        /// Returns the index of a key's counter.
        func place(of digest: UInt64) -> Int { Int(digest % UInt64(changes.count)) }
    }

    /// The number of refusals in one generation.
    private static let capacity = 4_096
    /// The longest time for which a refusal is valid, in nanoseconds: a second.
    private static let longest: Int64 = 1_000_000_000

    private let state = Mutex(State())

    /// Returns the cached refusal of a request.
    /// - Parameters:
    ///   - claims: The claims of the request.
    ///   - now: The time in nanoseconds of the process's clock.
    /// - Returns: The refusal with its remaining delays, or `nil` if no valid refusal is cached. The method also returns the version of the
    ///   keys, which is the sum of their change counters. The caller passes the version to ``note(_:_:to:version:sent:received:)``.
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

    /// Stores a refusal by the server. The delays in the reply of the script determine how long the refusal is valid.
    ///
    /// If one of the keys has changed since `version`, the method drops the refusal, because the server may have decided before this
    /// change.
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
        // The server's decision stays the same until the first of these times has passed.
        let changes = reply.standings.flatMap { [$0.delay ?? 0, $0.reset] }.filter { $0 > 0 }
        let lifetime = min(Self.longest / 1_000, changes.min() ?? .max) * 1_000
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

    /// Removes all refusals. Refusals of requests that are still in flight are not cached when they arrive.
    func removeAll() {
        state.withLock { state in
            (state.newer, state.older) = ([:], [:])
            state.commonChanges += 1
        }
    }

    /// Returns the parts by which the cache finds the refusal of a request.
    private static func parts(of claims: [LimitTables.Claim]) -> [Part] {
        claims.map { Part(table: $0.table, digest: $0.digest, cost: $0.cost) }
    }
}

extension RateLimitResult {
    /// Returns the refusal with delays that are shorter by the given time, as the server would report them after this time.
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
