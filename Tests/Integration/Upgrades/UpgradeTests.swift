import AccountContract
import AccountCore
import AccountServer
import Email
import Foundation
import TestSupport
import Testing

@testable import HoldfastCommand

/// A data folder that a released version wrote, and its content. `scripts/upgrade-fixture` writes these folders.
struct ReleasedFolder: Sendable, CustomTestStringConvertible {
    struct Facts: Decodable {
        let version: String
        let written: Double
        let email: String
        let password: String
        let refreshToken: String
        let resetEmail: String
        let resetToken: String
        let limitedEmail: String
    }

    let archive: URL

    var testDescription: String { archive.deletingPathExtension().deletingPathExtension().lastPathComponent }

    static var all: [ReleasedFolder] {
        get throws {
            let folder = Repository.root.appending(path: "Tests/Integration/Upgrades/Folders")
            return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
                .filter { $0.pathExtension == "gz" }.sorted { $0.path < $1.path }.map(ReleasedFolder.init)
        }
    }

    /// Unpacks the archive for the duration of a closure, which gets the folder that contains `data`.
    func unpacked(_ body: (URL, Facts) async throws -> Void) async throws {
        try await withFolder { folder in
            let run = try await bash("tar -xzf '\(archive.path)' -C '\(folder.path)'")
            try #require(run.status == 0, "\(run.errors)")
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            let facts = try decoder.decode(Facts.self, from: Data(contentsOf: folder.appending(path: "facts.json")))
            try await body(folder, facts)
        }
    }
}

@Suite(.timeLimit(.minutes(15))) struct UpgradeTests {
    @Test("There is a folder of each version, including the current one")
    func versions() async throws {
        try await withFolder { folder in
            let run = try await Binary.run(["--version"], in: folder)
            let version = run.output.trimmingCharacters(in: .whitespacesAndNewlines)
            let versions = try ReleasedFolder.all.map(\.testDescription)
            #expect(versions.contains(version), "run scripts/upgrade-fixture; found \(versions)")
        }
    }

    @Test("Migrates a released folder, passes doctor, and signs a user in", arguments: try ReleasedFolder.all)
    func migrate(_ released: ReleasedFolder) async throws {
        try await released.unpacked { folder, facts in
            let environment = ["ENVIRONMENT": "development"]
            let migrated = try await Binary.run(["migrate"], environment: environment, in: folder)
            #expect(migrated.status == 0, "\(migrated.errors)")
            let doctor = try await Binary.run(["doctor"], environment: environment, in: folder)
            #expect(doctor.status == 0, "\(doctor.output)")
            try await withServing(in: folder) { url in
                let body = #"{"email":"\#(facts.email)","password":"\#(facts.password)"}"#
                let json = ["Content-Type: application/json"]
                let right = try await RawHTTP.send("POST", AccountPath.login, to: url, headers: json, body: Array(body.utf8))
                #expect(right.status == 200)
                let wrong = Array(body.replacing(facts.password, with: "another password").utf8)
                #expect(try await RawHTTP.send("POST", AccountPath.login, to: url, headers: json, body: wrong).status == 401)
            }
        }
    }

    @Test(
        "Serves an unmigrated folder of a release: session, link, limit and email",
        .readsDatabaseFile,
        arguments: try ReleasedFolder.all
    )
    func serve(_ released: ReleasedFolder) async throws {
        try await released.unpacked { folder, facts in
            let mailbox = folder.appending(path: "data/mailbox")
            let emails = try FileManager.default.contentsOfDirectory(atPath: mailbox.path).filter { $0.hasSuffix(".eml") }.count
            try await withServer(time: .starting(at: Date(timeIntervalSince1970: facts.written + 60))) {
                $0.dataFolder = folder.appending(path: "data")
                $0.limits = LimitSettings()
            } _: { server in
                let refresh = try await server.post(AccountPath.refresh, #"{"refresh_token":"\#(facts.refreshToken)"}"#)
                #expect(refresh.status == 200)
                let unknown = #"{"refresh_token":"\#(String(facts.refreshToken.reversed()))"}"#
                #expect(try await server.post(AccountPath.refresh, unknown).status == 401)

                let confirmation = #"{"token":"\#(facts.resetToken)","new_password":"second password"}"#
                #expect(try await server.post(AccountPath.confirmPasswordReset, confirmation).status == 200)
                let login = #"{"email":"\#(facts.resetEmail)","password":"second password"}"#
                #expect(try await server.post(AccountPath.login, login).status == 200)

                let request = #"{"email":"\#(facts.limitedEmail)"}"#
                #expect(try await server.post(AccountPath.requestPasswordReset, request).status == 429)

                // The email that no mail server had accepted before, and the confirmation of the reset.
                let recipients = try await server.mails(atLeast: emails + 2).map { $0.recipient }
                #expect(Set(recipients) == [facts.email, facts.resetEmail])
            }
        }
    }

    @Test(
        "Every account of a release is verified and signs in, at once and 31 days later",
        .readsDatabaseFile,
        arguments: try ReleasedFolder.all
    )
    func accounts(_ released: ReleasedFolder) async throws {
        try await released.unpacked { folder, facts in
            for days in [0.0, 31] {
                let start = Date(timeIntervalSince1970: facts.written + 60 + days * 86_400)
                try await withServer(time: .starting(at: start)) {
                    $0.dataFolder = folder.appending(path: "data")
                    $0.accountRules.requiresVerifiedEmail = true
                    $0.accountRules.unverifiedDays = 30
                } _: { server in
                    let accounts = try await server.server.accounts.stores.accounts.accounts()
                    #expect(accounts.count == 2 && accounts.allSatisfy { $0.isEmailVerified && $0.purgeAt == nil })
                    for (email, password) in [(facts.email, facts.password), (facts.resetEmail, "staple correct horse")] {
                        let body = #"{"email":"\#(email)","password":"\#(password)"}"#
                        #expect(try await server.post(AccountPath.login, body).status == 200, "\(email) after \(days) days")
                    }
                }
            }
        }
    }
}
