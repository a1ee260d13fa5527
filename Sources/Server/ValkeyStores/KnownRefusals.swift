import RateLimiting
import Synchronization

/// Stores the refusals of the last second, so that the same request is refused without a round trip. The number is bounded; a removed
/// refusal costs one more round trip.
///
/// A refusal is repeated as the server would repeat it, with shorter delays. It ends when a key has more units, when this process counts or
/// refunds one of the keys, and after a second, because other processes count, too.
///
/// The table has two generations of 4,096 entries: when the newer one is full, it replaces the older one. Changes of keys are counted in
/// 1,024 counters by a part of the digest; a refusal is valid while the sum of its keys' counters is the same. Two keys that share a
/// counter only cost round trips.
final class KnownRefusals: Sendable {
    /// A key, and the units that a request claims of it.
    private struct Part: Hashable {
        var table: Int
        var digest: UInt64
        var cost: Int
    }

    /// A refusal with its validity.
    private struct Refusal {
        var result: RateLimitResult
        /// The time of the reply and the end of the refusal, in nanoseconds of the process's clock.
        var received: Int64
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

    /// Returns the refusal of a request, if it is known, with delays that are shorter by the time since the reply, and the version of its
    /// keys.
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

    /// Records a refusal by the server.
    /// - Parameters:
    ///   - version: The version of the keys before the request to the server.
    ///   - sent: The time of the request to the server.
    ///   - received: The time of the reply.
    ///
    /// The refusal is dropped if one of the keys changed since `version`, because the server may have decided before that change.
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

    /// Removes the refusals of keys that this process counted or refunded. O(1) per key.
    func noteChange(of digests: some Sequence<UInt64>) {
        state.withLock { state in
            for digest in digests { state.changes[state.place(of: digest)] += 1 }
        }
    }

    /// Removes all refusals.
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
