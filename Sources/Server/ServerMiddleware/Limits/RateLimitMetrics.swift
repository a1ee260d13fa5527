import CoreMetrics
import RateLimiting
import Synchronization

/// The counters of the rate limits, by policy. No counter contains the name or address of a client.
///
/// - `rate_limit_decisions`, by `decision`: `allowed`, `refused`, or `shadow_refused`. An admitted request counts as `allowed` for each of
///   its policies. A refused request counts as `refused` for each enforced policy that refuses it. If policies in shadow mode would have
///   refused a request, the request counts as `shadow_refused` for the policy with the longest delay among them. It counts as `allowed` or
///   `refused` in addition.
/// - `rate_limit_near`: admissions that left a tenth of the burst or less.
/// - `rate_limit_refunds`: admissions whose units were refunded, because the event for which they were used did not happen.
/// - `rate_limit_store_errors`: requests for which the store failed to decide.
struct RateLimitMetrics: Sendable {
    /// A class, because a copy of a structure would retain each of the six counters.
    private final class Counters: Sendable {
        let allowed: Counter
        let refused: Counter
        let shadowRefused: Counter
        let near: Counter
        let refunds: Counter
        let storeErrors: Counter

        init(policy: String, factory: any MetricsFactory) {
            func counter(_ label: String, decision: String? = nil) -> Counter {
                let dimensions = [("policy", policy)] + (decision.map { [("decision", $0)] } ?? [])
                return Counter(label: label, dimensions: dimensions, factory: factory)
            }
            allowed = counter("rate_limit_decisions", decision: "allowed")
            refused = counter("rate_limit_decisions", decision: "refused")
            shadowRefused = counter("rate_limit_decisions", decision: "shadow_refused")
            near = counter("rate_limit_near")
            refunds = counter("rate_limit_refunds")
            storeErrors = counter("rate_limit_store_errors")
        }
    }

    private let factory: any MetricsFactory
    private let counters = Cache()

    private final class Cache: Sendable {
        let byPolicy = Mutex<[String: Counters]>([:])
    }

    /// Creates the counters. The counters of a policy are created at its first use.
    init(factory: any MetricsFactory) {
        self.factory = factory
    }

    /// Counts a decision for each policy of the claims.
    func decided(_ claims: [RateLimitClaim], _ response: RateLimitResult) {
        // A loop over the limits themselves would copy each limit.
        for index in response.limits.indices {
            let counters = counters(of: response.limits[index].policy.name)
            let remaining = response.limits[index].remaining
            if response.isAdmitted {
                counters.allowed.increment()
                if remaining * 10 <= response.limits[index].policy.burst { counters.near.increment() }
            } else if response.limits[index].mode == .enforce, remaining < cost(of: response.limits[index].policy, in: claims) {
                counters.refused.increment()
            }
        }
        if let policy = response.refusal?.policy, !response.limits.contains(where: { $0.policy.name == policy.name }) {
            // The limit of the client's network refused the request. `response.limits` doesn't contain the limits of networks, because
            // clients don't see them.
            counters(of: policy.name).refused.increment()
        }
        if let refusal = response.shadowRefusal { counters(of: refusal.policy.name).shadowRefused.increment() }
    }

    /// Returns the units that a request takes of a policy.
    private func cost(of policy: RateLimitPolicy, in claims: [RateLimitClaim]) -> Int {
        claims.first { $0.policy == policy.name }?.cost ?? policy.cost
    }

    /// Counts a refund for the policy of each claim.
    func refunded(_ claims: [RateLimitClaim]) {
        for claim in claims { counters(of: claim.policy).refunds.increment() }
    }

    /// Counts a request for which the store failed to decide.
    func storeFailed(_ claims: [RateLimitClaim]) {
        for claim in claims { counters(of: claim.policy).storeErrors.increment() }
    }

    /// Returns the counters of a policy, and creates them at the first call.
    private func counters(of policy: String) -> Counters {
        counters.byPolicy.withLock { counters in
            if let known = counters[policy] { return known }
            let new = Counters(policy: policy, factory: factory)
            counters[policy] = new
            return new
        }
    }
}
