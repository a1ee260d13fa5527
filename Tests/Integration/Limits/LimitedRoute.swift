import AccountContract
import AccountRoutes
import ErrorContract
import Foundation
import OpenAPI
import ServerMiddleware
import StrictJSON
import Testing

@testable import AccountServer
@testable import HoldfastCommand

/// A limited operation of the table, with a request for it.
struct LimitedRoute: Sendable, CustomTestStringConvertible {
    let operation: APIOperation

    init?(_ operation: APIOperation) {
        guard !operation.limits.isEmpty else { return nil }
        self.operation = operation
    }

    var path: String { operation.path }
    var isForm: Bool { operation.request?.isForm == true }
    var testDescription: String { "\(operation.method.rawValue) \(path)" }

    /// The limits that responses report, in their order.
    var shown: [AccountLimit] { operation.limits.filter(\.isVisible) }
    /// The limit of the route by client.
    var byClient: AccountLimit? { operation.limits.first { $0.key == .client } }

    /// Returns the body of the example, if the operation has one. The number changes its address and its token.
    func body(_ number: Int) -> String {
        guard let members = example(number) else { return "" }
        return isForm ? form(number) : String(decoding: JSONValue.object(members).encoded(), as: UTF8.self)
    }

    /// Returns the same body as a form.
    func form(_ number: Int) -> String {
        (example(number)?.members ?? []).map { name, value in
            "\(name)=" + (value.stringValue ?? "").replacing("@", with: "%40").replacing(" ", with: "+")
        }.joined(separator: "&")
    }

    private func example(_ number: Int) -> JSONObject? {
        guard var members = operation.request?.example else { return nil }
        if members["email"] != nil { members["email"] = .string("a\(number)@example.com") }
        if let token = members["token"]?.stringValue { members["token"] = .string("\(number + 100)" + token.dropFirst(3)) }
        return members
    }

    /// A body that can't be decoded.
    var malformed: String { isForm ? "token=%" : "{" }

    /// Every limited operation of the table, with each mode of registration.
    static let described: [LimitedRoute] = {
        let registration = OpenRegistrationOperation.allCases.map(\.row) + BlindRegistrationOperation.allCases.map(\.row)
        let settings = AccountSettingsOperation.allCases.map(\.row) + AccountLinkOperation.allCases.map(\.row)
        let recovery = RecoveryOperation.allCases.map(\.row) + RecoveryPageOperation.allCases.map(\.row)
        let pages = AccountPageOperation.allCases.map(\.row)
        return (registration + SessionOperation.allCases.map(\.row) + settings + recovery + pages).compactMap { LimitedRoute($0) }
    }()

    /// The operations of open registration that need neither a session nor an account. `SettingsLimitTests` covers the others.
    static let all = described.filter { route in
        !route.operation.needsSession
            && !BlindRegistrationOperation.allCases.contains {
                $0.row.limits == route.operation.limits && $0.rawValue == route.operation.id
            }
    }

    /// Returns the operations that share a limit.
    static func of(_ limit: AccountLimit) -> [LimitedRoute] { all.filter { $0.operation.limits.contains(limit) } }

    static let resets = of(.resetEmail)
    static let login = of(.loginIP)[0]
    static let register = of(.registerIP)[0]
    static let resetForm = of(.tokenIP).filter(\.isForm)[0]
}

extension AccountServerConfiguration {
    /// Lets tests choose the client of a request, like a proxy on this machine.
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
            route.operation.method.rawValue,
            route.path,
            to: url,
            headers: ["Content-Type: \(type)", "X-Forwarded-For: \(client)"] + headers,
            body: Array((body ?? route.body(number)).utf8)
        )
    }
}

extension RawHTTP.Answer {
    /// Returns the remaining quota of a limit in the response.
    func remaining(_ limit: AccountLimit) -> Int? {
        let item = self["RateLimit"]?.split(separator: ", ").first { $0.hasPrefix("\"\(limit.rawValue)\";") }
        return item.flatMap { $0.firstMatch(of: /r=(\d+)/) }.flatMap { Int($0.1) }
    }
}
