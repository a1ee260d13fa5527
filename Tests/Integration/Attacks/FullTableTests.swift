import AccountContract
import AccountRoutes
import Foundation
import HoldfastTesting
import Logging
import RateLimiting
import ServerMiddleware
import Testing

@testable import AccountServer
@testable import HoldfastCommand

/// The attack `login-account-table` at full size on the limits themselves, without requests or password hashes.
@Suite(.serialized) struct FullTableTests {
    private typealias Limits = JointRateLimiter<ManualClock>
    private let clock = ManualClock()

    /// Returns limits with a fixed secret. The digests under the secret determine the keys that a full table evicts, and the users that
    /// share a window.
    private func limits(memory: Int) throws -> Limits {
        let secret = try #require(KeySecret(bytes: 1...16))
        return JointRateLimiter(AccountLimit.allCases.map { $0.rule() }, memory: memory, secret: secret, clock: clock)
    }

    private func client(_ address: String) throws -> ClientAddress { ClientAddress(try #require(IPAddress(address))) }

    private func signIn(_ email: String, _ client: ClientAddress, _ limits: Limits) -> Bool {
        let claims = [
            RateLimitClaim("login-account", key: JointKey(email, client), networks: client.networks),
            RateLimitClaim("login-ip", key: client, networks: client.networks),
        ]
        return limits.admit(claims).isAdmitted
    }

    @Test("112,000 junk sign-ins neither lock out new networks nor reset limited clients")
    func junk() throws {
        let limits = try limits(memory: 1 << 20)
        let victim = try client("2001:db9::1")
        for _ in 0..<10 { #expect(signIn("victim@example.com", victim, limits)) }
        var (junk, users) = (0, 0)
        for network in 0..<1_900 {
            let attacker = try client("2001:db8:\(String(network, radix: 16))::1")
            for attempt in 0..<59 where signIn("\(network)-\(attempt)@example.net", attacker, limits) { junk += 1 }
            guard network % 100 == 0 else { continue }
            if signIn("user\(network)@example.com", try client("2001:db9:\(network)::9"), limits) { users += 1 }
            clock.advance(by: .milliseconds(500))
        }
        #expect(junk == 1_900 * 59)
        #expect(users == 19)
        #expect(try servedUsers(of: limits) == 400)
        #expect(!signIn("victim@example.com", victim, limits))
        let usage = try #require(limits.usage)
        #expect(usage.bytes <= 1 << 20)
        #expect(usage.tables.first { $0.policy == "login-account" }?.evictions ?? 0 > 100_000)
    }

    @Test("Junk over half of its quota counts by network, and other networks are served")
    func half() throws {
        let memory = 3 << 19
        let limits = try limits(memory: memory)
        for network in 0..<950 {
            let attacker = try client("2001:db8:\(String(network, radix: 16))::1")
            for attempt in 0..<59 { _ = signIn("\(network)-\(attempt / 6)@example.net", attacker, limits) }
        }
        #expect(try servedUsers(of: limits) == 400)
        let usage = try #require(limits.usage)
        #expect(usage.tables.first { $0.policy == "login-account" }?.fallbacks ?? 0 > 400)
        #expect(usage.bytes <= memory)
    }

    /// Returns how many of 400 users of separate networks may sign in, half of them by IPv4.
    private func servedUsers(of limits: Limits) throws -> Int {
        try (0..<400).count { user in
            let address = user % 2 == 0 ? "2001:dba:\(user)::1" : "100.\(64 + user / 256).\(user % 256).7"
            return signIn("v\(user)@example.com", try client(address), limits)
        }
    }
}
