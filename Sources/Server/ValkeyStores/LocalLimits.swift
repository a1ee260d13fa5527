import RateLimiting
import Synchronization
import ValkeyDriver

/// The admissions of this process, counted in memory. The counts have two uses:
///
/// - While the Valkey server is unavailable, the counts decide, according to the ``ValkeyFallback`` of each policy.
/// - After the server has lost its data, the counts limit the admissions of this process, until all lost usage would have ended.
///
/// All methods can be called by several threads. They never wait for the network.
final class LocalLimits<C: Clock>: Sendable where C.Duration == Duration {
    /// A rule with its behavior while Valkey is unavailable.
    private struct Rule {
        /// The rule with its full quota.
        var rule: RateLimitRule
        /// The behavior while Valkey is unavailable.
        let fallback: ValkeyFallback
        /// The burst of this process's share of the quota.
        var burst: Int
        /// The longest time for which units of a key can stay used, in nanoseconds.
        var longestUsage: Int64
    }

    /// Counts in memory. Each rule of the limiter has only this process's share of the quota.
    private let limiter: JointRateLimiter<C>
    /// The rules. The keys are the names of their policies.
    private let rules: Mutex<[String: Rule]>
    /// The time at which the server lost its data, in nanoseconds of the process's clock; `Int64.min` if it never lost its data.
    private let lostAt = Atomic<Int64>(.min)

    /// Creates local limits that have not counted any request.
    /// - Parameters:
    ///   - rules: The rules of the rate limits.
    ///   - fallbacks: The behavior of single policies while the Valkey server is unavailable. The keys are the names of the policies.
    ///   - fallback: The behavior of all other policies while the Valkey server is unavailable.
    ///   - memory: The maximum memory for the counts, in bytes.
    ///   - secret: The secret for the digests of keys.
    ///   - clock: A monotonic clock.
    init(
        _ rules: [RateLimitRule],
        fallbacks: [String: ValkeyFallback],
        fallback: ValkeyFallback,
        memory: Int,
        secret: KeySecret,
        clock: C
    ) {
        var known: [String: Rule] = [:]
        for rule in rules {
            let fallback = fallbacks[rule.policy.name] ?? fallback
            let burst = rule.shared(fallback).policy.burst
            known[rule.policy.name] = Rule(rule: rule, fallback: fallback, burst: burst, longestUsage: rule.longestUsage)
        }
        limiter = JointRateLimiter(
            rules.map { $0.shared(fallbacks[$0.policy.name] ?? fallback) },
            memory: memory,
            secret: secret,
            clock: clock
        )
        self.rules = Mutex(known)
    }

    /// The memory in use.
    var usage: RateLimitUsage? { limiter.usage }

    /// Decides without the Valkey server, by the ``ValkeyFallback`` of each policy. The method skips policies with `open`, uses this
    /// process's share for policies with `local`, and throws the error for policies with `closed`. For a policy with `closed` in shadow
    /// mode, the method only counts, because a rule in shadow mode must not refuse a request.
    /// - Parameters:
    ///   - claims: The claims of the request.
    ///   - charges: Whether the method counts an admitted request.
    ///   - error: The error of the server.
    /// - Returns: The decision, which contains the policies with their full quotas.
    /// - Throws: `error` if the fallback of an enforced policy is `closed`.
    func decide(_ claims: [RateLimitClaim], charges: Bool, after error: ValkeyError) throws(ValkeyError) -> RateLimitResult {
        let rules = rules.withLock { $0 }
        var counted: [RateLimitClaim] = []
        for claim in claims {
            guard let rule = rules[claim.policy], rule.rule.mode != .off else { continue }
            switch rule.fallback {
            case .open: continue
            case .closed where rule.rule.mode == .enforce: throw error
            case .closed, .local: counted.append(shared(claim, rules))
            }
        }
        var response = charges ? limiter.admit(counted) : limiter.check(counted)
        restorePolicies(in: &response, rules)
        response.charge = response.charge.map { charge in
            RateLimitCharge(charge.policies.map { .init(policy: $0, charged: .other(LimitCharge(keys: [], own: charge))) })
        }
        return response
    }

    /// Counts a request that the Valkey server admitted. The method counts each claim separately, so the other claims still count if one
    /// share is used up.
    /// - Parameters:
    ///   - claims: The claims of the request.
    ///   - own: The decision of ``admitAfterLoss(_:at:)``, which has already counted some of the claims; `nil` if it has counted none.
    /// - Returns: The charges of refundable claims and of the claims that `own` counted, by policy.
    func count(_ claims: [RateLimitClaim], after own: RateLimitResult?) -> [String: RateLimitCharge] {
        let rules = rules.withLock { $0 }
        var charges: [String: RateLimitCharge] = [:]
        for claim in claims {
            if let own, own.limits.contains(where: { $0.policy.name == claim.policy }) {
                charges[claim.policy] = own.charge
            } else if let charge = limiter.admit([shared(claim, rules)]).charge {
                // If the rest of a share is smaller than the cost, the limiter doesn't count the claim, so the rest stays available.
                charges[claim.policy] = charge
            }
        }
        return charges
    }

    /// Refunds a charge of this process.
    /// - Parameters:
    ///   - charge: The charge.
    ///   - policies: The policies to refund; `nil` refunds all policies.
    func refund(_ charge: RateLimitCharge, under policies: Set<String>? = nil) { limiter.refund(charge, under: policies) }

