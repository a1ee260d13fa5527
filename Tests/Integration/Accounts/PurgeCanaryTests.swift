import AccountContract
import AccountCore
import Foundation
import Testing

@testable import AccountServer
@testable import HoldfastCommand

/// Searches everything that a server has stored for the data of a removed account.
@Suite(.timeLimit(.minutes(15))) struct PurgeCanaryTests {
    private static let start = Date(timeIntervalSince1970: 1_790_000_000)
    private static let canaries = ["kanarienvogel", "canary-mail", "gelberkanari"]

    @Test("After the purge by a restarted server, no file has the account's address or name", .readsDatabaseFile)
    func files() async throws {
        try await withFolder { folder in
            let data = folder.appending(path: "data")
            try await withServer(time: .starting(at: Self.start)) {
                $0.dataFolder = data
            } _: { server in
                try await Self.live(server)
                #expect(try Self.files(with: Self.canaries, in: data).count >= 2)
                #expect(!Self.canaries.contains { server.log.text.lowercased().contains($0) })
            }
            // A week and a minute later.
            try await withServer(time: .starting(at: Self.start.addingTimeInterval(7 * 86_400 + 60))) {
                $0.dataFolder = data
            } _: { server in
                try await eventually {
                    try await server.server.accounts.stores.accounts.accounts().map(\.email.text) == ["bea@example.com"]
                }
                try await eventually { try Self.files(with: Self.canaries, in: data).isEmpty }
                #expect(!Self.canaries.contains { server.log.text.lowercased().contains($0) })
            }
            #expect(try Self.files(with: Self.canaries, in: data) == [])
            // The search finds what is there.
            #expect(try !Self.files(with: ["bea@example.com"], in: data).isEmpty)
        }
    }

    /// Registers an account, uses most routes, and deletes it. Another account stays.
    private static func live(_ server: TestServer) async throws {
        try await server.register("bea@example.com", name: "Bea")
        _ = try await server.signIn("bea@example.com")
        let email = "kanarienvogel@canary-mail.example"
        let register = #"{"email":"\#(email)","password":"correct horse battery","first_name":"Gelberkanari"}"#
        #expect(try await server.post(AccountPath.register, register).status == 201)
        _ = try await server.token(.verifyEmail, to: email)
        _ = try await server.resetLink(for: email)
        let wrong = #"{"email":"\#(email)","password":"a wrong password"}"#
        #expect(try await server.post(AccountPath.login, wrong).status == 401)
        let access = try await server.signIn(email, headers: ["X-Device-Name: Gelberkanari's phone"]).access
        let change = #"{"current_password":"correct horse battery","new_email":"ana@elsewhere.example"}"#
        #expect(try await server.send("POST", AccountPath.changeEmail, change, bearer: access).status == 200)
        _ = try await server.token(.confirmEmail, to: "ana@elsewhere.example")
        let keyed = ["Idempotency-Key: kanari-key-1"]
        let request = #"{"email":"\#(email)"}"#
        _ = try await server.post(AccountPath.requestVerification, request, headers: keyed)
        let password = #"{"password":"correct horse battery"}"#
        #expect(try await server.send("POST", AccountPath.export, password, bearer: access).status == 200)
        #expect(try await server.send("POST", AccountPath.deleteAccount, password, bearer: access).status == 202)
        _ = try await server.token(.keepAccount, to: email)
    }

    /// Returns the names of the files in a folder that have one of the texts, in any case.
    private static func files(with texts: [String], in folder: URL) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { name in
            // A file may be removed between the listing and the reading.
            guard let bytes = try? Data(contentsOf: folder.appending(path: name)) else { return false }
            let text = String(decoding: bytes, as: UTF8.self).lowercased()
            return texts.contains { text.contains($0) || name.lowercased().contains($0) }
        }
    }
}
