import AccountRoutes
import Foundation
import HoldfastTesting
import Logging
import RateLimiting
import SQLiteStores
import ServerMiddleware
import Testing

@testable import holdfast

/// The attack `login-account-table` at full size, at the limits themselves: no request is made and no password hashed.
@Suite(.serialized) struct FullTableTests {
    private typealias Limits = JointRateLimiter<ManualClock>
    private let clock = ManualClock()

    private func limits(memory: Int) -> Limits {
        JointRateLimiter(AccountLimit.allCases.map { $0.rule() }, memory: memory, clock: clock)
    }

    private func claims(_ email: String, _ address: String) throws -> [RateLimitClaim] {
        let client = ClientAddress(try #require(IPAddress(address)))
        return [
            RateLimitClaim("login-account", key: JointKey(email, client), networks: client.networks),
            RateLimitClaim("login-ip", key: client, networks: client.networks),
        ]
    }

    @Test(
        "Junk sign-ins of any number leave room for users of fresh networks, and forgive no client at its limit",
        arguments: [(1_900, 128), (1_900, 1), (19_000, 8)]
    )
    func junk(networks: Int, megabytes: Int) throws {
        let limits = limits(memory: megabytes << 20)
        for _ in 0..<10 { #expect(limits.admit(try claims("victim@example.com", "2001:db9::1")).isAdmitted) }
        var (junk, users) = (0, 0)
        for network in 0..<networks {
            for attempt in 0..<59 {
                let claims = try claims("\(network)-\(attempt)@example.net", "2001:db8:\(String(network, radix: 16))::1")
                if limits.admit(claims).isAdmitted { junk += 1 }
            }
            guard network % 100 == 0 else { continue }
            if limits.admit(try claims("u\(network)@example.com", "2001:db9:\(String(network, radix: 16))::9")).isAdmitted {
                users += 1
            }
            clock.advance(by: .milliseconds(500))
        }
        #expect(junk == networks * 59)
        #expect(users == networks / 100)
        let after = try (0..<400).count { try limits.admit(claims("v\($0)@example.com", "100.64.\($0 / 256).\($0 % 256)")).isAdmitted }
        #expect(after == 400)
        #expect(!limits.admit(try claims("victim@example.com", "2001:db9::1")).isAdmitted)
        let usage = try #require(limits.usage)
        #expect(usage.bytes <= megabytes << 20)
        #expect(usage.tables.allSatisfy { $0.fallbacks == 0 })
        #expect((usage.tables.reduce(0) { $0 + $1.evictions } > 0) == (megabytes < 128))
    }

    @Test("Junk that uses more than half of its quota counts by network, and users of others are served")
    func half() throws {
        let limits = limits(memory: 1 << 20)
        for network in 0..<1_900 {
            for attempt in 0..<59 {
                let claims = try claims("\(network)-\(attempt / 6)@example.net", "2001:db8:\(String(network, radix: 16))::1")
                _ = limits.admit(claims)
            }
        }
        let after = try (0..<400).count { try limits.admit(claims("v\($0)@example.com", "2001:db9:\($0)::1")).isAdmitted }
        #expect(after == 400)
        let usage = try #require(limits.usage)
        #expect(usage.tables.first { $0.policy == "login-account" }?.fallbacks ?? 0 > 400)
        #expect(usage.bytes <= 1 << 20)
    }
}
