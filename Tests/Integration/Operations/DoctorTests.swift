import ErrorContract
import Foundation
import GRDB
import MailServerTesting
import StrictJSON
import TestSupport
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite(.timeLimit(.minutes(15))) struct DoctorTests {
    /// The findings of the command, by subject.
    private struct Report {
        let status: Int32
        let verdicts: [String: String]
        let text: String

        init(_ run: ProcessResult) throws {
            status = run.status
            text = run.output
            let json = try JSONParser().parse(Array(run.output.utf8))
            let findings = json.objectValue?["findings"]?.arrayValue ?? []
            verdicts = Dictionary(
                findings.compactMap { finding -> (String, String)? in
                    let members = finding.objectValue
                    guard let subject = members?["subject"]?.stringValue, let verdict = members?["verdict"]?.stringValue else {
                        return nil
                    }
                    return (subject, verdict)
                }
            ) { first, second in first == "good" ? second : first }
        }
    }

    private func doctor(_ environment: [String: String] = ["ENVIRONMENT": "development"], in folder: URL) async throws -> Report {
        try Report(try await Binary.run(["doctor", "--json"], environment: environment, in: folder))
    }

    @Test("Finds a working server beside the running one, and changes nothing")
    func good() async throws {
        try await withFolder { folder in
            try await withServing(in: folder) { url in
                let environment = ["ENVIRONMENT": "development", "PASSWORD_RESET_BASE_URL": url.absoluteString]
                let report = try await doctor(environment, in: folder)
                #expect(report.status == 0, "\(report.text)")
                for subject in ["data", "disk", "database", "limits", "mail", "clock"] {
                    #expect(report.verdicts[subject] == "good", "\(report.text)")
                }
                let ready = try await RawHTTP.send("GET", "/health/ready", to: url)
                #expect(ready.status == 200)
            }
        }
    }

    @Test("Before the first start it gives notices and creates no folder")
    func empty() async throws {
        try await withFolder { folder in
            let report = try await doctor(in: folder)
            #expect(report.status == 0)
            #expect(report.verdicts["data"] == "advice")
            #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "data").path))
        }
    }

    @Test("In production without TLS or a trusted proxy, advises to set TRUSTED_PROXIES")
    func proxies() async throws {
        try await withFolder { folder in
            let production = ["PASSWORD_RESET_BASE_URL": "https://127.0.0.1:1"]
            let missing = try await doctor(production, in: folder)
            #expect(missing.verdicts["proxies"] == "advice", "\(missing.text)")
            #expect(missing.text.contains("TRUSTED_PROXIES"))
            let trusted = try await doctor(production.merging(["TRUSTED_PROXIES": "127.0.0.1"]) { $1 }, in: folder)
            #expect(trusted.verdicts["proxies"] == "good", "\(trusted.text)")
            let development = try await doctor(in: folder)
            #expect(development.verdicts["proxies"] == nil, "\(development.text)")
        }
    }

    @Test("Reports names in .env that are not settings")
    func unknownNames() async throws {
        try await withFolder { folder in
            let lines = ["ENVIRONMENT=development", "TRUSTED_PROXY=127.0.0.1", "LIMIT_LOGIN_IP=9/60", "DATABASE_URL=sqlite"]
            try Data(lines.joined(separator: "\n").utf8).write(to: folder.appending(path: ".env"))
            let report = try await doctor([:], in: folder)
            #expect(report.verdicts["configuration"] == "advice")
            #expect(report.text.contains("not settings: TRUSTED_PROXY\""), "\(report.text)")
        }
    }

    @Test("Reports every unusable setting with exit code 78")
    func settings() async throws {
        try await withFolder { folder in
            let environment = ["LOG_LEVEL": "loud", "HOLDFAST_SECRET": "hunter2"]
            let run = try await Binary.run(["doctor"], environment: environment, in: folder)
            #expect(run.status == 78)
            for name in ["LOG_LEVEL", "HOLDFAST_SECRET", "PASSWORD_RESET_BASE_URL"] { #expect(run.output.contains(name)) }
            #expect(!run.output.contains("hunter2"))
            #expect(!run.output.contains("\u{1B}"))
        }
    }

    @Test("Distinguishes a damaged, a foreign and an outdated database")
    func database() async throws {
        try await withFolder { folder in
            let data = folder.appending(path: "data")
            let migrated = try await Binary.run(["migrate"], in: folder)
            #expect(migrated.status == 0)
            let file = data.appending(path: "holdfast.sqlite3")
            try FileManager.default.removeItem(at: file)
            try Data("this is no database, whatever its name says".utf8).write(to: file)
            let foreign = try await doctor(in: folder)
            #expect(foreign.status == 1)
            #expect(foreign.verdicts["database"] == "wrong", "\(foreign.text)")
            try Data().write(to: file)
            let behind = try await doctor(in: folder)
            #expect(behind.verdicts["database"] == "advice", "\(behind.text)")
        }
    }

    @Test("Finds nothing wrong with a backup that replaces the database")
    func restored() async throws {
        try await withFolder { folder in
            let migrated = try await Binary.run(["migrate"], in: folder)
            #expect(migrated.status == 0, "\(migrated.errors)")
            let (file, copy) = (folder.appending(path: "data/holdfast.sqlite3"), folder.appending(path: "copy.sqlite3"))
            let original = try DatabaseQueue(path: file.path)
            try await original.writeWithoutTransaction { try $0.execute(sql: "VACUUM INTO ?", arguments: [copy.path]) }
            try original.close()
            for name in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file.path + name) }
            try FileManager.default.moveItem(at: copy, to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
            let report = try await doctor(in: folder)
            #expect(report.verdicts["database"] == "good", "\(report.text)")
        }
    }

    @Test("Reports the lost database of an installation, and no command replaces it")
    func lostDatabase() async throws {
        try await withFolder { folder in
            try await withServing(in: folder) { _ in }
            let file = folder.appending(path: "data/holdfast.sqlite3")
            for name in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file.path + name) }
            try Data("email\nana@example.com\n".utf8).write(to: folder.appending(path: "people.csv"))
            for command in [
                ["migrate"], ["users", "add", "ana@example.com", "--first-name", "Ana"], ["users", "import", "people.csv"],
            ] {
                let run = try await Binary.run(command, input: "a good password\n", in: folder)
                #expect(run.status == 1 && run.errors.contains("is missing"), "\(command): \(run.errors)")
                #expect(!FileManager.default.fileExists(atPath: file.path), "\(command)")
            }
            let report = try await doctor(in: folder)
            #expect(report.status == 1 && report.verdicts["database"] == "wrong", "\(report.text)")
        }
    }

    @Test(
        "Advises to set DATABASE_URL in the folder of a server on PostgreSQL",
        arguments: [("serve.lock", "advice"), ("installation-id", "wrong"), ("limits.sqlite3", "wrong")]
    )
    func folderOfPostgres(file: String, verdict: String) async throws {
        try await withFolder { folder in
            let data = folder.appending(path: "data")
            try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true)
            try Data("x\n".utf8).write(to: data.appending(path: file))
            let report = try await doctor(in: folder)
            #expect(report.verdicts["database"] == verdict && report.text.contains("DATABASE_URL"), "\(report.text)")
            #expect(report.text.contains("restore it") == (file == "installation-id"), "\(report.text)")
        }
    }

    @Test(
        "Commands create no database in the folder of an app on PostgreSQL",
        arguments: [("serve.lock", true), ("limits.sqlite3", false)]
    )
    func folderOfApp(file: String, canMigrate: Bool) async throws {
        try await withFolder { folder in
            let data = folder.appending(path: "data")
            try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true)
            try Data("x\n".utf8).write(to: data.appending(path: file))
            try Data("email\nana@example.com\n".utf8).write(to: folder.appending(path: "people.csv"))
            for command in [
                ["users", "add", "ana@example.com", "--first-name", "Ana"], ["users", "import", "people.csv"],
                ["users", "import", "people.csv", "--dry-run"], ["users", "list"], ["mail", "queue"], ["purge"],
            ] {
                let run = try await Binary.run(command, input: "a good password\n", in: folder)
                #expect(run.status == 1 && run.errors.contains("set DATABASE_URL"), "\(command): \(run.errors)")
                #expect(try FileManager.default.contentsOfDirectory(atPath: data.path) == [file], "\(command)")
            }
            #expect(try await Binary.run(["migrate"], in: folder).status == (canMigrate ? 0 : 1))
        }
    }

    @Test("Reports a secret that others can read, with the command to fix it")
    func permissions() async throws {
        try await withFolder { folder in
            try await withServing(in: folder) { _ in }
            let secret = folder.appending(path: "data/secret")
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: secret.path)
            let report = try await doctor(in: folder)
            #expect(report.status == 1)
            #expect(report.verdicts["data"] == "wrong")
            #expect(report.text.contains("chmod"))
        }
    }

    @Test("Checks the mail server's connection, TLS and login without sending an email")
    func mail() async throws {
        try await MailServer.run(["--starttls", "--auth", "crowns:a login's password"]) { mails in
            try await withFolder { folder in
                var environment = [
                    "ENVIRONMENT": "development", "EMAIL_HOST": "localhost", "EMAIL_PORT": "\(mails.port)",
                    "EMAIL_USE_TLS": "true",
                    "EMAIL_HOST_USER": "crowns", "EMAIL_HOST_PASSWORD": "a login's password", "EMAIL_CA_FILE": mails.authorities,
                    "EMAIL_FROM": "Crowns <no-reply@example.com>",
                ]
                let right = try await doctor(environment, in: folder)
                #expect(right.verdicts["mail"] == "good", "\(right.text)")
                environment["EMAIL_HOST_PASSWORD"] = "another one"
                let wrong = try await doctor(environment, in: folder)
                #expect(wrong.status == 1)
                #expect(wrong.text.contains("EMAIL_HOST_PASSWORD"), "\(wrong.text)")
                for secret in ["another one", "no-reply@"] { #expect(!wrong.text.contains(secret)) }
                environment["EMAIL_CA_FILE"] = nil
                let untrusted = try await doctor(environment, in: folder)
                #expect(untrusted.text.contains("EMAIL_CA_FILE"), "\(untrusted.text)")
                let received = try mails.received()
                #expect(received.isEmpty)
            }
        }
        try await withFolder { folder in
            let environment = [
                "ENVIRONMENT": "development", "EMAIL_HOST": "127.0.0.1", "EMAIL_PORT": "1", "EMAIL_FROM": "a@example.com",
            ]
            let report = try await doctor(environment, in: folder)
            #expect(report.status == 1)
            #expect(report.verdicts["mail"] == "wrong")
        }
    }

    @Test("An unresolvable domain of links is a notice, not a failure")
    func domain() async throws {
        try await withFolder { folder in
            let environment = ["PASSWORD_RESET_BASE_URL": "https://127.0.0.1:1"]
            let report = try await doctor(environment, in: folder)
            #expect(report.status == 0, "\(report.text)")
            #expect(report.verdicts["links"] == "advice")
            let apps = environment.merging(["APPLE_APP_IDS": "ABCDE12345.com.example.app"]) { $1 }
            let withApps = try await doctor(apps, in: folder)
            #expect(withApps.verdicts["links"] == "advice")
        }
    }

    @Test("migrate creates a database, skips a current one, and reports why it fails")
    func migrate() async throws {
        try await withFolder { folder in
            for word in ["was made", "is up to date"] {
                let run = try await Binary.run(["migrate"], in: folder)
                #expect(run.status == 0)
                #expect(run.output.contains(word))
            }
            let file = folder.appending(path: "data/holdfast.sqlite3")
            for name in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file.path + name) }
            try Data("this is no database, whatever its name says".utf8).write(to: file)
            let run = try await Binary.run(["migrate"], in: folder)
            #expect(run.status == 1)
            #expect(run.errors.contains("could not be migrated"))
        }
    }
}
