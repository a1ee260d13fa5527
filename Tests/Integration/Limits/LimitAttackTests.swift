import AccountContract
import AccountRoutes
import ErrorContract
import Foundation
import OpenAPI
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct LimitAttackTests {
    private static let login = LimitedRoute.login

    private func login(_ password: String, as email: String = "ana@example.com") -> String {
        #"{"email":"\#(email)","password":"\#(password)"}"#
    }

    @Test("After ten wrong passwords the right one is refused, for that client alone")
    func passwordGuessing() async throws {
        try await withServer {
            $0.limits.policies[.loginAccount] = AccountLimit.loginAccount.standard
            $0.trustLoopback()
        } _: { server in
            try await server.register("ana@example.com")
            for number in 0..<10 {
                let wrong = try await server.call(Self.login, body: login("guess number \(number)"))
                #expect(wrong.status == 401)
                #expect(wrong.remaining(.loginAccount) == 9 - number)
            }
            let right = try await server.call(Self.login, body: login("correct horse battery"))
            let wrong = try await server.call(Self.login, body: login("guess number 11"))
            #expect(right.status == 429)
            #expect(right.comparable == wrong.comparable)
            #expect(try await server.call(Self.login, body: login("correct horse battery", as: "ANA@example.com")).status == 429)
            // The owner uses another client, and the limited client may still sign in to its own account.
            let owner = try await server.call(Self.login, body: login("correct horse battery"), from: "203.0.113.5")
            #expect(owner.status == 200)
            try await server.register("bea@example.com")
            let own = try await server.call(Self.login, body: login("correct horse battery", as: "bea@example.com"))
            #expect(own.status == 200)
        }
    }

    @Test("A successful sign-in does not restore consumed attempts")
    func successCounts() async throws {
        try await withServer {
            $0.limits.policies[.loginAccount] = AccountLimit.loginAccount.policy(3, perSeconds: 900)
            $0.trustLoopback()
        } _: { server in
            try await server.register("ana@example.com")
            for password in ["wrong password", "correct horse battery", "wrong password"] {
                #expect(try await server.call(Self.login, body: login(password)).status != 429)
            }
            #expect(try await server.call(Self.login, body: login("correct horse battery")).status == 429)
        }
    }

    @Test("Of 60 concurrent attempts with one address exactly ten reach the password check")
    func concurrentGuessing() async throws {
        try await withServer {
            $0.limits.policies[.loginAccount] = AccountLimit.loginAccount.standard
            $0.trustLoopback()
        } _: { server in
            try await server.register("ana@example.com")
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<60 {
                    let body = login("guess number \(number)")
                    group.addTask { try await server.call(Self.login, body: body).status }
                }
                return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
            }
            // The hashing gate may refuse some with 503, which don't count, so that others are admitted instead.
            #expect((statuses[401] ?? 0) <= 10 && statuses.values.reduce(0, +) == 60, "\(statuses)")
            var checked = statuses[401] ?? 0
            while try await server.call(Self.login, body: login("another guess")).status == 401 { checked += 1 }
            #expect(checked == 10)
        }
    }

    @Test("Forged header fields give a client no further quota without a trusted proxy")
    func spoofing() async throws {
        try await withServer {
            $0.limits.policies[.resetIP] = AccountLimit.resetIP.policy(5, perSeconds: 3_600)
        } _: { server in
            let route = LimitedRoute.resets[0]
            for number in 0..<5 {
                let admitted = try await server.call(route, number, from: "198.51.100.\(number)")
                #expect(admitted.status == 200)
            }
            for number in 5..<30 {
                let forged = [
                    "Forwarded: for=203.0.113.\(number)", "X-Real-IP: 203.0.113.\(number)", "CF-Connecting-IP: 203.0.113.9",
                ]
                let response = try await server.call(route, number, from: "198.51.100.\(number), 127.0.0.1", headers: forged)
                #expect(response.status == 429)
            }
        }
    }

    @Test("Behind a trusted proxy a forged field gains at most the proxy's own quota")
    func secondField() async throws {
        try await withServer {
            $0.limits.policies[.resetIP] = AccountLimit.resetIP.policy(3, perSeconds: 3_600)
            $0.trustLoopback()
        } _: { server in
            let route = LimitedRoute.resets[0]
            var admitted = 0
            for number in 0..<30 {
                let headers = ["Forwarded: for=203.0.113.\(number)"]
                if try await server.call(route, number, headers: headers).status == 200 { admitted += 1 }
                if try await server.call(route, number + 100).status == 200 { admitted += 1 }
            }
            #expect(admitted == 6)
        }
    }

    @Test("Charges forms sent by other sites to no client")
    func crossSite() async throws {
        try await withServer {
            $0.limits.policies[.tokenIP] = AccountLimit.tokenIP.policy(30, perSeconds: 3_600)
            $0.trustLoopback()
        } _: { server in
            for _ in 0..<40 {
                let forged = try await server.call(LimitedRoute.resetForm, headers: ["Origin: https://evil.example"])
                #expect(forged.status == 403)
            }
            #expect(try await server.call(LimitedRoute.resetForm).remaining(.tokenIP) == 29)
        }
    }

    @Test(
        "Refuses a form that another site sends to the API, and charges no client",
        arguments: LimitedRoute.all.filter { !$0.isForm && $0.operation.request != nil }
    )
    func crossSiteAPI(route: LimitedRoute) async throws {
        let byClient = try #require(route.byClient)
        try await withServer {
            $0.limits.policies[byClient] = byClient.policy(30, perSeconds: 3_600)
            $0.trustLoopback()
        } _: { server in
            func send(_ header: String) async throws -> RawHTTP.Answer {
                let type = "Content-Type: application/x-www-form-urlencoded"
                return try await RawHTTP.send(
                    route.operation.method.rawValue,
                    route.path,
                    to: server.url,
                    headers: [type, "X-Forwarded-For: 198.51.100.1", header],
                    body: Array(route.form(0).utf8)
                )
            }
            for header in [
                "Origin: https://evil.example", "Origin: null", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site",
            ] {
                let forged = try await send(header)
                #expect(forged.status == 415, "\(header)")
                #expect(forged["X-Error-Code"] == "REQUEST_UNSUPPORTED_MEDIA_TYPE")
            }
            // A browser sends JSON to another site only with the permission of this site.
            let json = try await server.call(route, headers: ["Origin: https://app.example", "Sec-Fetch-Site: cross-site"])
            #expect(json.status != 415)
            #expect(json.remaining(byClient) == 29)
            for header in ["Sec-Fetch-Site: same-origin", "Origin: \(server.url.absoluteString)"] {
                let own = try await send(header)
                #expect(own.status != 415, "\(header)")
            }
        }
    }

    @Test("Opening pages uses no quota")
    func scanners() async throws {
        try await withServer {
            $0.limits.policies[.tokenIP] = AccountLimit.tokenIP.policy(1, perSeconds: 3_600)
        } _: { server in
            let token = String(repeating: "A", count: 43)
            for _ in 0..<20 {
                let page = try await RawHTTP.send("GET", "/reset-password?token=\(token)", to: server.url)
                #expect(page.status == 410)
                #expect(page["RateLimit"] == nil)
            }
        }
    }

    @Test("A refused page explains the refusal with the delay")
    func refusedPage() async throws {
        try await withServer {
            $0.limits.policies[.tokenIP] = AccountLimit.tokenIP.policy(1, perSeconds: 3_600)
            $0.trustLoopback()
        } _: { server in
            let route = LimitedRoute.resetForm
            _ = try await server.call(route)
            let page = try await server.call(route, headers: ["Accept-Language: es"])
            #expect(page.status == 429)
            #expect(page["Content-Type"] == "text/html; charset=utf-8")
            let wait = try #require(page.retryPhrase(in: .spanish))
            #expect(page.text.contains("Demasiadas solicitudes. Intenta de nuevo en \(wait)."))
            #expect(page.remaining(.tokenIP) == 0)
        }
    }
}
