import AccountContract
import AccountRoutes
import Configuration
import Foundation
import OpenAPI
import RateLimiting
import ServerMiddleware
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct LimitSettingsTests {
    private func configuration(_ environment: [String: String]) throws -> AccountServerConfiguration {
        var configuration = AccountServerConfiguration(dataFolder: URL(fileURLWithPath: "/nonexistent"))
        let variables = environment.merging(["ENVIRONMENT": "development"]) { $1 }
        try configuration.read(ConfigReader(provider: EnvironmentVariablesProvider(environmentVariables: variables)))
        return configuration
    }

    @Test("Without settings the limits are the defaults")
    func standard() throws {
        let rules = try configuration([:]).limits.rules
        let told = rules.map { "\($0.policy.name) \($0.policy.quota)/\($0.policy.window.components.seconds) \($0.isVisible)" }
        #expect(
            told == [
                "reset-email 3/3600 true", "reset-ip 20/60 true", "reset-global 600/60 false", "login-account 10/900 true",
                "login-failures 50/3600 false", "login-device 10/900 false", "login-ip 60/60 true",
                "refresh-ip 60/60 true", "register-ip 10/3600 true", "token-ip 30/60 true",
                "register-email 3/3600 true", "verify-email 3/3600 true", "account-ip 60/60 true",
                "link-attempts 10/86400 true",
                "account-change 60/3600 true", "account-password 10/3600 true", "change-email 3/3600 true", "export 3/86400 true",
            ]
        )
        #expect(rules.allSatisfy { $0.mode == .enforce })
    }

    @Test("docs/server/rate-limits.md lists every limit with its policy and operations")
    func documentation() throws {
        let page = try String(contentsOf: APITools.root.appending(path: "docs/server/rate-limits.md"), encoding: .utf8)
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `") && $0.contains(" in ") }
            .map { $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
        let expected = AccountLimit.allCases.map { limit in
            let policy = limit.standard
            let amount = APISettings.Limit(limit, quota: policy.quota, window: policy.window).amount
            return ["`\(limit.rawValue)`", amount, operations(limit).map { "`\($0)`" }.joined(separator: ", ")]
        }
        #expect(rows.map { [$0[0], $0[1], $0[$0.count - 1]] } == expected)
    }

    /// Returns the ids of the operations with a limit. The modes of registration share one id.
    private func operations(_ limit: AccountLimit) -> [String] {
        LimitedRoute.described.filter { $0.operation.limits.contains(limit) }.reduce(into: []) { ids, route in
            if !ids.contains(route.operation.id) { ids.append(route.operation.id) }
        }
    }

    @Test("Each limit has a setting", arguments: AccountLimit.allCases)
    func each(limit: AccountLimit) throws {
        let changed = try configuration([limit.setting: "7/77"]).limits
        #expect(changed.policies[limit] == limit.policy(7, perSeconds: 77))
        for other in AccountLimit.allCases where other != limit { #expect(changed.policies[other] == other.standard) }
        let off = try configuration([limit.setting: "OFF"]).limits.rules
        for rule in off { #expect(rule.mode == (rule.policy.name == limit.rawValue ? .off : .enforce)) }
    }

    @Test("Network factors have a setting for each limit that counts networks")
    func wide() throws {
        let standard = try configuration([:]).limits
        #expect(standard.wide.values.allSatisfy { $0 == .standard })
        #expect(standard.rules.first { $0.policy.name == "reset-global" }?.wide == nil)
        #expect(standard.rules.first { $0.policy.name == "reset-email" }?.wide?.use == .asFallback)
        for limit in AccountLimit.allCases where limit.networkUse != nil {
            let changed = try configuration([limit.wideSetting: "2, 10000"]).limits
            #expect(changed.wide[limit] == WideLimits(near: 2, far: 10_000))
            #expect(changed.wide.values.count { $0 != .standard } == 1)
        }
        #expect(try configuration(["LIMIT_MEMORY_MB": "7"]).limits.memory == 7 << 20)
        #expect(standard.memory == 128 << 20)
    }

    @Test("The older name of the limit by address still works, and the newer one wins")
    func olderName() throws {
        let older = ["PASSWORD_RESET_MAX_ATTEMPTS_PER_HOUR": "7"]
        #expect(try configuration(older).limits.policies[.resetEmail] == AccountLimit.resetEmail.policy(7, perSeconds: 3_600))
        let both = older.merging(["LIMIT_RESET_EMAIL": "2/60"]) { $1 }
        #expect(try configuration(both).limits.policies[.resetEmail] == AccountLimit.resetEmail.policy(2, perSeconds: 60))
    }

    @Test("The mode applies to all limits; limits that are not enforced are not reported", arguments: ["shadow", "off"])
    func mode(mode: String) throws {
        let rules = try configuration(["RATE_LIMIT_MODE": mode]).limits.rules
        #expect(rules.allSatisfy { $0.mode.rawValue == mode && !$0.isVisible })
    }

    @Test("Accepts the words of the database and of the fallbacks in uppercase")
    func uppercase() throws {
        let configuration = try configuration([
            "DATABASE_URL": "SQLite", "VALKEY_URL": "redis://127.0.0.1:6379", "VALKEY_FALLBACK": "Local/25, Login-IP=OPEN",
            "HOLDFAST_SECRET": String(repeating: "s", count: 32),
        ])
        let shared = try #require(configuration.sharedLimits)
        #expect("\(configuration.database)" == "sqlite")
        #expect("\(shared.fallback)" == "local(share: 0.25)")
        #expect(shared.fallbacks.mapValues { "\($0)" } == ["login-ip": "open"])
    }

    @Test("Refuses fallbacks without VALKEY_URL", arguments: ["closed", "local/25,login-ip=open", "?"])
    func fallbackWithoutValkey(fallback: String) {
        #expect {
            try configuration(["VALKEY_FALLBACK": fallback])
        } throws: { error in
            let problem = (error as? InvalidConfiguration)?.problems.first
            return problem?.setting == "VALKEY_FALLBACK" && problem?.text.hasPrefix("needs VALKEY_URL") == true
        }
    }

    @Test("Proxies are addresses and ranges of both IP versions")
    func proxies() throws {
        let text = "10.0.0.1, 192.168.0.0/16 ,fd00::/8,2001:db8::1"
        let identity = try configuration(["TRUSTED_PROXIES": text, "CLIENT_IPV6_PREFIX": "56"]).limits.identity
        #expect(identity.trustedProxies.map(\.description) == ["10.0.0.1/32", "192.168.0.0/16", "fd00::/8", "2001:db8::1/128"])
        #expect(identity.ipv6Prefix == 56)
    }

    @Test("Accepts the largest limits that can be set")
    func largest() throws {
        let largest = try configuration(["LIMIT_RESET_IP": "1000000/31536000", "LIMIT_LOGIN_IP": "1000000/1"]).limits
        #expect(largest.policies[.resetIP]?.quota == 1_000_000)
        #expect(largest.policies[.loginIP]?.window == .seconds(1))
    }

    @Test(
        "Refuses an invalid limit with the name of its setting",
        arguments: [
            ("LIMIT_RESET_IP", "20"), ("LIMIT_RESET_IP", "20/"), ("LIMIT_RESET_IP", "/60"), ("LIMIT_RESET_IP", "20/60/1"),
            ("LIMIT_RESET_IP", "0/60"), ("LIMIT_RESET_IP", "20/0"), ("LIMIT_RESET_IP", "-1/60"), ("LIMIT_RESET_IP", "+1/60"),
            ("LIMIT_RESET_IP", "1.5/60"), ("LIMIT_RESET_IP", "20/1m"), ("LIMIT_RESET_IP", "20 / 60"), ("LIMIT_RESET_IP", "none"),
            ("LIMIT_RESET_IP", "1000001/60"), ("LIMIT_RESET_IP", "20/31536001"), ("LIMIT_RESET_IP", "99999999999999999999/60"),
            ("LIMIT_RESET_IP_WIDE", "4"), ("LIMIT_RESET_IP_WIDE", "4,"), ("LIMIT_RESET_IP_WIDE", "16,4"),
            ("LIMIT_RESET_IP_WIDE", "0,4"), ("LIMIT_RESET_IP_WIDE", "4,10001"), ("LIMIT_RESET_IP_WIDE", "4,16,64"),
            ("LIMIT_RESET_IP_WIDE", "+4,16"), ("LIMIT_RESET_IP_WIDE", "off"),
            ("LIMIT_MEMORY_MB", "0"), ("LIMIT_MEMORY_MB", "65537"), ("LIMIT_MEMORY_MB", "64 MB"),
            ("LIMIT_LOGIN_ACCOUNT", "٣/٦٠"), ("PASSWORD_RESET_MAX_ATTEMPTS_PER_HOUR", "0"), ("RATE_LIMIT_MODE", "dry-run"),
            ("TRUSTED_PROXIES", "0.0.0.0/0"), ("TRUSTED_PROXIES", "10.0.0.1, ::/0"), ("TRUSTED_PROXIES", "proxy.example.com"),
            ("TRUSTED_PROXIES", "10.0.0.1/8"), ("CLIENT_IPV6_PREFIX", "32"), ("CLIENT_IPV6_PREFIX", "128"),
        ]
    )
    func refused(name: String, value: String) {
        #expect {
            try configuration([name: value])
        } throws: { error in
            (error as? InvalidConfiguration)?.problems.map(\.setting) == [name]
        }
    }
}
