import AccountContract
import AccountKit
import ErrorContract
import Foundation
import StrictJSON
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct SecretHygieneTests {
    @Test("After a full run no plaintext secret is in the database, its WAL or the log", .readsDatabaseFile)
    func nothingInClear() async throws {
        let secret = "a secret of the operator with more than 32 characters"
        try await withServer {
            $0.secret = HiddenText(text: secret)
        } _: { server in
            try await server.register("ana@example.com")
            let link = try await server.resetLink(for: "ana@example.com")
            let unused = try await server.resetLink(for: "ana@example.com")
            let client = server.client()
            _ = try await client.validateReset(link)
            let confirmation = #"{"token":"\#(link.token.rawValue)","new_password":"a very secret password"}"#
            let key = ["Idempotency-Key: a-key-that-stores-the-response"]
            let confirmed = try await server.post("/api/confirm-password-reset/", confirmation, headers: key).json()
            let confirmedDevice = try #require(confirmed["device_token"]?.stringValue)
            let session = try await server.post(
                "/api/auth/login",
                #"{"email":"ana@example.com","password":"a very secret password"}"#
            ).json()
            let refresh = try #require(session["refresh_token"]?.stringValue)
            let access = try #require(session["access_token"]?.stringValue)
            let device = try #require(session["device_token"]?.stringValue)
            let cookie = ["Cookie: __Host-device=\(device)"]
            let body = #"{"email":"ana@example.com","password":"a wrong password","device_token":"\#(device)"}"#
            _ = try await server.post("/api/auth/login?device_token=\(device)", body, headers: cookie)
            _ = try await RawHTTP.send("GET", "/api/auth/me?token=\(unused.token.rawValue)", to: server.url)

            let secrets = [
                link.token.rawValue, unused.token.rawValue, refresh, access, device, "a very secret password",
                "correct horse battery", secret, confirmedDevice,
            ]
            let folder = server.server.accounts.configuration.dataFolder
            var searched = 0
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where name.contains("sqlite3") {
                let bytes = try Data(contentsOf: folder.appending(path: name))
                searched += bytes.count
                for secret in secrets { #expect(bytes.range(of: Data(secret.utf8)) == nil, "in \(name)") }
            }
            #expect(searched > 4_096)
            // The worker logs the delivery after the email has arrived.
            try await eventually { server.log.text.contains("Email delivered") }
            let log = server.log.text
            for secret in secrets + ["ana@example.com"] { #expect(!log.contains(secret)) }
        }
    }

    @Test("Only the owner can read the data folder, the secret, the database and the emails")
    func permissions() async throws {
        try await withServer { server in
            try await server.register("ana@example.com")
            _ = try await server.resetLink(for: "ana@example.com")
            let folder = server.server.accounts.configuration.dataFolder
            #expect(try mode(folder) == 0o700)
            for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
                let isFolder = ["mailbox", "servers"].contains(name)
                #expect(try mode(folder.appending(path: name)) == (isFolder ? 0o700 : 0o600), "\(name)")
            }
        }
    }

    private func mode(_ url: URL) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0
    }
}
