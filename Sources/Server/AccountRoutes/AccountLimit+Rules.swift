public import AccountContract
import OpenAPI
public import RateLimiting

extension AccountLimit {
    /// The policy unless the operator sets another one.
    public var standard: RateLimitPolicy {
        switch self {
        case .resetEmail: policy(3, perSeconds: 3_600)
        case .resetIP: policy(20, perSeconds: 60)
        case .resetGlobal: policy(600, perSeconds: 60)
        case .loginAccount: policy(10, perSeconds: 900)
        case .loginFailures: policy(50, perSeconds: 3_600)
        case .loginDevice: policy(10, perSeconds: 900)
        case .loginIP: policy(60, perSeconds: 60)
        case .refreshIP: policy(60, perSeconds: 60)
        case .registerIP: policy(10, perSeconds: 3_600)
        case .tokenIP: policy(30, perSeconds: 60)
        }
    }

    /// A policy of this name.
    public func policy(_ quota: Int, perSeconds seconds: Int) -> RateLimitPolicy {
        RateLimitPolicy(name: rawValue, quota: quota, window: .seconds(seconds))
    }

    /// The limit as a rule. Responses don't report the result of a dry run.
    /// - Parameters:
    ///   - policy: The policy; ``standard`` if `nil`.
    ///   - wide: The factors for the networks of a client, for limits that have a key.
    public func rule(
        _ policy: RateLimitPolicy? = nil,
        mode: RateLimitRule.Mode = .enforce,
        wide: WideLimits = .standard
    ) -> RateLimitRule {
        RateLimitRule(
            policy ?? standard,
            mode: mode,
            isVisible: isVisible && mode == .enforce,
            wide: networkUse.map { WideLimits(near: wide.near, far: wide.far, use: $0) }
        )
    }

    /// When the networks of a client are counted; `nil` if never. Those of a limit per client always are. A limit per address of an account counts
    /// them only while its table is full: a network's sign-ins are limited by ``loginIP`` in any case.
    public var networkUse: WideLimits.Use? {
        switch key {
        case .client: .jointly
        case .body: .asFallback
        case .everyone: nil
        }
    }

    /// The names of the limits that only reset requests are charged to. Their usage is stored with the intents.
    public static let committed = Set(RecoveryOperation.requestPasswordReset.row.limits.map(\.rawValue))
}
