import AccountContract
import AccountRoutes
import ErrorContract
import Foundation
import RateLimiting
import SQLiteStores
import Testing

@testable import holdfast

/// What keys do on the account server's routes.
@Suite(.timeLimit(.minutes(5))) struct RepeatedRequestTests {
    private static let resetPath = "/api/request-password-reset/"

    @Test(
        "A reset that is asked for twice with one key sends one mail and counts once",
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

    @Test("A confirmation whose answer was lost can be repeated, by who sent it and nobody else")
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
            let guess = #"{"token":"guessed","new_password":"another horse battery"}"#
            #expect(try await server.post(path, guess, headers: ["Idempotency-Key: k"]).status == 422)
            #expect(
                try await server.post(path, body, headers: ["Idempotency-Key: other"])["X-Error-Code"]
                    == "AUTH_RESET_TOKEN_INVALID"
            )
        }
    }

    @Test("Tokens, passwords, keys and addresses are not at rest, and who signs in twice gets two sessions")
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
            #expect(try await server.server.stores.keyCount() == 2)
            let secrets = [refresh, link, "another horse battery", "correct horse battery", "key-that-nobody-knows"]
            for file in try server.server.stores.databaseFiles() {
                let bytes = try Data(contentsOf: file)
                for secret in secrets {
                    #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(secret) in \(file.lastPathComponent)")
                }
            }
            for secret in secrets { #expect(!server.log.text.contains(secret)) }
        }
    }

    @Test("A restarted server knows the keys of the one before")
    func restart() async throws {
        try await withFolder { folder in
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

    @Test("A client that has no time left is answered 504, and nothing is done for it")
    func noTimeLeft() async throws {
        try await withServer { server in
            let body = #"{"email":"ana@example.com","password":"correct horse battery","first_name":"Ana"}"#
            let answer = try await server.post("/api/auth/register", body, headers: ["X-Request-Timeout-Ms: 0"])
            #expect(answer.status == 504 && answer["X-Error-Code"] == "SERVER_TIMEOUT")
            #expect(try await server.post("/api/auth/register", body, headers: ["X-Request-Timeout-Ms: soon"]).status == 201)
        }
    }
}

extension Stores {
    fileprivate func keyCount() async throws -> Int {
        try await SQLiteIdempotencyStore(database).count()
    }

    fileprivate func databaseFiles() throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: folder.url, includingPropertiesForKeys: nil)
            .filter { $0.lastPathComponent.hasPrefix("holdfast.sqlite3") }
    }
}
