import AccountContract
import AccountCore
import AccountRoutes
import ErrorContract
import Foundation
import OpenAPI
import RateLimiting
import StrictJSON
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct AccountLimitTests {
    /// Returns the default policy with a window of an hour. With a window of a minute, a slow test would get quota back.
    private static func hourly(_ limit: AccountLimit) -> RateLimitPolicy {
        limit.policy(limit.standard.quota, perSeconds: 3_600)
    }

    @Test("Every limited route reports its limits, whether it succeeds or fails", arguments: LimitedRoute.all)
    func shown(route: LimitedRoute) async throws {
        try await withServer {
            $0.limits = LimitSettings()
            for limit in AccountLimit.allCases { $0.limits.policies[limit] = Self.hourly(limit) }
            $0.trustLoopback()
        } _: { server in
            let response = try await server.call(route)
            let byClient = try #require(route.byClient)
            let policies = RateLimitFields.policies(route.shown.map(Self.hourly))
            #expect(response["RateLimit-Policy"] == policies)
            for limit in route.shown { #expect(response.remaining(limit) == limit.standard.quota - 1) }
            for limit in AccountLimit.allCases where !limit.isVisible {
                #expect(!response.headerLines.joined().contains(limit.rawValue))
            }
            guard route.operation.request != nil else { return }
            let malformed = try await server.call(route, body: route.malformed)
            #expect(malformed.status == 400)
            #expect(malformed["RateLimit-Policy"] == RateLimitFields.policies([Self.hourly(byClient)]))
            // A body that can't be read is charged to no limit.
            #expect(malformed.remaining(byClient) == byClient.standard.quota - 1)
        }
    }

    @Test("Refuses a client past its quota on each route with the delay, and no other one", arguments: LimitedRoute.all)
    func byClient(route: LimitedRoute) async throws {
        let byClient = try #require(route.byClient)
        try await withServer {
            $0.limits.policies[byClient] = byClient.policy(3, perSeconds: 3_600)
            $0.trustLoopback()
        } _: { server in
            for number in 0..<3 { #expect(try await server.call(route, number).status != 429) }
            let refused = try await server.call(route, 4)
            #expect(refused.status == 429)
            #expect(refused["X-Error-Code"] == "RATE_LIMIT_EXCEEDED")
            #expect((1...3_600).contains(refused["Retry-After"].flatMap { Int($0) } ?? 0))
            #expect(refused.remaining(byClient) == 0)
            #expect(try await server.call(route, 5, from: "198.51.100.2").status != 429)
            #expect(try await server.call(route, 6, from: "198.51.100.1, 198.51.100.2").status != 429)
            #expect(try await server.call(route, 7, from: "198.51.100.9, 198.51.100.1").status == 429)
        }
    }

    @Test(
        "Counts all operations with the same limit together",
        arguments: AccountLimit.allCases.filter { $0.key == .client }
    )
    func shared(limit: AccountLimit) async throws {
        let routes = LimitedRoute.of(limit)
        #expect(!routes.isEmpty, "no operation has this limit")
        try await withServer {
            $0.limits.policies[limit] = limit.policy(routes.count, perSeconds: 3_600)
            $0.trustLoopback()
        } _: { server in
            for (number, route) in routes.enumerated() {
                let admitted = try await server.call(route, number)
                #expect(admitted.status != 429)
            }
            for (number, route) in routes.enumerated() {
                let refused = try await server.call(route, number + 10)
                #expect(refused.status == 429)
            }
        }
    }

    @Test("Every limit belongs to at least one operation", arguments: AccountLimit.allCases)
    func used(limit: AccountLimit) {
        #expect(LimitedRoute.described.contains { $0.operation.limits.contains(limit) })
    }

    @Test(
        "Every limit refuses each operation that has it",
        arguments: AccountLimit.allCases.filter { !LimitedRoute.of($0).isEmpty }
    )
    func everyLimit(limit: AccountLimit) async throws {
        let routes = LimitedRoute.of(limit)
        try await withServer {
            for other in AccountLimit.allCases { $0.limits.policies[other] = nil }
            $0.limits.policies[limit] = limit.policy(1, perSeconds: 3_600)
            $0.trustLoopback()
        } _: { server in
            // Each operation has a client, a network and an address that the others have not used.
            for (number, route) in routes.enumerated() {
                let client = "198.51.\(number).1"
                var body = route.body(number)
                if limit == .loginDevice {
                    let registered = try await server.call(.register, number, from: client)
                    let token = try #require(try registered.json()["device_token"]?.stringValue)
                    body = #"{"email":"a\#(number)@example.com","password":"wrong password","device_token":"\#(token)"}"#
                }
                #expect(try await server.call(route, body: body, from: client).status != 429, "\(route.testDescription)")
                let refused = try await server.call(route, body: body, from: client)
                #expect(refused.status == 429, "\(route.testDescription)")
                #expect(refused["X-Error-Code"] == "RATE_LIMIT_EXCEEDED")
            }
        }
    }

    @Test("One limit per address covers every reset path and every notation of the address")
    func resetEmail() async throws {
        try await withServer { server in
            let (api, legacy, page) = (LimitedRoute.resets[0], LimitedRoute.resets[1], LimitedRoute.resets[2])
            for (route, body) in [
                (api, #"{"email":"ana@example.com"}"#), (legacy, #"{"email":" ANA@Example.com "}"#),
                (page, "email=Ana%40EXAMPLE.COM"),
            ] {
                let admitted = try await server.call(route, body: body)
                #expect(admitted.status == 200)
            }
            for (route, body) in [
                (api, #"{"email":"ａna@example.com"}"#), (legacy, #"{"email":"ana@example.com"}"#),
                (page, "email=ana%40example.com"),
            ] {
                let refused = try await server.call(route, body: body)
                #expect(refused.status == 429)
            }
        }
    }

    @Test("A refused request uses no quota of other limits")
    func refusedIsFree() async throws {
        try await withServer {
            $0.limits = LimitSettings()
            $0.limits.policies[.resetIP] = AccountLimit.resetIP.policy(20, perSeconds: 3_600)
            $0.limits.policies[.resetGlobal] = AccountLimit.resetGlobal.policy(4, perSeconds: 3_600)
            $0.trustLoopback()
        } _: { server in
            let route = LimitedRoute.resets[0]
            for _ in 0..<3 { _ = try await server.call(route, 1) }
            for _ in 0..<10 { #expect(try await server.call(route, 1).remaining(.resetIP) == 17) }
            // One of four remains overall. If the ten had counted, there would be none.
            #expect(try await server.call(route, 2).status == 200)
            let refused = try await server.call(route, 3)
            #expect(refused.status == 429)
            #expect(refused.remaining(.resetEmail) == 3)
            #expect(refused.remaining(.resetIP) == 16)
        }
    }

    @Test("A network that exhausts the overall limit locks out no other, on each route", arguments: LimitedRoute.resets)
    func fairShare(_ route: LimitedRoute) async throws {
        try await withServer {
            $0.limits = LimitSettings()
            $0.limits.policies[.resetGlobal] = AccountLimit.resetGlobal.policy(10, perSeconds: 3_600)
            $0.trustLoopback()
        } _: { server in
            var admitted = 0
            for number in 0..<40 where try await server.call(route, number, from: "2001:db8:1:\(number)::1").status == 200 {
                admitted += 1
            }
            #expect(admitted == 10)
            for number in 100..<120 {
                #expect(try await server.call(route, number, from: "203.0.\(number).1").status == 200)
                #expect(try await server.call(route, number + 100, from: "2001:db8:\(number)::1").status == 200)
            }
            // Each of 41 networks has a share of one.
            #expect(try await server.call(route, 300, from: "203.0.100.2").status == 429)
            let intents = try await server.server.accounts.stores.intents.mails(limit: 1_000).count
            #expect(intents <= 50)
        }
    }

    @Test("A disabled limit leaves its route open, and all can be disabled")
    func off() async throws {
        try await withServer {
            $0.limits.policies[.registerIP] = nil
        } _: { server in
            let response = try await server.call(LimitedRoute.register)
            #expect(response.status == 201)
            #expect(response["RateLimit"] == nil)
        }
        try await withServer {
            $0.limits = LimitSettings()
            $0.limits.mode = .off
        } _: { server in
            for _ in 0..<5 {
                let response = try await server.call(LimitedRoute.resets[0])
                #expect(response.status == 200)
                #expect(response["RateLimit"] == nil)
            }
        }
    }

    @Test("Shadow mode refuses and reveals nothing, and logs the limit without the address")
    func shadow() async throws {
        try await withServer {
            $0.limits.mode = .shadow
            $0.trustLoopback()
        } _: { server in
            for _ in 0..<5 {
                let response = try await server.call(LimitedRoute.resets[0])
                #expect(response.status == 200)
                #expect(response["RateLimit"] == nil)
            }
            #expect(server.log.text.contains("Rate limit would be exceeded"))
            #expect(server.log.text.contains("reset-email"))
            #expect(!server.log.text.contains("198.51.100.1"))
            #expect(!server.log.text.contains("example.com"))
        }
    }
}
