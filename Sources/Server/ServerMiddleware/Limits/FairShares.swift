public import CoreMetrics
import RateLimiting
import Synchronization
import Timekeeping

/// Prevents one network from using up a limit that all clients share.
///
/// A flood from one network can use up the quota of a shared limit, and the limit would then refuse the requests of all clients. Each
/// network (a /48 or a /24) therefore has a fair share of the quota; see `FairShare`. If only the shared limit refuses a request, the
/// request is still admitted while the client's network has used less than its fair share. All other limits of the request still apply.
///
/// The number of admissions can therefore exceed the shared limit. Use fair shares only if an admitted request just adds an item to a
/// queue, and the worker of the queue limits the rate of the work.
///
/// The counted admissions are in memory and are lost at a restart. Each network then has its full fair share again, even if the store has
/// kept the usage of the shared limit. Several tasks can use the object at the same time.
public final class FairShares: Sendable {
    private let policy: String
    private let shares: Mutex<FairShare>
    private let secret = KeySecret()
    private let clock: MonotonicClock
    private let admissions: Counter

    /// Creates an object without admissions.
    /// - Parameters:
    ///   - policy: The name of the shared limit's policy. All requests claim this policy under one key.
    ///   - capacity: The largest number of admissions in memory, at 40 to 90 bytes each.
    ///   - clock: A monotonic clock.
    ///   - metrics: The factory of the counter `rate_limit_fair_share`, which counts admissions beyond the shared limit.
    public init<C: Clock>(
        of policy: String,
        capacity: Int = 65_536,
        clock: C,
        metrics: any MetricsFactory = MetricsSystem.factory
    ) where C.Duration == Duration {
        self.clock = MonotonicClock(clock)
        self.policy = policy
        shares = Mutex(FairShare(capacity: capacity))
        admissions = Counter(label: "rate_limit_fair_share", dimensions: [("policy", policy)], factory: metrics)
    }

    /// Admits or refuses a request by its limits and by the fair share of the client's network.
    /// - Parameters:
    ///   - claims: The claims of the request.
    ///   - client: The client that sent the request.
    ///   - store: The store that counts the limits.
    /// - Returns: The decision, and the claims on which it is based. If the fair share admitted the request, the claims don't include the
    ///   claim of the shared limit.
    /// - Throws: The error of the store.
    func decide(
        _ claims: [RateLimitClaim],
        of client: ClientAddress,
        by store: any RateLimitStore
    ) async throws -> (result: RateLimitResult, claims: [RateLimitClaim]) {
        let response = try await store.admit(claims)
        let network = secret.digest(of: client.network ?? "")
        guard let refusal = response.refusal else {
            if let limit = response.limits.first(where: { $0.policy.name == policy }) {
                _ = shares.withLock { $0.record(network, at: clock.now, window: limit.policy.window) }
            }
            return (response, claims)
        }
        guard refusal.policy.name == policy else { return (response, claims) }
        let (quota, window) = (refusal.policy.quota, refusal.policy.window)
        let reserved = shares.withLock { $0.reserve(network, at: clock.now, quota: quota, window: window) }
        guard let reserved else { return (response, claims) }
        let others = claims.filter { $0.policy != policy }
        do {
            let decision = try await store.admit(others)
            if decision.isAdmitted { admissions.increment() } else { shares.withLock { $0.cancel(reserved) } }
            return (decision, others)
        } catch {
            shares.withLock { $0.cancel(reserved) }
            throw error
        }
    }
}
