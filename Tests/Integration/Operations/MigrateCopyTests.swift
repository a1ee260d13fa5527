import AccountContract
import AccountKit
import DataServerTesting
import Email
import ErrorContract
import Foundation
import ResilientHTTP
import TestSupport
import Testing

/// `holdfast migrate copy` against real servers: processes on SQLite and on PostgreSQL.
@Suite(.timeLimit(.minutes(10))) struct MigrateCopyTests {
    private let environment = ["ENVIRONMENT": "development", "RATE_LIMIT_MODE": "off"]

    @Test("Moves a server to PostgreSQL through kills; sessions, links and passwords work")
    func move() async throws {
        let database = try await PostgresServer.shared().createDatabase()
        try await withFolder { folder in
            let credentials = MemoryCredentialStore()
            var link: ResetLink?
            var registered = 0
            let (status, _) = try await Binary.serve(environment: environment, in: folder, endingWith: SIGTERM) { url, _ in
                let client = client(url, credentials)
                try await register("ana@example.com", at: client)
                _ = try await client.signIn(email: try EmailAddress("ana@example.com"), password: try Password(Self.password))
                _ = try await client.requestPasswordReset(email: try EmailAddress("ana@example.com"))
                link = try await resetLink(in: folder)
                // Users register until the data is sealed.
                let users = Task {
                    var number = 0
                    while true {
                        do {
                            try await register("user\(number)@example.com", at: self.client(url, MemoryCredentialStore()))
                        } catch let error as APIError where error.status == 503 || error.status == 504 {
                            // With 504, the account was added before the data was sealed, but its session was not.
                            return number
                        }
                        number += 1
                    }
                }
                try await copyThroughKills(to: database, in: folder)
                registered = try await users.value
                let refused = try await RawHTTP.send(
                    "POST",
                    AccountPath.login,
                    to: url,
                    headers: ["Content-Type: application/json"],
                    body: Array(#"{"email":"ana@example.com","password":"\#(Self.password)"}"#.utf8)
                )
                #expect(refused.status == 503)
                #expect(refused["Retry-After"] != nil)
                #expect(try await client.me().firstName == "Ana")
            }
            #expect(status == 0)
            #expect(registered > 0)

            let sealed = try await Binary.run(["serve", "--port", "0"], environment: environment, in: folder)
            #expect(sealed.status == 78)
            #expect(sealed.errors.contains("was moved to PostgreSQL: set DATABASE_URL"), "\(sealed.errors)")
            let doctor = try await Binary.run(["doctor"], environment: environment, in: folder)
            #expect(doctor.output.contains("was moved to PostgreSQL"), "\(doctor.output)")

            let secret = try String(contentsOf: folder.appending(path: "data/secret"), encoding: .utf8)
            let moved = environment.merging(["DATABASE_URL": database, "HOLDFAST_SECRET": "base64:\(secret)"]) { $1 }
            try await withServing(environment: moved, in: folder) { url in
                let client = client(url, credentials)
                // With the earlier access token, and with the refresh token.
                #expect(try await client.me().firstName == "Ana")
                try await client.refresh()
                _ = try await client.confirmReset(try #require(link), newPassword: try Password("another good password"))
                for number in 0..<registered {
                    _ = try await self.client(url, MemoryCredentialStore()).signIn(
                        email: try EmailAddress("user\(number)@example.com"),
                        password: try Password(Self.password)
                    )
                }
            }
            let audit = try await Binary.run(["users", "audit", "ana@example.com"], environment: moved, in: folder)
            for event in ["registered", "signed_in", "reset_link_sent"] {
                #expect(audit.output.contains(event), "\(audit.output)")
            }
        }
    }

    @Test("Reports the planned copy, refuses a server on partial data, and can go back")
    func aroundIt() async throws {
        let database = try await PostgresServer.shared().createDatabase()
        try await withFolder { folder in
            let command = ["migrate", "copy", "--from", "sqlite:data"]
            let nothing = try await Binary.run(command + ["--to", database], environment: environment, in: folder)
            #expect(nothing.status == 1)
            #expect(nothing.errors.contains("There is no SQLite data"), "\(nothing.errors)")
            _ = try await withServing(environment: environment, in: folder) { url in
                try await register("ana@example.com", at: client(url, MemoryCredentialStore()))
            }
            let unnamed = try await Binary.run(command, environment: environment, in: folder)
            #expect(unnamed.status == 78)
            #expect(
                try await Binary.run(["migrate", "copy", "--from", "data"], environment: environment, in: folder).status == 64
            )
            let dryRun = try await Binary.run(command + ["--to", database, "--dry-run"], environment: environment, in: folder)
            #expect(dryRun.status == 0)
            #expect(dryRun.output.contains(/account +1\n/), "\(dryRun.output)")

            let copied = try await Binary.run(command + ["--to", database], environment: environment, in: folder)
            #expect(copied.status == 0, "\(copied.errors)")
            #expect(copied.output.contains("HOLDFAST_SECRET=\"base64:$(cat"))
            let undone = try await Binary.run(command + ["--undo"], environment: environment, in: folder)
            #expect(undone.status == 0)
            try await withServing(environment: environment, in: folder) { url in
                try await register("ben@example.com", at: client(url, MemoryCredentialStore()))
            }
            let again = try await Binary.run(command + ["--to", database], environment: environment, in: folder)
            #expect(again.status == 1)
            #expect(again.errors.contains("has accounts already"), "\(again.errors)")

            let half = try await PostgresServer.shared().createDatabaseName()
            let url = try await PostgresServer.shared().url(half)
            try await kill(["--to", url], in: folder) { $0.hasPrefix("Copying") }
            let secret = try String(contentsOf: folder.appending(path: "data/secret"), encoding: .utf8)
            let moved = environment.merging(["DATABASE_URL": url, "HOLDFAST_SECRET": "base64:\(secret)"]) { $1 }
            // The kill may have been too late.
            let isComplete = try await PostgresServer.shared().sql("SELECT name FROM shared_value", database: half).contains(
                "copied"
            )
            if !isComplete {
                let server = try await Binary.run(["serve", "--port", "0"], environment: moved, in: folder)
                #expect(server.status == 78)
                #expect(server.errors.contains("is not complete"), "\(server.errors)")
            }
        }
    }

    @Test("Commands refuse a database to which a copy is not complete")
    func incompleteCopy() async throws {
        let server = try await PostgresServer.shared()
        let database = try await server.createDatabaseName()
        let environment = environment.merging([
            "DATABASE_URL": server.url(database), "HOLDFAST_SECRET": String(repeating: "0123456789", count: 4),
        ]) { $1 }
        try await withFolder { folder in
            let migrated = try await Binary.run(["migrate"], environment: environment, in: folder)
            #expect(migrated.status == 0, "\(migrated.errors)")
            try await server.sql("INSERT INTO shared_value (name, value) VALUES ('copy', '{}')", database: database)
            for command in [["users", "list"], ["keys", "rotate"]] {
                let run = try await Binary.run(command, environment: environment, in: folder)
                #expect(run.status == 1)
                #expect(run.errors.contains("is not complete"), "\(run.errors)")
            }
        }
    }

    @Test("Refuses a secret that is no Base64 after base64:")
    func secret() async throws {
        try await withFolder { folder in
            let run = try await Binary.run(
                ["serve", "--port", "0"],
                environment: environment.merging(["HOLDFAST_SECRET": "base64:" + String(repeating: "!", count: 44)]) { $1 },
                in: folder
            )
            #expect(run.status == 78)
            #expect(run.errors.contains("HOLDFAST_SECRET must have at least 32 bytes in Base64"), "\(run.errors)")
        }
    }

    private static let password = "correct horse battery"

    private func client(_ url: URL, _ store: MemoryCredentialStore) -> AccountClient {
        AccountClient(api: .patient(url), store: store)
    }

    private func register(_ email: String, at client: AccountClient) async throws {
        _ = try await client.register(
            email: try EmailAddress(email),
            password: try Password(Self.password),
            firstName: try FirstName("Ana")
        )
    }

    private func resetLink(in folder: URL) async throws -> ResetLink {
        let mailbox = try MailboxFolder(directory: folder.appending(path: "data/mailbox")) { Date() }
        var link: ResetLink?
        try await eventually {
            link = try mailbox.mails().compactMap(\.link).compactMap { try? ResetLink($0, hosts: ["127.0.0.1"]) }.first
            return link != nil
        }
        return try #require(link)
    }

    /// Kills a copy at its first lines, one line later each time, until a copy completes.
    private func copyThroughKills(to database: String, in folder: URL) async throws {
        for last in 1...4 {
            var lines = 0
            try await kill(["--to", database], in: folder) { _ in
                lines += 1
                return lines == last
            }
        }
        let run = try await Binary.run(
            ["migrate", "copy", "--from", "sqlite:data", "--to", database],
            environment: environment,
            in: folder
        )
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("SQLite is sealed") || run.output.contains("moved before"), "\(run.output)")
    }

    /// Starts a copy and kills it after a line, unless it ends before.
    private func kill(_ options: [String], in folder: URL, after isLast: (String) -> Bool) async throws {
        let process = try Binary.make(
            ["migrate", "copy", "--from", "sqlite:data"] + options,
            environment: environment,
            in: folder
        )
        let errors = Pipe.make()
        process.standardOutput = FileHandle.nullDevice
        process.standardError = errors
        try process.start()
        for await line in errors.fileHandleForReading.lines where isLast(line) { break }
        Foundation.kill(process.processIdentifier, SIGKILL)
        _ = await process.ended()
    }
}
