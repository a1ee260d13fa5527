import AccountContract
import AccountCore
import Foundation
import StrictJSON
import TestSupport
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct PurgeCommandTests {
    @Test("Removes the accounts of a list again after a restore", .readsDatabaseFile)
    func reapply() async throws {
        try await withFolder { folder in
            let add = ["users", "add", "ana@example.com", "--first-name", "Ana", "--data", "store"]
            let added = try await Binary.run(add, input: "a good password\n", in: folder)
            let id = added.output.trimmingCharacters(in: .whitespacesAndNewlines)
            let list = folder.appending(path: "purged.txt")
            try Data("2026-11-20T09:00:00Z \(id)\n2026-11-20T09:00:00Z \(UUID())\n".utf8).write(to: list)

            #expect(try await Binary.run(["purge", "--list", "--data", "store"], in: folder).output.isEmpty)
            let none = try await Binary.run(["purge", "--data", "store"], in: folder)
            #expect(none.status == 0 && none.output == "0 accounts removed\n", "\(none.errors)")
            let run = try await Binary.run(["purge", "--reapply", "purged.txt", "--data", "store"], in: folder)
            #expect(run.status == 0 && run.output == "1 account removed\n", "\(run.errors)")
            let users = try await Binary.run(["users", "list", "--json", "--data", "store"], in: folder)
            #expect(users.output == "[]\n")
            let listed = try await Binary.run(["purge", "--list", "--data", "store"], in: folder)
            #expect(listed.output.hasSuffix(" \(id)\n") && listed.output.split(separator: "\n").count == 1)
            let again = try await Binary.run(["purge", "--reapply", "purged.txt", "--data", "store"], in: folder)
            #expect(again.output == "0 accounts removed\n")
        }
    }

    @Test("Refuses an unreadable list, contradicting options and a folder without data")
    func refusals() async throws {
        try await withFolder { folder in
            try Data("nonsense\n".utf8).write(to: folder.appending(path: "bad.txt"))
            for (arguments, status) in [
                (["--reapply", "bad.txt"], 1), (["--reapply", "missing.txt"], 1), (["--list", "--reapply", "bad.txt"], 64),
                ([], 1),
            ] as [([String], Int32)] {
                #expect(try await Binary.run(["purge"] + arguments, in: folder).status == status, "\(arguments)")
            }
        }
    }

    @Test("The list needs the folder of an installation, and no database in it")
    func listOfInstallation() async throws {
        try await withFolder { folder in
            let wrong = try await Binary.run(["purge", "--list"], in: folder)
            #expect(wrong.status == 1 && wrong.errors.contains("specify the folder with --data"), "\(wrong.errors)")
            let data = folder.appending(path: "data")
            #expect(!FileManager.default.fileExists(atPath: data.path))
            // A folder in which only commands with DATABASE_URL ran.
            let remote = try await Binary.run(
                ["purge", "--list"],
                environment: [
                    "ENVIRONMENT": "development", "DATABASE_URL": "postgres://app@127.0.0.1:1/app",
                    "HOLDFAST_SECRET": String(repeating: "5a", count: 32),
                ],
                in: folder
            )
            #expect(remote.status == 0 && remote.output.isEmpty, "\(remote.errors)")
            // The folder of an app with an `AccountServer` on PostgreSQL, which writes no id.
            _ = try DataFolderLock(DataFolder(folder.appending(path: "app")))
            let app = try await Binary.run(["purge", "--list", "--data", "app"], in: folder)
            #expect(app.status == 0 && app.output.isEmpty, "\(app.errors)")
            // The folder of a server with DATABASE_URL.
            try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true)
            try Data("name\n".utf8).write(to: data.appending(path: "installation-id"))
            let empty = try await Binary.run(["purge", "--list"], in: folder)
            #expect(empty.status == 0 && empty.output.isEmpty, "\(empty.errors)")
        }
    }

    @Test("Added accounts count as verified unless the operator denies it")
    func verified() async throws {
        try await withFolder { folder in
            for (email, flag) in [("ana@example.com", []), ("bea@example.com", ["--no-verified"])] as [(String, [String])] {
                let add = ["users", "add", email, "--first-name", "Ana", "--data", "store"] + flag
                #expect(try await Binary.run(add, input: "a good password\n", in: folder).status == 0)
            }
            let run = try await Binary.run(["users", "list", "--json", "--data", "store"], in: folder)
            let users = try JSONBody(Array(run.output.utf8.dropLast()))
            #expect(users["0.email_verified"]?.boolValue == true)
            #expect(users["1.email_verified"]?.boolValue == false)
            let text = try await Binary.run(["users", "list", "--data", "store"], in: folder).output
            #expect(text.split(separator: "\n").map { $0.hasSuffix("(unverified)") } == [false, true])
        }
    }
}
