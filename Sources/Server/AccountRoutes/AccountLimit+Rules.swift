public import AccountContract
import OpenAPI
public import RateLimiting

extension AccountLimit {
    /// The default policy. The operator can configure another policy.
    ///
    /// Limits per email address protect an account, limits per client protect the server, and `reset-global` protects the email server.
    /// Legitimate users don't reach the quotas. For example, the server sends three reset emails an hour to one address, and a client can
    /// sign in ten times in fifteen minutes.
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
        case .registerEmail: policy(3, perSeconds: 3_600)
        case .verifyEmail: policy(3, perSeconds: 3_600)
        case .accountIP: policy(60, perSeconds: 60)
        case .linkAttempts: policy(10, perSeconds: 86_400)
        case .accountChange: policy(60, perSeconds: 3_600)
        case .accountPassword: policy(10, perSeconds: 3_600)
        case .changeEmail: policy(3, perSeconds: 3_600)
        case .export: policy(3, perSeconds: 86_400)
        }
    }

    /// Returns a policy with the name of this limit.
    ///
    /// - Returns: The policy, with the default algorithm.
    /// - Parameters:
    ///   - quota: The number of requests in a window, at least 1.
    ///   - seconds: The length of the window.
    public func policy(_ quota: Int, perSeconds seconds: Int) -> RateLimitPolicy {
        RateLimitPolicy(name: rawValue, quota: quota, window: .seconds(seconds))
    }

    /// Returns the rule of this limit. Responses report the limit only in the mode `enforce`.
    /// - Parameters:
    ///   - policy: The policy; ``standard`` if `nil`.
    ///   - mode: Whether refusals are enforced, only logged, or disabled.
    ///   - wide: The factors by which the quota of a network exceeds the quota of one key. A limit that counts no networks ignores them.
    /// - Returns: The rule. Pass the rules of all limits to the store of limits.
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

    /// The cases in which the limit also counts requests by the networks of a client; `nil` if there are no such cases.
    ///
    /// A limit per client always counts by network, too. A limit whose key comes from the content of the request, such as an email address,
    /// counts by network only while its table of keys is full. Otherwise, limits per client such as `loginIP` limit the requests of a
    /// network.
    public var networkUse: WideLimits.Use? {
        switch key {
        case .client: .jointly
        case .body: .asFallback
        case .everyone: nil
        }
    }

    /// The names of the limits that count only requests for emails. If the limits are in the database of the emails, the store saves the
    /// usage of these limits in the transaction that enqueues the email. After a crash, either both the email and its usage are stored, or
    /// neither.
    public static let committed = Set(
        (RecoveryOperation.requestPasswordReset.row.limits + [.registerEmail, .verifyEmail]).map(\.rawValue)
    )
}
