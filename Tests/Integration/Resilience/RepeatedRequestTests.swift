import AccountContract
import AccountRoutes
import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import Idempotency
import RateLimiting
import SQLiteStores
import ServerMiddleware
import StrictJSON
import Testing

@testable import AccountServer
@testable import HoldfastCommand

/// The effect of idempotency keys on the account server's routes.
@Suite(.timeLimit(.minutes(15))) struct RepeatedRequestTests {
    private static let resetPath = "/api/request-password-reset/"

    @Test(
        "Two reset requests with one key send one email and count once",
        arguments: [resetPath, "/reset_password/"]
    )
    func reset(path: String) async throws {
        try await withServer {
            $0.resetEmailLimit = AccountLimit.resetEmail.policy(1, perSeconds: 3_600)
        } _: { server in
            try await server.register("ana@example.com")
            let body = #"{"email":"ana@example.com"}"#
            for number in 0..<3 {
                let answer = try await server.post(path, body, headers: [#"Idempotency-Key: "k""#])
                #expect(answer.status == 200)
                #expect(answer["Idempotency-Replayed"] == (number == 0 ? nil : "true"))
            }
            #expect(try await server.post(path, body).status == 429)
            #expect(try await server.mails(atLeast: 1).count == 1)
        }
    }

    @Test("A confirm with a lost response repeats only with its key, token and password")
    func confirm() async throws {
        try await withServer { server in
            try await server.register("ana@example.com")
            let token = try await server.resetLink(for: "ana@example.com").token.rawValue
            let body = #"{"token":"\#(token)","new_password":"another horse battery"}"#
            let path = "/api/confirm-password-reset/"
            let first = try await server.post(path, body, headers: ["Idempotency-Key: k"])
            let again = try await server.post(path, body, headers: ["Idempotency-Key: k"])
            #expect(first.status == 200 && again.status == 200 && again.body == first.body)
            #expect(again["Idempotency-Replayed"] == "true")
            let otherPassword = #"{"token":"\#(token)","new_password":"a third horse battery"}"#
            #expect(try await server.post(path, otherPassword, headers: ["Idempotency-Key: k"]).status == 422)
            let otherToken = #"{"token":"guessed","new_password":"another horse battery"}"#
            #expect(
                try await server.post(path, otherToken, headers: ["Idempotency-Key: k"])["X-Error-Code"]
                    == "AUTH_RESET_TOKEN_INVALID"
            )
            #expect(
                try await server.post(path, body, headers: ["Idempotency-Key: other"])["X-Error-Code"]
                    == "AUTH_RESET_TOKEN_INVALID"
            )
        }
    }

    @Test("A confirm can be repeated from another client address")
    func confirmFromAnotherAddress() async throws {
        try await withServer {
            $0.limits.identity = ClientIdentity(trustedProxies: (try? [IPRange("127.0.0.1")]) ?? [])
        } _: { server in
            try await server.register("ana@example.com")
            let token = try await server.resetLink(for: "ana@example.com").token.rawValue
            let body = #"{"token":"\#(token)","new_password":"another horse battery"}"#
            for client in ["198.51.100.1", "2001:db8::7"] {
                let answer = try await server.post(
                    "/api/confirm-password-reset/",
                    body,
                    headers: ["Idempotency-Key: k", "X-Forwarded-For: \(client)"]
                )
                #expect(answer.status == 200)
            }
        }
    }

    @Test("Confirm's fixed response is stored for 24 hours")
    func confirmIsStoredForADay() async throws {
        let clock = ManualClock()
        try await withMemoryServer(time: .manual(clock, from: Date())) { server in
            let account = #"{"email":"ana@example.com","password":"correct horse battery","first_name":"Ana"}"#
            #expect(try await server.send(.post, "/api/auth/register", account).status == 201)
            _ = try await server.send(.post, Self.resetPath, #"{"email":"ana@example.com"}"#)
            try await server.deliver()
            let token = try #require(server.post.take().first { $0.isReset }?.token)
            let confirm = {
                try await server.send(
                    .post,
                    "/api/confirm-password-reset/",
                    #"{"token":"\#(token)","new_password":"another horse battery"}"#,
                    headers: ["Idempotency-Key": "k"]
                )
            }
            let first = try await confirm()
            #expect(first.status == 200)
            clock.advance(by: .seconds(24 * 3_600 - 1))
            #expect(try await confirm() == first)
            clock.advance(by: .seconds(1))
            let late = try await confirm()
            #expect(late.status == 400 && late.text.contains("AUTH_RESET_TOKEN_INVALID"))
        }
    }

    @Test(
        "Login, register and refresh ignore keys and store nothing",
        arguments: ["k", #""quoted""#, "", #"""#, String(repeating: "k", count: 300)]
    )
    func ignoredKeys(key: String) async throws {
        try await withServer { server in
            let headers = ["Idempotency-Key: \(key)", "Idempotency-Key: \(key)"]
            var refreshTokens: Set<String> = []
            for name in ["ana", "eva"] {
                let credentials = #""email":"\#(name)@example.com","password":"correct horse battery""#
                let account = "{\(credentials),\"first_name\":\"Ana\"}"
                #expect(try await server.post("/api/auth/register", account, headers: headers).status == 201)
                let again = try await server.post("/api/auth/register", account, headers: headers)
                #expect(again.status == 400 && again["X-Error-Code"] == "AUTH_EMAIL_EXISTS")
                for _ in 0..<2 {
                    let login = try await server.post("/api/auth/login", "{\(credentials)}", headers: headers)
                    #expect(login.status == 200)
                    let token = try #require(try login.json()["refresh_token"]?.stringValue)
                    let refresh = #"{"refresh_token":"\#(token)"}"#
                    let refreshed = try await server.post("/api/auth/refresh", refresh, headers: headers)
                    #expect(refreshed.status == 200 && refreshed["Idempotency-Replayed"] == nil)
                    let next = try #require(try refreshed.json()["refresh_token"]?.stringValue)
                    #expect(refreshTokens.insert(next).inserted)
                }
            }
            #expect(try await server.server.accounts.stores.keyCount() == 0)
        }
    }

    @Test("Stores no tokens, passwords, keys or addresses; two sign-ins give two sessions")
    func secrets() async throws {
        try await withServer { server in
            try await server.register("ana@example.com")
            let login = #"{"email":"ana@example.com","password":"correct horse battery"}"#
            let headers = ["Idempotency-Key: key-that-nobody-knows"]
            let first = try await server.post("/api/auth/login", login, headers: headers)
            let second = try await server.post("/api/auth/login", login, headers: headers)
            #expect(first.status == 200 && second.status == 200 && second["Idempotency-Replayed"] == nil)
            #expect(try first.json()["refresh_token"] != second.json()["refresh_token"])
            let link = try await server.resetLink(for: "ana@example.com").token.rawValue
            let look = try await server.post("/api/validate-reset-token/", #"{"token":"\#(link)"}"#, headers: headers)
            #expect(look.status == 200)
            let body = #"{"token":"\#(link)","new_password":"another horse battery"}"#
            #expect(try await server.post("/api/confirm-password-reset/", body, headers: headers).status == 200)
            let refresh = try #require(try first.json()["refresh_token"]?.stringValue)
            _ = try await server.post("/api/auth/logout", #"{"refresh_token":"\#(refresh)"}"#, headers: headers)
            // The reset request, the confirm and the sign-out.
            #expect(try await server.server.accounts.stores.keyCount() == 3)
            let secrets = [refresh, link, "another horse battery", "correct horse battery", "key-that-nobody-knows"]
            for file in try server.server.accounts.stores.databaseFiles() {
                let bytes = try Data(contentsOf: file)
                for secret in secrets {
                    #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(secret) in \(file.lastPathComponent)")
                }
            }
            for secret in secrets { #expect(!server.log.text.contains(secret)) }
        }
    }

    @Test("A restarted server knows the keys of the previous one")
    func restart() async throws {
        try await withFolder(sharesStores: true) { folder in
            for number in 0..<2 {
                try await withServer {
                    $0.dataFolder = folder
                } _: { server in
                    let answer = try await server.post(
                        Self.resetPath,
                        #"{"email":"ana@example.com"}"#,
                        headers: ["Idempotency-Key: over-a-restart"]
                    )
                    #expect(answer.status == 200 && answer["Idempotency-Replayed"] == (number == 0 ? nil : "true"))
                }
            }
        }
    }

    @Test("Refuses a request with no time left as bad input, without executing it", arguments: ["0", "soon", "1.5", "-1"])
    func noTimeLeft(value: String) async throws {
        try await withServer { server in
            let body = #"{"email":"ana@example.com","password":"correct horse battery","first_name":"Ana"}"#
            let response = try await server.post("/api/auth/register", body, headers: ["X-Request-Timeout-Ms: \(value)"])
            #expect(response.status == 400 && response["X-Error-Code"] == "VALIDATION_INVALID_INPUT")
            #expect(try await server.post("/api/auth/register", body).status == 201)
        }
    }
}

extension Stores {
    fileprivate func keyCount() async throws -> Int {
        try await idempotency(IdempotencyBounds()).count()
    }

    fileprivate func databaseFiles() throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: folder.url, includingPropertiesForKeys: nil)
            .filter { $0.lastPathComponent.hasPrefix("holdfast.sqlite3") }
    }
}
