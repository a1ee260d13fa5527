import AccountContract
import AppLinks
import ErrorContract
import Foundation
import HoldfastTesting
import StrictJSON
import TestSupport
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct LinksTests {

    @Test("The served association file opens exactly the links of emails by Apple's rules")
    func servedFile() async throws {
        let apps = try ["TEAM123456.com.example.app"].map { try AppIdentifier($0) }
        let association = try AssociationFile(apps: apps)
        try await withServer {
            $0.associatedApps.apple = association
        } _: { server in
            let response = try await RawHTTP.send("GET", "/.well-known/apple-app-site-association", to: server.url)
            #expect(response.status == 200)
            #expect(response["Content-Type"] == "application/json")
            #expect(response.body == association.bytes)
            try await withFolder { folder in
                try Data(response.body).write(to: folder.appending(path: "aasa"))
                let good = "https://example.com/reset-password?token=abc&email=a%40example.com"
                let pages = AccountLink.Purpose.allCases.flatMap { ["--link", "https://example.com/\($0.page)?token=abc"] }
                let run = try await Binary.run(["links", "verify", "aasa", "--link", good] + pages, in: folder)
                #expect(run.status == 0, "\(run.output)\(run.errors)")
                let other = try await Binary.run(["links", "verify", "aasa", "--link", "https://example.com/other"], in: folder)
                #expect(other.status == 1)
                let json = try await Binary.run(["links", "verify", "aasa", "--json", "--link", good], in: folder)
                #expect(try JSONParser().parse(json.output.utf8.dropLast()).objectValue != nil)
            }
        }
    }

    @Test("Fetches a URL without following redirects, and reports what Apple would refuse")
    func address() async throws {
        try await withServer { server in
            try await withFolder { folder in
                let missing = try await Binary.run(["links", "verify", server.url.absoluteString], in: folder)
                #expect(missing.status == 1)
                #expect(missing.output.contains("404"))
                let redirect = server.url.absoluteString + "/.well-known/change-password"
                let redirected = try await Binary.run(["links", "verify", redirect], in: folder)
                #expect(redirected.status == 1)
                #expect(redirected.output.lowercased().contains("redirect"))
                let unreachable = try await Binary.run(["links", "verify", "http://127.0.0.1:9/"], in: folder)
                #expect(unreachable.status == 1)
                #expect(unreachable.errors.contains("could not be fetched"))
                let absent = try await Binary.run(["links", "verify", "no-such-file"], in: folder)
                #expect(absent.status == 64)
            }
        }
    }

    @Test("Reports a file over 1 MiB as longer than the bytes that were read")
    func largeFile() async throws {
        let size = 2 * 1_048_576
        let lines = ["HTTP/1.1 200 OK", "Content-Type: application/json", "Content-Length: \(size)", "Connection: close"]
        let head = lines.map { $0 + "\r\n" }.joined() + "\r\n"
        try await LoopbackServer.run([.generate(head, count: size)]) { server, folder in
            let run = try await Binary.run(["links", "verify", server.origin], in: folder)
            #expect(run.status == 1)
            #expect(run.output.contains("The file has more than 1048576 bytes"), "\(run.output)\(run.errors)")
            #expect(!run.output.contains("not_json"), "\(run.output)")
        }
    }

    @Test("Reads app settings from the environment, and refuses invalid ones with a reason")
    func settings() async throws {
        try await withFolder { folder in
            let bad = [
                "ENVIRONMENT": "development", "APPLE_APP_IDS": "not an id", "ANDROID_PACKAGE": "com.example.app",
                "APP_LINK_SCHEME": "https",
            ]
            let run = try await Binary.run(["serve", "--port", "0"], environment: bad, in: folder)
            #expect(run.status == 78)
            for name in ["APPLE_APP_IDS", "ANDROID_CERT_SHA256", "APP_LINK_SCHEME"] { #expect(run.errors.contains(name)) }
        }
    }
}
