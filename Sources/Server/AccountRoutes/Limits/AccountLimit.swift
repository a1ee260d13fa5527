public import RateLimiting
import ServerMiddleware

/// A limit of the account routes, by the name that answers, settings and metrics call it.
public enum AccountLimit: String, CaseIterable, Hashable, Sendable {
    /// Reset requests for one address, counted alike whether or not there is an account.
    case resetEmail = "reset-email"
    /// Reset requests of one client.
    case resetIP = "reset-ip"
    /// Reset requests in all.
    case resetGlobal = "reset-global"
    /// Passwords of one address that one client has had checked, right or wrong. A client can't lock out the address for others.
    case loginAccount = "login-account"
    /// Wrong passwords of one address, of all clients together, counted alike whether or not there is an account.
    case loginFailures = "login-failures"
    /// Wrong passwords of one device that has proved by its device token that it signed in to the account before. Such an attempt is
    /// not charged to `login-failures`.
    case loginDevice = "login-device"
    /// Attempts of one client to sign in.
    case loginIP = "login-ip"
    /// Sessions continued by one client.
    case refreshIP = "refresh-ip"
    /// Registrations of one client.
    case registerIP = "register-ip"
    /// Links looked at, confirmed or used to freeze an account by one client.
    case tokenIP = "token-ip"

    /// What is admitted unless the operator says otherwise.
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

    /// The limit as a rule. Responses don't report the requests of other clients, nor whether a device token is valid, nor the result
    /// of a dry run.
    /// - Parameters:
    ///   - policy: What is admitted; ``standard`` if `nil`.
    ///   - mode: Whether the limit is enforced, only counted, or off.
    ///   - wide: What the networks of a client may take, for limits that have a key.
    public func rule(
        _ policy: RateLimitPolicy? = nil,
        mode: RateLimitRule.Mode = .enforce,
        wide: WideLimits = .standard
    ) -> RateLimitRule {
        RateLimitRule(
            policy ?? standard,
            mode: mode,
            isVisible: !Self.hidden.contains(self) && mode == .enforce,
            wide: networkUse.map { WideLimits(near: wide.near, far: wide.far, use: $0) }
        )
    }

    /// When the networks of a client are counted; `nil` if never. Those of a limit per client always are. A limit per address of an account counts
    /// them only while its table is full: a network's sign-ins are limited by ``loginIP`` in any case.
    public var networkUse: WideLimits.Use? {
        switch self {
        case .resetIP, .loginIP, .refreshIP, .registerIP, .tokenIP: .jointly
        case .resetEmail, .loginAccount, .loginFailures, .loginDevice: .asFallback
        case .resetGlobal: nil
        }
    }

    private static let hidden: Set<AccountLimit> = [.resetGlobal, .loginFailures, .loginDevice]

    /// The names of those that are counted by reset requests alone, whose intents keep what they owe.
    public static let committed = Set([resetEmail, resetIP, resetGlobal].map(\.rawValue))
}

extension RateLimitSource {
    /// Each client on its own.
    static func client(_ limit: AccountLimit) -> RateLimitSource { client(limit.rawValue) }
    /// All requests together.
    static func everybody(_ limit: AccountLimit) -> RateLimitSource { everybody(limit.rawValue) }
}
