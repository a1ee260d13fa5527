import AccountContract
import AccountCore
import Crypto
import DataServerTesting
import Foundation
import StrictJSON
import Synchronization
import TestSupport
import Testing
import TokenVerifier

@testable import AccountServer
@testable import HoldfastCommand

/// The keys of access tokens: the command, the served key set, and what servers refuse.
@Suite(.timeLimit(.minutes(10))) struct KeysTests {
    private static let registration = #"{"email":"ana@example.com","password":"correct horse battery","first_name":"Ana"}"#

    private struct Session {
        let access: String
        let refresh: String

        init(_ response: RawHTTP.Answer) throws {
            let body = try JSONParser().parse(response.body).objectValue
            access = try #require(body?["access_token"]?.stringValue, "\(response.status)")
            refresh = try #require(body?["refresh_token"]?.stringValue)
        }

        func refreshed(at url: URL) async throws -> Session {
            try Session(try await post(AccountPath.refresh, #"{"refresh_token":"\#(refresh)"}"#, to: url))
        }

        /// The status of `GET /api/auth/me`.
        func me(at url: URL) async throws -> Int {
            try await RawHTTP.send("GET", AccountPath.me, to: url, headers: ["Authorization: Bearer \(access)"]).status
        }
    }

    private func keySet(of url: URL) async throws -> [UInt8] {
        try await RawHTTP.send("GET", "/.well-known/jwks.json", to: url).body
    }

    private func verifier(of url: URL, issuer: String? = nil, audience: String = "Holdfast") -> TokenVerifier {
        var rules = TokenVerifier.Rules()
        (rules.unknownKeyPause, rules.refreshAge) = (.zero, .zero)
        return TokenVerifier(issuer: issuer ?? url.absoluteString, audience: audience, rules: rules) { try await keySet(of: url) }
    }

    /// The id and the state of every key, as the command lists them.
    private func list(in folder: URL, environment: [String: String] = [:]) async throws -> [(id: String, state: String)] {
        let run = try await Binary.run(["keys", "list", "--json"], environment: environment, in: folder)
        #expect(run.status == 0, "\(run.errors)")
        let keys = try #require(try JSONParser().parse(run.output.utf8.dropLast()).arrayValue).compactMap(\.objectValue)
        return keys.map { ($0["id"]?.stringValue ?? "", $0["state"]?.stringValue ?? "") }
    }

    @Test("Another service verifies tokens by the served keys, before and after a rotation")
    func rotate() async throws {
        try await withFolder(sharesStores: true) { folder in
            try await withServing(in: folder) { url in
                let session = try Session(try await post(AccountPath.register, Self.registration, to: url))
                let verified = try await verifier(of: url).verify(session.access)
                #expect(!verified.isEmailVerified)
                let first = try await list(in: folder)
                #expect(first.map(\.state) == ["signing"])
                let run = try await Binary.run(["keys", "rotate"], in: folder)
                #expect(run.status == 0 && run.output.contains("pending"), "\(run.errors)")
                #expect(try await list(in: folder).map(\.state) == ["signing", "pending"])
                try await eventually { try await TokenKeys(document: try await keySet(of: url)).ids.count == 2 }
                _ = try await verifier(of: url).verify(session.access)
                #expect(try await session.me(at: url) == 200)
                let again = try await Binary.run(["keys", "rotate"], in: folder)
                #expect(again.status == 1 && again.errors.contains("is published already"))
            }
        }
    }

    @Test("A server refuses a key retired with --now within a second; sessions continue")
    func retireNow() async throws {
        try await withFolder(sharesStores: true) { folder in
            try await withServing(in: folder) { url in
                let session = try Session(try await post(AccountPath.register, Self.registration, to: url))
                #expect(try await session.me(at: url) == 200)
                let id = try #require(try await list(in: folder).first?.id)
                let run = try await Binary.run(["keys", "retire", id, "--now"], in: folder)
                #expect(run.status == 0, "\(run.errors)")
                try await Task.sleep(for: .seconds(1))
                #expect(try await session.me(at: url) == 401)
                let ids = try await TokenKeys(document: try await keySet(of: url)).ids
                #expect(ids.count == 1 && !ids.contains(id))
                let next = try await session.refreshed(at: url)
                #expect(try await next.me(at: url) == 200)
                _ = try await verifier(of: url).verify(next.access)
                await #expect(throws: TokenRefusal.unknownKey) { try await verifier(of: url).verify(session.access) }
                #expect(try await list(in: folder).map(\.state) == ["retired", "signing"])
                let again = try await Binary.run(["keys", "retire", id, "--now"], in: folder)
                #expect(again.status == 1 && again.errors.contains("refused since"))
                let unknown = try await Binary.run(["keys", "retire", "0123"], in: folder)
                #expect(unknown.status == 1 && unknown.errors.contains("no such key"))
            }
        }
    }

    @Test("The key set has a lifetime and a tag, by which clients ask for changes")
    func headers() async throws {
        try await withServer { server in
            let response = try await RawHTTP.send("GET", "/.well-known/jwks.json", to: server.url)
            #expect(response.status == 200)
            #expect(response["Cache-Control"] == "public, max-age=300")
            #expect(response["Content-Type"] == "application/json")
            let tag = try #require(response["ETag"])
            let target = "/.well-known/jwks.json"
            for value in [tag, "W/\(tag)", "\"x\", \(tag)"] {
                let same = try await RawHTTP.send("GET", target, to: server.url, headers: ["If-None-Match: \(value)"])
                #expect(same.status == 304 && same.body.isEmpty && same["ETag"] == tag && same["Cache-Control"] != nil)
            }
            #expect(try await RawHTTP.send("GET", target, to: server.url, headers: ["If-None-Match: \"x\""]).status == 200)
            let head = try await RawHTTP.send("HEAD", target, to: server.url)
            #expect(head.status == 200 && head.body.isEmpty && head["ETag"] == tag)
            try await server.server.accounts.signingKeys.rotate()
            let changed = try await RawHTTP.send("GET", target, to: server.url, headers: ["If-None-Match: \(tag)"])
            #expect(changed.status == 200 && changed["ETag"] != tag)
        }
    }

    /// A web address of 501 bytes.
    private static let longAddress = "https://example.com/" + String(repeating: "a", count: 481)

    @Test("TOKEN_ISSUER and TOKEN_AUDIENCE are in tokens, and refused when invalid")
    func settings() async throws {
        let names = ["ENVIRONMENT": "development", "TOKEN_ISSUER": "https://id.example.com/a/", "TOKEN_AUDIENCE": "notes"]
        try await withFolder(sharesStores: true) { folder in
            try await withServing(environment: names, in: folder) { url in
                let session = try Session(try await post(AccountPath.register, Self.registration, to: url))
                #expect(try await session.me(at: url) == 200)
                _ = try await verifier(of: url, issuer: "https://id.example.com/a/", audience: "notes").verify(session.access)
            }
        }
        let production = ["ENVIRONMENT": "production", "PASSWORD_RESET_BASE_URL": "https://example.com"]
        let refused: [([String: String], String)] = [
            (["TOKEN_ISSUER": "accounts"], "TOKEN_ISSUER must be an absolute http or https address"),
            (["TOKEN_ISSUER": "https://example.com/?a"], "TOKEN_ISSUER must be"),
            (production.merging(["TOKEN_ISSUER": "http://example.com"]) { $1 }, "TOKEN_ISSUER must begin with https://"),
            (["TOKEN_AUDIENCE": String(repeating: "a", count: 201)], "TOKEN_AUDIENCE must have at most 200 bytes"),
            (["TOKEN_AUDIENCE": "a\nb"], "TOKEN_AUDIENCE contains a control character"),
            (["APP_NAME": String(repeating: "é", count: 101)], "APP_NAME must have at most 200 bytes (has 202)"),
            (["TOKEN_ISSUER": Self.longAddress], "TOKEN_ISSUER must have at most 500 bytes (has 501)"),
            (["PASSWORD_RESET_BASE_URL": Self.longAddress], "PASSWORD_RESET_BASE_URL must have at most 500 bytes (has 501)"),
        ]
        for (environment, text) in refused {
            try await withFolder { folder in
                let run = try await Binary.run(
                    ["serve", "--port", "0"],
                    environment: ["ENVIRONMENT": "development"].merging(environment) { $1 },
                    in: folder
                )
                #expect(run.status == 78 && run.errors.contains(text), "\(run.errors)")
            }
        }
    }

    @Test("After the upgrade from HS256, accepts tokens of before and refuses others")
    func upgrade() async throws {
        try await withFolder(sharesStores: true) { folder in
            func onServer(_ body: @escaping @Sendable (TestServer) async throws -> Void) async throws {
                try await withServer(
                    { $0.dataFolder = folder.appending(path: "data") },
                    body
                )
            }
            let tokens = Mutex<[String]>([])
            try await onServer { server in
                let session = try Session(try await server.post(AccountPath.register, Self.registration))
                let payload = try #require(Base64URL.decoded(String(session.access.split(separator: ".")[1])))
                let claims = try #require(try JSONParser().parse(payload).objectValue)
                let (stores, configuration) = (server.server.accounts.stores, server.server.accounts.configuration)
                let key = try stores.keys(secret: configuration.secret).accessTokens
                let now = Int64(Date().timeIntervalSince1970)
                tokens.withLock { tokens in
                    for (id, issuedAt) in [(nil, now - 60), (nil, now + 3_600), ("x", now - 60)] as [(String?, Int64)] {
                        tokens.append(Self.legacy(claims, keyID: id, issuedAt: issuedAt, key))
                    }
                }
                // An earlier version has no keys.
                _ = try await stores.signingKeys.changeSigningKeys { _ in SigningKeySet() }
            }
            try await onServer { server in
                var statuses: [Int] = []
                for token in tokens.withLock({ $0 }) {
                    let headers = ["Authorization: Bearer \(token)"]
                    statuses.append(try await RawHTTP.send("GET", AccountPath.me, to: server.url, headers: headers).status)
                }
                #expect(statuses == [200, 401, 401])
            }
        }
    }

    /// A token as earlier versions signed it.
    private static func legacy(_ claims: JSONObject, keyID: String?, issuedAt: Int64, _ key: SymmetricKey) -> String {
        let header = #"{"alg":"HS256",\#(keyID.map { #""kid":"\#($0)","# } ?? "")"typ":"JWT"}"#
        let payload: JSONValue = [
            "sub": claims["sub"] ?? .null, "sid": claims["sid"] ?? .null, "epoch": claims["epoch"] ?? .null,
            "iat": .integer(issuedAt), "exp": .integer(issuedAt + 900),
        ]
        let signed = Base64URL.encoded(Array(header.utf8)) + "." + Base64URL.encoded(payload.encoded())
        return signed + "." + Base64URL.encoded(Array(HMAC<SHA256>.authenticationCode(for: Data(signed.utf8), using: key)))
    }

    @Test("Changes of keys are logged without the keys")
    func logs() async throws {
        try await withServer { server in
            let keys = server.server.accounts.signingKeys
            try await keys.rotate()
            let id = try #require(try await keys.stored().keys.last?.id)
            try await keys.retire(id, isLeaked: true)
            for key in try await keys.stored().keys {
                #expect(!server.log.text.contains(key.sealed.base64EncodedString()))
            }
            #expect(server.log.text.contains("Signing keys loaded"))
            #expect(!server.log.text.lowercased().contains("private"))
        }
    }
}

/// Several servers on one database.
@Suite(.timeLimit(.minutes(20))) struct ClusterKeysTests {
    @Test("Three servers sign with one key, and refuse a retired one within a second")
    func retireNow() async throws {
        let database = try await PostgresServer.shared().createDatabase()
        try await Cluster.run(database: database) { cluster in
            let body = #"{"email":"ana@example.com","password":"correct horse battery","first_name":"Ana"}"#
            let response = try await post("/api/auth/register", body, to: cluster.urls[0])
            let token = try #require(try JSONParser().parse(response.body).objectValue?["access_token"]?.stringValue)
            func statuses() async throws -> [Int] {
                var statuses: [Int] = []
                for url in cluster.urls {
                    let headers = ["Authorization: Bearer \(token)"]
                    statuses.append(try await RawHTTP.send("GET", "/api/auth/me", to: url, headers: headers).status)
                }
                return statuses
            }
            #expect(try await statuses() == [200, 200, 200])
            let run = try await cluster.command(["keys", "list", "--json"])
            let keys = try #require(try JSONParser().parse(run.output.utf8.dropLast()).arrayValue)
            #expect(keys.count == 1)
            let id = try #require(keys.first?.objectValue?["id"]?.stringValue)
            let retired = try await cluster.command(["keys", "retire", id, "--now"])
            #expect(retired.status == 0, "\(retired.errors)")
            try await Task.sleep(for: .seconds(1))
            #expect(try await statuses() == [401, 401, 401])
        }
    }
}
