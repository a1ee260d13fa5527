import AccountContract
import AccountCore
import AsyncHTTPClient
import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import StrictJSON
import TestSupport
import Testing
import TokenVerifier

@testable import AccountServer
@testable import HoldfastCommand

/// The recipes of `docs/server/verifying-tokens.md` with `TokenVerifier`, and with Django and PyJWT, which
/// `scripts/python-tools token-tools` installs.
@Suite(.timeLimit(.minutes(10))) struct VerifyingTokensTests {
    private static let python = #""${XDG_CACHE_HOME:-$HOME/.cache}/holdfast/token-tools/bin/python3""#

    @Test("The Django recipe accepts only genuine tokens, and none of a retired key")
    func django() async throws {
        try await withServer { server in
            let url = server.url
            let token = try await Self.token(of: server)
            let forged = try Self.forged(token)
            let genuine = try await statuses(of: [token, ""] + forged, at: url)
            #expect(genuine == [200, 401] + forged.map { _ in 401 })
            #expect(try await statuses(of: [token], at: url, audience: "Photos") == [401])
            #expect(try await statuses(of: [token], at: url, issuer: "https://attacker.example") == [401])
            let keys = server.server.accounts.signingKeys
            let id = try #require(try await keys.stored().keys.first?.id)
            try await keys.retire(id, isLeaked: true)
            #expect(try await statuses(of: [token, "refetch", token], at: url) == [401, 401])
            // Without the key set the token may be valid.
            #expect(try await statuses(of: [token], at: try #require(URL(string: "http://127.0.0.1:9"))) == [503])
        }
    }

    @Test("The Swift recipe accepts only genuine tokens")
    func swift() async throws {
        try await withServer {
            $0.appName = "Notes"
        } _: { server in
            let token = try await Self.token(of: server)
            let forged = try Self.forged(token)
            let accounts = server.url.absoluteString
            try await Self.expect([200, 401] + forged.map { _ in 401 }, of: [token, ""] + forged, accounts: accounts)
            // At this address, there is no key set, so the token may be valid.
            try await Self.expect([503], of: [token], accounts: accounts + "/nothing")
        }
    }

    /// Runs the service of the page, and compares the status of its response to each token.
    private static func expect(_ statuses: [Int], of tokens: [String], accounts: String) async throws {
        // snippet: verify-tokens
        let verifier = TokenVerifier(issuer: accounts, audience: "Notes") {
            let request = HTTPClientRequest(url: accounts + "/.well-known/jwks.json")
            let response = try await HTTPClient.shared.execute(request, timeout: .seconds(5))
            return Array(buffer: try await response.body.collect(upTo: 65_536))
        }
        let router = Router()
        router.get("/notes") { request, _ -> String in
            let field = request.headers[.authorization] ?? ""
            guard field.lowercased().hasPrefix("bearer ") else { throw HTTPError(.unauthorized) }
            do throws(TokenRefusal) {
                let token = try await verifier.verify(String(field.dropFirst(7)))
                return "The notes of \(token.accountID)"
            } catch {
                throw HTTPError(error == .keysUnavailable ? .serviceUnavailable : .unauthorized)
            }
        }
        // snippet end
        try await withApplication { logger, listening in
            Application(
                router: router,
                configuration: .init(address: .hostname("127.0.0.1", port: 0)),
                onServerRunning: { listening($0.localAddress?.port ?? 0) },
                logger: logger
            )
        } _: { url in
            for (token, status) in zip(tokens, statuses) {
                var received: Int?
                // On a slow machine, the fetch of the keys can reach its timeout. The service then fetches them again after a pause.
                try await eventually {
                    let headers = ["Authorization: Bearer \(token)"]
                    received = try await RawHTTP.send("GET", "/notes", to: url, headers: headers).status
                    return received != 503 || status == 503
                }
                #expect(received == status, "\(token)")
            }
        }
    }

    /// Registers an account and returns its access token.
    private static func token(of server: TestServer) async throws -> String {
        let registration = #"{"email":"ana@example.com","password":"correct horse battery","first_name":"Ana"}"#
        let response = try await server.post(AccountPath.register, registration)
        return try #require(try JSONParser().parse(response.body).objectValue?["access_token"]?.stringValue)
    }

    /// The status that the Django view returns for each token.
    private func statuses(
        of tokens: [String],
        at url: URL,
        issuer: String? = nil,
        audience: String = "Crowns"
    ) async throws -> [Int] {
        let script = Repository.root.appending(path: "Tests/ForeignServers/verify_tokens.py").path
        let page = Repository.root.appending(path: "docs/server/verifying-tokens.md").path
        let names = "'\(url.absoluteString)' '\(issuer ?? url.absoluteString)' '\(audience)'"
        let lines = tokens.map { "'\($0)'" }.joined(separator: " ")
        let run = try await bash(#"printf '%s\n' \#(lines) | \#(Self.python) '\#(script)' '\#(page)' \#(names)"#)
        try #require(run.status == 0, "\(run.errors)")
        return run.output.split(separator: "\n").compactMap { Int($0) }
    }

    /// Tokens with the claims of a genuine one that an attacker can make.
    private static func forged(_ token: String) throws -> [String] {
        let parts = token.split(separator: ".").map(String.init)
        let header = String(decoding: try #require(Base64URL.decoded(parts[0])), as: UTF8.self)
        let key = P256.Signing.PrivateKey()
        func signed(_ header: String, _ sign: (Data) throws -> [UInt8]) rethrows -> String {
            let text = Base64URL.encoded(Array(header.utf8)) + "." + parts[1]
            return text + "." + Base64URL.encoded(try sign(Data(text.utf8)))
        }
        let point = key.publicKey.rawRepresentation
        let (x, y) = (Base64URL.encoded(point.prefix(32)), Base64URL.encoded(point.suffix(32)))
        let jwk = #"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)"}"#
        let ecdsa: (Data) throws -> [UInt8] = { Array(try key.signature(for: $0).rawRepresentation) }
        let hmac: (Data) -> [UInt8] = { Array(HMAC<SHA256>.authenticationCode(for: $0, using: SymmetricKey(data: point))) }
        return [
            try signed(header, ecdsa),
            try signed(header.replacing("}", with: #","jwk":\#(jwk)}"#), ecdsa),
            try signed(header.replacing("}", with: #","jku":"http://127.0.0.1:9/jwks.json"}"#), ecdsa),
            try signed(#"{"alg":"ES256","kid":"x","typ":"at+jwt"}"#, ecdsa),
            signed(header.replacing("ES256", with: "HS256"), hmac),
            signed(header.replacing("ES256", with: "none")) { _ in [] },
            try signed(header.replacing("at+jwt", with: "JWT"), ecdsa),
            String(token.dropLast(2)) + "AA", "garbage", "a.b.c",
        ]
    }
}
