import AccountContract
import AccountCore
import AccountKit
import Foundation
import TestSupport
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct DjangoImportTests {
    @Test("1,000 imported Django users sign in with their passwords and get new hashes")
    func database() async throws {
        try await withFolder(sharesStores: true) { folder in
            try await makeDjangoUsers(in: folder)
            let dryRun = try await withServing(in: folder) { _ in
                try await Binary.run(["users", "import", "db.sqlite3", "--dry-run"], in: folder)
            }
            #expect(dryRun.output == "1000 would be added, 0 existing, 0 refused\n", "\(dryRun.errors)")
            let first = try await Binary.run(["users", "import", "db.sqlite3"], in: folder)
            #expect(first.output == "1000 added, 0 existing, 0 refused\n", "\(first.errors)")
            #expect(first.status == 0)
            // Imports again, from the dump: existing accounts stay unchanged.
            let again = try await Binary.run(["users", "import", "db.sqlite3"], in: folder)
            #expect(again.output == "0 added, 1000 existing, 0 refused\n")
            let dump = try await Binary.run(["users", "import", "dump.json"], in: folder)
            #expect(dump.output == "0 added, 50 existing, 0 refused\n", "\(dump.errors)")
            #expect(dump.status == 0)

            try await withServer {
                $0.dataFolder = folder.appending(path: "data")
            } _: { server in
                let accounts = server.server.accounts.stores.accounts
                let foreignHashes = { [gate = server.server.accounts.gate] in
                    try await accounts.countForeignHashes(by: gate.decoy(like:)).counts.values.reduce(0, +)
                }
                #expect(try await foreignHashes() == 1_000)
                // Three at Django's cost, one with bcrypt, and the others with few rounds.
                let tried = [0, 1, 2, 20] + Array(100..<140)
                for number in tried {
                    let email = "user\(number)@example.com"
                    #expect(try await server.login(email, "old password \(number + 1)").status == 401)
                    #expect(try await server.login(email, "old password \(number)").status == 200, "\(email)")
                    let account = try #require(try await accounts.account(email: try EmailAddress(email)))
                    #expect(account.passwordHash.hasPrefix("$argon2id$"))
                    #expect(account.email.text == "User\(number)@example.com")
                    #expect(try await server.login(email, "old password \(number)").status == 200)
                }
                #expect(try await foreignHashes() == 1_000 - tried.count)
                #expect(try await server.login("user31@example.com", "old password 31").status == 403)
                // An imported user can reset the password like any other.
                let link = try await server.resetLink(for: "user500@example.com")
                _ = try await server.client().confirmReset(link, newPassword: try Password("another good password"))
                #expect(try await server.login("user500@example.com", "old password 500").status == 401)
                #expect(try await server.login("user500@example.com", "another good password").status == 200)
            }
            let audit = try await Binary.run(["users", "audit", "user0@example.com"], in: folder)
            for event in ["imported", "sign_in_failed", "hash_upgraded", "signed_in"] { #expect(audit.output.contains(event)) }
        }
    }

    private func makeDjangoUsers(in folder: URL) async throws {
        let root = Repository.root
        let made = try await bash("'\(root.appending(path: "scripts/django-users").path)' '\(folder.path)'")
        try #require(made.status == 0, "\(made.errors)")
    }
}
