import AccountContract
import ErrorContract
import Foundation
import OpenAPI
import StrictJSON
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct DeclaredResponseTests {
    @Test("Every bad input gets a response that its operation documents")
    func badInput() async throws {
        try await withServer {
            $0.resetEmailLimit = nil
        } _: { server in
            var seen = 0
            for input in BadInput.unreadable + BadInput.invalid {
                let headers = input.headers + (input.contentType.map { ["Content-Type: \($0)"] } ?? [])
                let answer = try await RawHTTP.send(input.method, input.path, to: server.url, headers: headers, body: input.body)
                try expectDeclared(answer, input.method, input.path, server)
                seen += 1
            }
            #expect(seen > 40)
        }
    }

    @Test("Documents the responses of accounts, sessions, links and limits")
    func stories() async throws {
        try await withServer { server in
            let register = #"{"email":"ana@example.com","password":"correct horse battery","first_name":"Ana"}"#
            let opened = try await post(server, AccountPath.register, register, 201)
            try await post(server, AccountPath.register, register, 400, "AUTH_EMAIL_EXISTS")
            let weak = #"{"email":"bea@example.com","password":"short","first_name":"Bea"}"#
            try await post(server, AccountPath.register, weak, 400, "AUTH_WEAK_PASSWORD")
            try await post(server, AccountPath.login, #"{"email":"ana@example.com","password":"correct horse battery"}"#, 200)
            let wrong = #"{"email":"ana@example.com","password":"wrong"}"#
            try await post(server, AccountPath.login, wrong, 401, "AUTH_INVALID_CREDENTIALS")
            let token = try #require(try opened.json()["refresh_token"]?.stringValue)
            try await post(server, AccountPath.refresh, #"{"refresh_token":"\#(token)"}"#, 200)
            try await post(server, AccountPath.refresh, #"{"refresh_token":"unknown"}"#, 401, "AUTH_REFRESH_FAILED")
            let access = try #require(try opened.json()["access_token"]?.stringValue)
            for (header, status, code) in [
                ("Authorization: Bearer \(access)", 200, nil), ("Authorization: Bearer x", 401, "AUTH_TOKEN_INVALID"),
                ("X-Nothing: 1", 401, "AUTH_TOKEN_MISSING"),
            ] as [(String, Int, String?)] {
                try await send("GET", AccountPath.me, headers: [header], to: server, status, code)
            }
            try await post(server, AccountPath.logout, #"{"refresh_token":"\#(token)"}"#, 204)
            try await send(
                "GET",
                AccountPath.me,
                headers: ["Authorization: Bearer \(access)"],
                to: server,
                401,
                "AUTH_SESSION_EXPIRED"
            )
            try await recovery(server)
        }
    }

    private func recovery(_ server: TestServer) async throws {
        let link = try await server.resetLink(for: "ana@example.com")
        let token = link.token.rawValue
        try await post(server, AccountPath.validateResetToken, #"{"token":"\#(token)"}"#, 200)
        try await send("GET", "/reset-password?token=\(token)", to: server, 200)
        let weak = #"{"token":"\#(token)","new_password":"ana@example.com"}"#
        try await post(server, AccountPath.confirmPasswordReset, weak, 400, "AUTH_WEAK_PASSWORD")
        let good = #"{"token":"\#(token)","new_password":"another horse battery"}"#
        try await post(server, AccountPath.confirmPasswordReset, good, 200)
        try await post(server, AccountPath.confirmPasswordReset, good, 400, "AUTH_RESET_TOKEN_INVALID")
        try await send("GET", "/reset-password?token=\(token)", to: server, 410)
        try await send("GET", "/reset-password?token=", to: server, 400)
        for path in [AccountPath.requestPasswordReset, AccountPath.legacyPasswordReset] {
            for _ in 0..<2 { try await post(server, path, #"{"email":"cia@example.com"}"#) }
        }
        for path in [AccountPath.requestPasswordReset, AccountPath.legacyPasswordReset] {
            try await post(server, path, #"{"email":"cia@example.com"}"#, 429, "RATE_LIMIT_EXCEEDED")
        }
        let form = ["Content-Type: application/x-www-form-urlencoded"]
        let body = Array("email=cia%40example.com".utf8)
        let path = "/reset-password/request"
        try await send("POST", path, headers: form, body: body, to: server, 429, "RATE_LIMIT_EXCEEDED")
        let foreign = form + ["Origin: https://evil.example"]
        try await send("POST", path, headers: foreign, body: body, to: server, 403, "RESOURCE_FORBIDDEN")
        try await send("GET", "/dev/mailbox/none", to: server, 404, "RESOURCE_NOT_FOUND")
    }

    @discardableResult
    private func post(
        _ server: TestServer,
        _ path: String,
        _ json: String,
        _ status: Int? = nil,
        _ code: String? = nil
    ) async throws -> RawHTTP.Answer {
        let headers = ["Content-Type: application/json"]
        return try await send("POST", path, headers: headers, body: Array(json.utf8), to: server, status, code)
    }

    @discardableResult
    private func send(
        _ method: String,
        _ path: String,
        headers: [String] = [],
        body: [UInt8] = [],
        to server: TestServer,
        _ status: Int? = nil,
        _ code: String? = nil
    ) async throws -> RawHTTP.Answer {
        let answer = try await RawHTTP.send(method, path, to: server.url, headers: headers, body: body)
        if let status { #expect(answer.status == status, "\(method) \(path): \(answer.text.prefix(300))") }
        if status != nil { #expect(answer["X-Error-Code"] == code, "\(method) \(path)") }
        try expectDeclared(answer, method, path, server)
        return answer
    }

    /// Expects the description to contain the status of a response, and its code if it has one.
    private func expectDeclared(_ answer: RawHTTP.Answer, _ method: String, _ path: String, _ server: TestServer) throws {
        let description = server.server.accounts.apiDescription()
        let plain = String(path.prefix { $0 != "?" })
        let operation = try #require(description.operation(method, plain), "\(method) \(path)")
        #expect(operation.statuses(description.settings).contains(answer.status), "\(operation.id) \(answer.status)")
        let declared = headers(of: operation, answer.status, in: OpenAPIDocument(description).json)
        for name in ["RateLimit", "RateLimit-Policy", "Retry-After", "WWW-Authenticate"] where answer[name] != nil {
            #expect(declared.contains(name), "\(operation.id) \(answer.status) \(name)")
        }
        guard let code = answer["X-Error-Code"] else { return }
        #expect(operation.codes(description.settings).contains(ErrorCode(code)), "\(operation.id) \(code)")
    }

    /// Returns the names of the headers that the document declares for an operation's response.
    private func headers(of operation: APIOperation, _ status: Int, in document: JSONValue) -> [String] {
        let responses = member(document, ["paths", operation.path, operation.method.rawValue.lowercased(), "responses"])
        let response = responses?.objectValue?["\(status)"]
        let component = response?.objectValue?["$ref"]?.stringValue?.split(separator: "/").last.map { String($0) }
        let whole = component.flatMap { member(document, ["components", "responses", $0]) } ?? response
        return whole?.objectValue?["headers"]?.objectValue?.members.map(\.key) ?? []
    }

    private func member(_ value: JSONValue, _ path: [String]) -> JSONValue? {
        path.reduce(value) { $0?.objectValue?[$1] }
    }
}
