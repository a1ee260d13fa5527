import ErrorContract
import Foundation
import StrictJSON
import TestSupport
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct ReferenceResponseTests {
    @Test("The document is valid OpenAPI 3.1 in every configuration", arguments: ServedAs.allCases)
    func valid(served: ServedAs) async throws {
        let document = try await withServer {
            try? served.configure(&$0)
        } _: { server in
            let response = try await RawHTTP.send("GET", "/openapi.json", to: server.url)
            #expect(response.status == 200)
            #expect(response["Content-Type"] == "application/json; charset=utf-8")
            return response.body
        }
        try await expectValid(document)
    }

    @Test("`holdfast codes --openapi` prints a valid document with a response per code")
    func codes() async throws {
        try await withFolder { folder in
            let run = try await Binary.run(["codes", "--openapi"], in: folder)
            #expect(run.status == 0)
            let document = try JSONBody(Array(run.output.utf8.dropLast()))
            #expect(document["components.responses"]?.objectValue?.members.count == ErrorCatalogue.standard.definitions.count)
            try await expectValid(Array(run.output.utf8))
            #expect(try await Binary.run(["codes", "--openapi", "--json"], in: folder).status == 64)
        }
    }

    private func expectValid(_ document: [UInt8]) async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "openapi.json")
            try Data(document).write(to: file)
            let run = try await APITools.run("openapi-spec-validator", ["--schema", "3.1", file.path], in: folder)
            #expect(run.status == 0, "\(run.output)\(run.errors)")
        }
    }

    @Test("The document has the configured address, never that of the request")
    func host() async throws {
        for (served, expected) in [(ServedAs.development, "/"), (.production, "https://accounts.example.com/app")] {
            try await withServer {
                try? served.configure(&$0)
            } _: { server in
                for path in ["/openapi.json", "/docs"] {
                    let bytes =
                        "GET \(path) HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: evil.example\r\nConnection: close\r\n\r\n"
                    let response = try await RawHTTP.exchange(Array(bytes.utf8), with: server.url)
                    #expect(response.status == 200)
                    #expect(!response.text.contains("evil"))
                    if path == "/docs" {
                        let address = expected == "/" ? server.url.absoluteString : expected
                        #expect(response.text.contains("curl \(address)/api/auth/login"))
                    } else {
                        #expect(try response.json()["servers.0.url"]?.stringValue == expected)
                    }
                }
            }
        }
    }

    @Test("The page is small, runs only its own script, and may not be framed")
    func page() async throws {
        try await withServer { server in
            var nonces: Set<String> = []
            for path in ["/docs", "/docs/"] {
                let page = try await RawHTTP.send("GET", path, to: server.url)
                #expect(page.status == 200)
                #expect(page["Content-Type"] == "text/html; charset=utf-8")
                #expect(page.body.count <= 160_000)
                #expect(page["X-Frame-Options"] == "DENY")
                let policy = try #require(page["Content-Security-Policy"])
                let nonce = String(try #require(policy.firstMatch(of: /script-src 'nonce-([^']+)'/)).1)
                #expect(nonces.insert(nonce).inserted)
                #expect(page.text.contains("<script nonce=\"\(nonce)\">"))
                #expect(policy.contains("default-src 'none'") && !policy.contains("unsafe"))
            }
            #expect(try await RawHTTP.send("HEAD", "/docs", to: server.url).status == 200)
        }
    }
}