    /// Records that the server has lost its data.
    /// - Parameter now: The present time, in nanoseconds of the process's clock.
    func noteLoss(at now: Int64) { lostAt.store(now, ordering: .relaxed) }

    /// Decides by this process's own counts, if the Valkey server has lost usage that would still count.
    /// - Parameters:
    ///   - claims: The claims of the request.
    ///   - now: The present time, in nanoseconds of the process's clock.
    /// - Returns: The decision, with a charge for all claims whose usage may be lost; `nil` if there are no such claims.
    func admitAfterLoss(_ claims: [RateLimitClaim], at now: Int64) -> RateLimitResult? {
        decideAfterLoss(claims, at: now) { claims in
            var claims = claims
            for index in claims.indices { claims[index].isRefundable = true }
            return limiter.admit(claims)
        }
    }

    /// Returns the decision that ``admitAfterLoss(_:at:)`` would return. Counts nothing.
    func checkAfterLoss(_ claims: [RateLimitClaim], at now: Int64) -> RateLimitResult? {
        decideAfterLoss(claims, at: now) { limiter.check($0) }
    }

    /// Replaces the rule with the same name. The fallback of the policy doesn't change.
    func change(to rule: RateLimitRule) {
        let name = rule.policy.name
        let fallback = rules.withLock { rules -> ValkeyFallback? in
            guard let fallback = rules[name]?.fallback else { return nil }
            let burst = rule.shared(fallback).policy.burst
            rules[name] = Rule(rule: rule, fallback: fallback, burst: burst, longestUsage: rule.longestUsage)
            return fallback
        }
        limiter.change(to: rule.shared(fallback ?? .closed))
    }

    /// Decides about the claims whose keys the server may have lost. The method omits a policy if its fallback is `open`, or if all usage
    /// from before the loss would have ended.
    private func decideAfterLoss(
        _ claims: [RateLimitClaim],
        at now: Int64,
        _ decide: ([RateLimitClaim]) -> RateLimitResult
    ) -> RateLimitResult? {
        let lostAt = lostAt.load(ordering: .relaxed)
        guard lostAt > .min else { return nil }
        let rules = rules.withLock { $0 }
        let lost = claims.filter { claim in
            guard let rule = rules[claim.policy], rule.fallback != .open else { return false }
            return now - lostAt < rule.longestUsage
        }
        guard !lost.isEmpty else { return nil }
        var response = decide(lost.map { shared($0, rules) })
        restorePolicies(in: &response, rules)
        return response
    }

    /// Returns a claim whose own cost is at most the burst of this process's share. Otherwise, the share would never admit the claim. The
    /// method doesn't change a cost above the full burst, because the policy never admits such a claim.
    private func shared(_ claim: RateLimitClaim, _ rules: [String: Rule]) -> RateLimitClaim {
        guard let cost = claim.cost, let rule = rules[claim.policy], cost <= rule.rule.policy.burst else { return claim }
        var claim = claim
        claim.cost = min(cost, rule.burst)
        return claim
    }

    /// Replaces the policies with reduced quotas in a result by the original policies, so that responses report the full quotas.
    private func restorePolicies(in response: inout RateLimitResult, _ rules: [String: Rule]) {
        func policy(_ share: RateLimitPolicy) -> RateLimitPolicy {
            if let rule = rules[share.name] { return rule.rule.policy }
            return rules.values.lazy.flatMap { $0.rule.networkRules }.first { $0.policy.name == share.name }?.policy ?? share
        }
        for index in response.limits.indices { response.limits[index].policy = policy(response.limits[index].policy) }
        response.refusal = response.refusal.map { .init(policy: policy($0.policy), retryAfter: $0.retryAfter) }
        response.shadowRefusal = response.shadowRefusal.map { .init(policy: policy($0.policy), retryAfter: $0.retryAfter) }
    }
}

extension RateLimitRule {
    /// The maximum time for which units can stay used, under the rule or under its limits for networks, in nanoseconds. When this time has
    /// passed after a loss of data, the server's counts are complete again.
    fileprivate var longestUsage: Int64 {
        ([self] + networkRules).map { LimitTerms($0.policy).longestUsage }.reduce(0, max) * 1_000
    }

    /// Returns the rule with this process's share of the quota and of the burst. The method multiplies both numbers by the share and rounds
    /// the results down, but not below 1.
    fileprivate func shared(_ fallback: ValkeyFallback) -> RateLimitRule {
        guard fallback.share < 1 else { return self }
        func part(of units: Int) -> Int { max(1, Int(Double(units) * fallback.share)) }
        var rule = self
        let quota = part(of: policy.quota)
        let algorithm: RateLimitAlgorithm =
            switch policy.algorithm {
            case .slidingWindow: .slidingWindow
            case .strictGCRA(let burst): .strictGCRA(burst: min(quota, part(of: burst)))
            }
        let burst = if case .strictGCRA(let burst) = algorithm { burst } else { quota }
        rule.policy = RateLimitPolicy(
            name: policy.name,
            quota: quota,
            window: policy.window,
            cost: min(policy.cost, burst),
            algorithm: algorithm,
            unit: policy.unit
        )
        return rule
    }
}
