import AccountRoutes
import Foundation
import ServerMiddleware
import Testing

@testable import AccountServer
@testable import HoldfastCommand

/// A route of the account server that is limited, and how to call it.
struct LimitedRoute: Sendable, CustomTestStringConvertible {
    let path: String
    /// The limits that its answers show, in their order.
    let shown: [AccountLimit]
    var isForm = false
    /// A body that can be read. The number makes its address another one.
    let body: @Sendable (Int) -> String
    /// A body that can't.
    var malformed = "{"

    var testDescription: String { path }

    /// The limit of the route by client.
    var byClient: AccountLimit { shown[shown.count - 1] }

    private static let token = String(repeating: "A", count: 43)

    static let all = resets + tokens + sessions

    static let resets: [LimitedRoute] = [
        LimitedRoute(path: "/api/request-password-reset/", shown: [.resetEmail, .resetIP]) {
            #"{"email":"a\#($0)@example.com"}"#
        },
        LimitedRoute(path: "/reset_password/", shown: [.resetEmail, .resetIP]) { #"{"email":"a\#($0)@example.com"}"# },
        LimitedRoute(
            path: "/reset-password/request",
            shown: [.resetEmail, .resetIP],
            isForm: true,
            body: { "email=a\($0)%40example.com" },
            malformed: "email=%"
        ),
    ]

    static let tokens: [LimitedRoute] = [
        LimitedRoute(path: "/api/validate-reset-token/", shown: [.tokenIP]) { _ in #"{"token":"\#(token)"}"# },
        LimitedRoute(path: "/api/confirm-password-reset/", shown: [.tokenIP]) { _ in
            #"{"token":"\#(token)","new_password":"a good password"}"#
        },
        LimitedRoute(
            path: "/reset-password",
            shown: [.tokenIP],
            isForm: true,
            body: { _ in "token=\(token)&new_password=a+good+password&confirm_password=a+good+password" },
            malformed: "token=%"
        ),
        LimitedRoute(
            path: "/reset-password/not-me",
            shown: [.tokenIP],
            isForm: true,
            body: { _ in "token=\(token)" },
            malformed: "token=%"
        ),
    ]

    static let sessions: [LimitedRoute] = [
        LimitedRoute(path: "/api/auth/login", shown: [.loginAccount, .loginIP]) {
            #"{"email":"a\#($0)@example.com","password":"wrong password"}"#
        },
        LimitedRoute(path: "/api/auth/refresh", shown: [.refreshIP]) { _ in #"{"refresh_token":"\#(token)"}"# },
        LimitedRoute(path: "/api/auth/register", shown: [.registerIP]) {
            #"{"email":"a\#($0)@example.com","password":"correct horse battery","first_name":"Ana"}"#
        },
    ]
}

extension AccountServerConfiguration {
    /// Lets tests say which client a request comes from, as a proxy on this machine would.
    mutating func trustLoopback() {
        limits.identity = ClientIdentity(trustedProxies: (try? [IPRange("127.0.0.1")]) ?? [])
    }
}

extension TestServer {
    /// Calls a route as a client.
    func call(
        _ route: LimitedRoute,
        _ number: Int = 0,
        body: String? = nil,
        from client: String = "198.51.100.1",
        headers: [String] = []
    ) async throws -> RawHTTP.Answer {
        let type = route.isForm ? "application/x-www-form-urlencoded" : "application/json"
        return try await RawHTTP.send(
            "POST",
            route.path,
            to: url,
            headers: ["Content-Type: \(type)", "X-Forwarded-For: \(client)"] + headers,
            body: Array((body ?? route.body(number)).utf8)
        )
    }
}

extension RawHTTP.Answer {
    /// What is left under a limit, as the answer shows it.
    func remaining(_ limit: AccountLimit) -> Int? {
        let item = self["RateLimit"]?.split(separator: ", ").first { $0.hasPrefix("\"\(limit.rawValue)\";") }
        return item.flatMap { $0.firstMatch(of: /r=(\d+)/) }.flatMap { Int($0.1) }
    }
}
