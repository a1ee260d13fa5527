/// What is left of a quota after refusals that named no delay: at least halved by each, regained a tenth per window.
///
/// The half has a jitter, so that clients that were refused together don't come back together. Calls that were under way when the
/// quota was halved say nothing about what is left of it.
struct HalvedQuota: Sendable {
    /// What is left; `nil` for all of it.
    private(set) var units: Double?
    private var halvedAt = Int64.min

    init() {}

    init(units: Double?) {
        self.units = units.flatMap { $0.isFinite ? max(1, $0) : nil }
    }

    func quota(of policy: RateLimitPolicy) -> Int {
        guard let units else { return policy.quota }
        return max(policy.cost, min(policy.quota, Int(min(units, Double(policy.quota)))))
    }

    /// Halves what is left, or what the last window held if that is less.
    mutating func refused(
        _ call: AdmittedCall,
        used: Int,
        policy: RateLimitPolicy,
        at now: Int64,
        using generator: inout some RandomNumberGenerator
    ) {
        guard call.sent >= halvedAt else { return }
        let base = min(units ?? Double(policy.quota), Double(max(1, used)))
        units = max(1, base * Double.random(in: 0.4...0.5, using: &generator))
        halvedAt = now
    }

    /// Regains a share: with each place of a window used, that is a tenth of the quota or one unit, whichever is more.
    mutating func admitted(_ call: AdmittedCall, policy: RateLimitPolicy) {
        guard let units, call.sent >= halvedAt else { return }
        let regained = units + max(1, Double(policy.quota) / 10) / max(1, units.rounded(.down))
        self.units = regained < Double(policy.quota) ? regained : nil
    }
}
