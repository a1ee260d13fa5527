import RateLimiting
import Synchronization

/// Keys that the server has refused, so that it need not be asked again before they can be admitted. Bounded: what is dropped is
/// asked once more.
final class KnownRefusals: Sendable {
    private struct Key: Hashable {
        var table: Int
        var digest: UInt64
    }

    private struct Refusal {
        var cost: Int
        var remaining: Int
        /// When it ends, and when more units remain, in nanoseconds on the process's clock.
        var end: Int64
        var reset: Int64
    }

    private struct State {
        var newer: [Key: Refusal] = [:]
        var older: [Key: Refusal] = [:]
    }

    /// Half of the largest number of keys.
    private static let capacity = 16_384
    /// The longest time for which a refundable claim is not asked again: another process may refund the key meanwhile.
    private static let mostIfRefundable: Int64 = 1_000_000_000

    private let state = Mutex(State())

    /// The answer to a request, if one of its keys is known to be refused.
    func answer(_ claims: [LimitTables.Claim], at now: Int64) -> RateLimitAnswer? {
        let known = state.withLock { state -> [(claim: LimitTables.Claim, refusal: Refusal)] in
            guard !state.newer.isEmpty || !state.older.isEmpty else { return [] }
            return claims.compactMap { claim in
                let key = Key(table: claim.table, digest: claim.digest)
                guard claim.rule.mode == .enforce, let refusal = state.newer[key] ?? state.older[key] else { return nil }
                // A larger cost is refused too, but for longer.
                return refusal.end > now && refusal.cost == claim.cost ? (claim, refusal) : nil
            }
        }
        guard var longest = known.first else { return nil }
        for other in known where other.refusal.end > longest.refusal.end { longest = other }
        let limits = known.filter(\.claim.isNarrow).map { claim, refusal in
            RateLimitAnswer.Limit(
                policy: claim.rule.policy,
                isVisible: claim.rule.isVisible,
                remaining: refusal.remaining,
                reset: .nanoseconds(max(0, refusal.reset - now))
            )
        }
        let refusal = RateLimitAnswer.Refusal(
            policy: longest.claim.rule.policy,
            retryAfter: .nanoseconds(longest.refusal.end - now)
        )
        return RateLimitAnswer(limits: limits, refusal: refusal)
    }

    /// Notes which keys were refused.
    func note(_ claims: [LimitTables.Claim], _ reply: LimitReply, at now: Int64) {
        state.withLock { state in
            for (claim, standing) in zip(claims, reply.standings) where claim.rule.mode == .enforce {
                guard let delay = standing.delay, delay > 0 else { continue }
                let wait = claim.isRefundable ? min(delay * 1_000, Self.mostIfRefundable) : delay * 1_000
                if state.newer.count >= Self.capacity { (state.older, state.newer) = (state.newer, [:]) }
                state.newer[Key(table: claim.table, digest: claim.digest)] = Refusal(
                    cost: claim.cost,
                    remaining: standing.remaining,
                    end: now + wait,
                    reset: now + standing.reset * 1_000
                )
            }
        }
    }

    /// Forgets all keys.
    func removeAll() {
        state.withLock { $0 = State() }
    }
}
