import AccountCore
import AccountRoutes
import RateLimiting
import ServerMiddleware

/// How the account routes are limited, and whom a request counts for.
struct LimitSettings: Sendable {
    /// What each limit admits; one that is absent is off.
    var policies = Dictionary(uniqueKeysWithValues: AccountLimit.allCases.map { ($0, $0.standard) })
    /// How many reset emails an account gets, whatever limits of requests are off.
    var resetMailsPerAccount = AccountLimit.resetEmail.standard
    var mode: RateLimitRule.Mode = .enforce
    var identity = ClientIdentity()

    /// The usual limits.
    init() {}

    /// Reads the settings.
    /// - Parameter names: What is set at all: a limit whose name is mistyped would not be in force.
    init(_ settings: inout SettingReader, names: Set<String>) {
        let known = AccountLimit.allCases.map(\.setting)
        for name in names.sorted() where name.hasPrefix("LIMIT_") && !known.contains(name) {
            settings.refuse(name, "is no limit; there are \(known.joined(separator: ", "))")
        }
        mode = settings.choice("RATE_LIMIT_MODE", ["enforce": .enforce, "shadow": .shadow, "off": .off], default: .enforce)
        let perHour = settings.integer("PASSWORD_RESET_MAX_ATTEMPTS_PER_HOUR", in: 1...10_000, default: 3)
        resetMailsPerAccount = AccountLimit.resetEmail.policy(perHour, perSeconds: 3_600)
        policies[.resetEmail] = resetMailsPerAccount
        for limit in AccountLimit.allCases {
            policies[limit] = settings.quota(limit.setting, default: policies[limit], limit.policy)
        }
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

    /// The bounds of the emails that reset requests lead to.
    var resetMails: ResetMailBounds {
        ResetMailBounds(
            perAccount: policies[.resetEmail] ?? resetMailsPerAccount,
            overall: mode == .enforce ? policies[.resetGlobal] : nil
        )
    }

    /// The limits as rules, one for each.
    var rules: [RateLimitRule] {
        AccountLimit.allCases.map { $0.rule(policies[$0], mode: policies[$0] == nil ? .off : mode) }
    }
}

extension AccountLimit {
    /// The name in the environment, such as `LIMIT_RESET_EMAIL`.
    var setting: String { "LIMIT_" + rawValue.uppercased().replacing("-", with: "_") }
}

extension SettingReader {
    /// A quota and seconds, such as `3/3600`; `off` is `nil`.
    fileprivate mutating func quota(
        _ name: String,
        default value: RateLimitPolicy?,
        _ policy: (Int, Int) -> RateLimitPolicy
    ) -> RateLimitPolicy? {
        guard let text = text(name) else { return value }
        guard text.lowercased() != "off" else { return nil }
        let numbers = text.split(separator: "/", omittingEmptySubsequences: false).map { part in
            part.utf8.allSatisfy { (48...57).contains($0) } ? Int(part) : nil
        }
        if numbers.count == 2, let quota = numbers[0], let seconds = numbers[1], (1...1_000_000).contains(quota),
            (1...31_536_000).contains(seconds)
        {
            return policy(quota, seconds)
        }
        refuse(name, "must be a quota and seconds such as 3/3600, or off (is “\(text)”)")
        return value
    }
}
