public import AccountContract
package import AccountCore
import AccountRoutes
public import RateLimiting
public import ServerMiddleware

/// The rate limits of the account routes, and the rule that identifies clients.
///
/// ```swift
/// var limits = LimitSettings()
/// limits.policies[.resetEmail] = AccountLimit.resetEmail.policy(5, perSeconds: 3_600)
/// limits.policies[.registerIP] = nil
/// ```
///
/// `AccountServer.change(to:)` applies new policies, a new mode and new factors without a restart. The name of an environment variable
/// consists of `LIMIT_` and the name of the limit. For example, `LIMIT_RESET_EMAIL=5/3600` admits 5 requests in 3,600 seconds.
public struct LimitSettings: Sendable {
    /// The policy of each limit. A limit without a policy is off.
    public var policies = Dictionary(uniqueKeysWithValues: AccountLimit.allCases.map { ($0, $0.standard) })
    /// The policy that limits the number of reset emails per account if ``policies`` has no policy for `resetEmail`. So emails stay limited
    /// even if the limit for requests is off.
    public var resetMailsPerAccount = AccountLimit.resetEmail.standard
    /// The factors by which the quota of a network is larger than the quota of one key. Only limits that also count by network have
    /// factors.
    public var wide = Dictionary(
        uniqueKeysWithValues: AccountLimit.allCases.filter { $0.networkUse != nil }.map { ($0, WideLimits.standard) }
    )
    /// The largest amount of memory for all limits, in bytes. The server reads it only when it starts.
    ///
    /// When the memory is used up, the store evicts keys with little usage, and counts new clients by their network.
    public var memory = 128 << 20
    /// Whether refusals are enforced, only logged (`shadow`), or disabled. `RATE_LIMIT_MODE`.
    public var mode: RateLimitRule.Mode = .enforce
    /// The identification of clients: the trusted proxies, and the IPv6 prefix. `TRUSTED_PROXIES`, `CLIENT_IPV6_PREFIX`.
    public var identity = ClientIdentity()

    /// Creates the default settings.
    public init() {}

    /// Reads the settings.
    /// - Parameter names: The names of all variables. A name of an unknown limit, such as a mistyped name, is refused.
    init(_ settings: inout SettingReader, names: Set<String>) {
        let known = AccountLimit.allCases.flatMap(\.settings) + [Self.memorySetting]
        for name in names.sorted() where name.hasPrefix("LIMIT_") && !known.contains(name) {
            settings.refuse(name, "is not a limit; the limits are \(known.joined(separator: ", "))")
        }
        mode = settings.choice("RATE_LIMIT_MODE", ["enforce": .enforce, "shadow": .shadow, "off": .off], default: .enforce)
        let perHour = settings.integer("PASSWORD_RESET_MAX_ATTEMPTS_PER_HOUR", in: 1...10_000, default: 3)
        resetMailsPerAccount = AccountLimit.resetEmail.policy(perHour, perSeconds: 3_600)
        policies[.resetEmail] = resetMailsPerAccount
        for limit in AccountLimit.allCases {
            policies[limit] = settings.quota(limit.setting, default: policies[limit], limit.policy)
            if let standard = wide[limit] { wide[limit] = settings.factors(limit.wideSetting, default: standard) }
        }
        memory = settings.integer(Self.memorySetting, in: Self.megabytes, default: 128) << 20
        var proxies: [IPRange] = []
        for text in settings.list("TRUSTED_PROXIES") ?? [] {
            do throws(IPRange.Refusal) {
                proxies.append(try IPRange(text))
            } catch {
                settings.refuse("TRUSTED_PROXIES", "can't be used: \(error)")
            }
        }
        let prefix = settings.integer("CLIENT_IPV6_PREFIX", in: ClientIdentity.ipv6Prefixes, default: 64)
        identity = ClientIdentity(trustedProxies: proxies, ipv6Prefix: prefix)
    }

    /// The limits for emails that clients can request without signing in: one for the reset emails of each account, and one for all such
    /// emails together.
    package var resetMails: ResetMailBounds {
        ResetMailBounds(
            perAccount: policies[.resetEmail] ?? resetMailsPerAccount,
            overall: mode == .enforce ? policies[.resetGlobal] : nil
        )
    }

    /// The name of the setting for ``memory``.
    package static let memorySetting = "LIMIT_MEMORY_MB"
    /// The valid values of ``memorySetting``, in MiB.
    package static let megabytes = 1...65_536

    /// The rules of all limits. If a limit has no policy, its rule has the mode `off`.
    package var rules: [RateLimitRule] {
        AccountLimit.allCases.map { limit in
            limit.rule(policies[limit], mode: policies[limit] == nil ? .off : mode, wide: wide[limit] ?? .standard)
        }
    }
}

extension AccountLimit {
    /// The name of the setting, such as `LIMIT_RESET_EMAIL`.
    package var setting: String { "LIMIT_" + rawValue.uppercased().replacing("-", with: "_") }
    /// The name of the setting for the limit's network factors, such as `LIMIT_RESET_EMAIL_WIDE`.
    var wideSetting: String { setting + "_WIDE" }
    /// The names of all settings of this limit.
    fileprivate var settings: [String] { networkUse == nil ? [setting] : [setting, wideSetting] }
}

extension SettingReader {
    /// Reads the two network factors of a limit, such as `4,16`.
    /// - Parameters:
    ///   - name: The name of the setting.
    ///   - value: The default.
    /// - Returns: The factors; the default if the setting is absent or invalid.
    fileprivate mutating func factors(_ name: String, default value: WideLimits) -> WideLimits {
        guard let text = text(name) else { return value }
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { number($0.drop { $0 == " " }) }
        if numbers.count == 2, let near = numbers[0], let far = numbers[1], near <= far,
            WideLimits.factors.contains(near), WideLimits.factors.contains(far)
        {
            return WideLimits(near: near, far: far)
        }
        refuse(name, "must be two factors from 1 to 10000 such as 4,16, the second not below the first (is “\(text)”)")
        return value
    }

    /// Reads a policy as a quota and a number of seconds, such as `3/3600`. The result is `nil` for `off`.
    /// - Parameters:
    ///   - name: The name of the setting.
    ///   - value: The default.
    ///   - policy: Creates the policy of a quota and a number of seconds.
    fileprivate mutating func quota(
        _ name: String,
        default value: RateLimitPolicy?,
        _ policy: (Int, Int) -> RateLimitPolicy
    ) -> RateLimitPolicy? {
        guard let text = text(name) else { return value }
        guard text.lowercased() != "off" else { return nil }
        let numbers = text.split(separator: "/", omittingEmptySubsequences: false).map(number)
        if numbers.count == 2, let quota = numbers[0], let seconds = numbers[1], (1...1_000_000).contains(quota),
            (1...31_536_000).contains(seconds)
        {
            return policy(quota, seconds)
        }
        refuse(name, "must be a quota and seconds such as 3/3600, or off (is “\(text)”)")
        return value
    }

    /// Parses a whole number of ASCII digits.
    private func number(_ text: Substring) -> Int? {
        text.utf8.allSatisfy { (48...57).contains($0) } ? Int(text) : nil
    }
}
