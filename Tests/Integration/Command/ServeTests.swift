import AccountContract
import AccountKit
import DataServerTesting
import Foundation
import GRDB
import ResilientHTTP
import TestSupport
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite(.timeLimit(.minutes(15))) struct ServeTests {
    @Test("Reports all problems of the configuration at once, with exit code 78")
    func badConfiguration() async throws {
        try await withFolder { folder in
            let environment = [
                "PASSWORD_RESET_BASE_URL": "accounts.example.com", "RESET_LINK_STYLE": "cookie", "RESET_LIVE_LINKS": "0",
                "PASSWORD_MIN_LENGTH": "five", "LIMIT_RESET_EMAIL": "3", "HOLDFAST_SECRET": "hunter2", "LOG_LEVEL": "loud",
                "EMAIL_PORT": "smtp", "LIMIT_LOGIN_IP": "60", "RATE_LIMIT_MODE": "maybe",
                "TRUSTED_PROXIES": "0.0.0.0/0", "CLIENT_IPV6_PREFIX": "32", "METRICS_TOKEN": "hunter2",
            ]
            let run = try await Binary.run(["serve", "--port", "0"], environment: environment, in: folder)
            #expect(run.status == 78)
            for name in environment.keys { #expect(run.errors.contains(name), "\(run.errors)") }
            #expect(!run.errors.contains("hunter2"))
        }
    }

    @Test("Production requires the base URL of links; environment variables override .env")
    func dotEnv() async throws {
        try await withFolder { folder in
            let without = try await Binary.run(["serve", "--port", "0"], in: folder)
            #expect(without.status == 78)
            #expect(without.errors.contains("PASSWORD_RESET_BASE_URL"))
            try Data("PASSWORD_RESET_BASE_URL=https://accounts.example.com\nLOG_LEVEL=loud\n".utf8)
                .write(to: folder.appending(path: ".env"))
            let bad = try await Binary.run(["serve", "--port", "0"], in: folder)
            #expect(bad.status == 78)
            #expect(bad.errors.contains("LOG_LEVEL"))
            #expect(!bad.errors.contains("PASSWORD_RESET_BASE_URL"))
            let (status, lines) = try await serve(
                environment: ["LOG_LEVEL": "error"],
                options: ["--create"],
                in: folder,
                signal: SIGTERM
            )
            #expect(status == 0)
            #expect(lines.first?.hasPrefix("http://127.0.0.1:") == true)
        }
    }

    @Test("After SIGTERM the server is not ready, but serves until the delay ends")
    func shutdownDelay() async throws {
        try await withFolder { folder in
            let environment = ["ENVIRONMENT": "development", "SHUTDOWN_DELAY_SECONDS": "60"]
            try await Binary.serve(environment: environment, in: folder, endingWith: SIGKILL) { url, process in
                kill(process.processIdentifier, SIGTERM)
                try await eventually { try await RawHTTP.send("GET", "/health/ready", to: url).status == 503 }
                let ready = try await RawHTTP.send("GET", "/health/ready", to: url)
                #expect(ready.text.contains("shutdown"), "\(ready.text)")
                #expect(try await RawHTTP.send("GET", "/health/live", to: url).status == 200)
                #expect(try await RawHTTP.send("GET", "/metrics", to: url).text.contains("\nholdfast_ready 0\n"))
            }
        }
    }

    @Test("SIGTERM and SIGINT end the server gracefully with 0", arguments: [SIGTERM, SIGINT])
    func gracefulShutdown(signal: Int32) async throws {
        try await withFolder { folder in
            let (status, lines) = try await serve(environment: ["ENVIRONMENT": "development"], in: folder, signal: signal)
            #expect(status == 0)
            #expect(lines.contains { $0.contains("/dev/mailbox") })
            #expect(FileManager.default.fileExists(atPath: folder.appending(path: "data/holdfast.sqlite3").path))
        }
    }

    @Test("Reports a port in use in one sentence, with exit code 1")
    func takenPort() async throws {
        try await withServer { server in
            try await withFolder { folder in
                let port = try #require(server.url.port)
                let run = try await Binary.run(
                    ["serve", "--port", "\(port)"],
                    environment: ["ENVIRONMENT": "development"],
                    in: folder
                )
                #expect(run.status == 1)
                let reason = "port \(port) of 127.0.0.1 is in use by another program; choose another with --port"
                #expect(run.errors.contains("The server could not run: \(reason).\n"), "\(run.errors)")
                #expect(!run.errors.contains(" error "), "\(run.errors)")
                // It ended in order, so the next server must not treat it as killed.
                let database = try DatabaseQueue(path: folder.appending(path: "data/holdfast.sqlite3").path)
                let isClean = try await database.read { try Bool.fetchOne($0, sql: "SELECT is_clean FROM rate_limit_process") }
                #expect(isClean == true)
            }
        }
    }

    @Test("Reports a host that can't be resolved in one sentence, with exit code 1", arguments: ["[::1]", "name.invalid"])
    func unknownHost(_ host: String) async throws {
        try await withFolder { folder in
            let run = try await Binary.run(
                ["serve", "--host", host, "--port", "0"],
                environment: ["ENVIRONMENT": "development"],
                in: folder
            )
            #expect(run.status == 1)
            #expect(run.errors.contains("The server could not run: \(host) can't be resolved ("), "\(run.errors)")
            #expect(run.errors.contains("; choose an address, without brackets, with --host.\n"), "\(run.errors)")
        }
    }

    @Test(
        "Server and doctor report an unusable data folder in one sentence",
        arguments: ["data", "data/mailbox", "data/secret"]
    )
    func unusableFolder(_ path: String) async throws {
        try await withFolder { folder in
            if path != "data" { _ = try await Binary.run(["migrate"], in: folder) }
            try Data("x".utf8).write(to: folder.appending(path: path))
            let environment = ["ENVIRONMENT": "development"]
            let run = try await Binary.run(["serve", "--port", "0"], environment: environment, in: folder)
            #expect(run.status == 1)
            let lines = run.errors.split(separator: "\n")
            #expect(lines.count == 1 && run.errors.contains("\(folder.lastPathComponent)/\(path)"), "\(run.errors)")
            #expect(!run.errors.contains("Error Domain") && !run.errors.contains("nil"), "\(run.errors)")
            let doctor = try await Binary.run(["doctor"], environment: environment, in: folder)
            #expect(doctor.status == 1, "\(doctor.output)")
        }
    }

    @Test("Neither serves nor migrates a database of a newer version")
    func newerDatabase() async throws {
        try await withFolder { folder in
            #expect(try await Binary.run(["migrate"], in: folder).status == 0)
            let database = try DatabaseQueue(path: folder.appending(path: "data/holdfast.sqlite3").path)
            try await database.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('of tomorrow')") }
            try database.close()
            for command in [["serve", "--port", "0"], ["migrate"], ["users", "list"]] {
                let run = try await Binary.run(command, environment: ["ENVIRONMENT": "development"], in: folder)
                #expect(run.status != 0 && run.errors.contains("newer version of holdfast"), "\(command): \(run.errors)")
            }
        }
    }

    @Test("A clean stop leaves all data in the database file and an empty write-ahead log")
    func checkpoint() async throws {
        try await withFolder { folder in
            _ = try await serve(environment: ["ENVIRONMENT": "development"], in: folder, signal: SIGTERM) { url in
                for number in 0..<20 {
                    let body = #"{"email":"a\#(number)@example.com","password":"correct horse battery","first_name":"Ana"}"#
                    let headers = ["Content-Type: application/json"]
                    let response = try await RawHTTP.send(
                        "POST",
                        "/api/auth/register",
                        to: url,
                        headers: headers,
                        body: Array(body.utf8)
                    )
                    #expect(response.status == 201 || response.status == 429)
                }
            }
            let data = folder.appending(path: "data")
            let log = try? Data(contentsOf: data.appending(path: "holdfast.sqlite3-wal"))
            #expect(log?.isEmpty ?? true)
            let copy = folder.appending(path: "copy.sqlite3")
            try FileManager.default.copyItem(at: data.appending(path: "holdfast.sqlite3"), to: copy)
            let accounts = try await DatabaseQueue(path: copy.path).read {
                try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM account")
            }
            #expect(accounts == 10)
        }
    }

    @Test("Refuses a second server on one data folder with 78, unless both are to share it")
    func secondServer() async throws {
        try await withFolder { folder in
            let environment = ["ENVIRONMENT": "development"]
            _ = try await serve(environment: environment, in: folder, signal: SIGKILL) { _ in
                for options in [[], ["--shared-data"]] {
                    let second = try await Binary.run(["serve", "--port", "0"] + options, environment: environment, in: folder)
                    #expect(second.status == 78 && second.errors.contains("another server uses"), "\(second.errors)")
                    #expect(second.errors.contains("--shared-data"))
                }
                #expect(try await Binary.run(["users", "list"], environment: environment, in: folder).status == 0)
                #expect(try await Binary.run(["doctor"], environment: environment, in: folder).status == 0)
            }
            // The lock of a killed server is free.
            let (status, _) = try await Binary.serve(
                environment: environment,
                options: ["--shared-data"],
                in: folder,
                endingWith: SIGTERM
            ) { _, _ in
                let other = try await Binary.serve(
                    environment: environment,
                    options: ["--shared-data"],
                    in: folder,
                    endingWith: SIGTERM
                ) { url, _ in
                    let ready = try await RawHTTP.send("GET", "/health/ready", to: url)
                    #expect(ready.status == 200)
                }
                #expect(other.status == 0)
            }
            #expect(status == 0)
        }
    }

    @Test("Production creates no database without --create, and names folder and flag")
    func missingDatabase() async throws {
        try await withFolder { folder in
            let production = ["PASSWORD_RESET_BASE_URL": "https://accounts.example.com"]
            let data = folder.appending(path: "data")
            let refused = try await Binary.run(["serve", "--port", "0"], environment: production, in: folder)
            #expect(
                refused.status == 78 && refused.errors.contains("--create") && refused.errors.contains(data.path),
                "\(refused.errors)"
            )
            #expect(!FileManager.default.fileExists(atPath: data.path))
            let created = try await Binary.serve(environment: production, options: ["--create"], in: folder, endingWith: SIGTERM)
            { _, _ in }
            #expect(created.status == 0)
            #expect(try await Binary.serve(environment: production, in: folder, endingWith: SIGTERM) { _, _ in }.status == 0)

            let name = try String(contentsOf: data.appending(path: "installation-id"), encoding: .utf8).split(separator: "\n")[0]
            let same = production.merging(["INSTALLATION_ID": String(name)]) { $1 }
            #expect(try await Binary.serve(environment: same, in: folder, endingWith: SIGTERM) { _, _ in }.status == 0)
            let other = production.merging(["INSTALLATION_ID": "another"]) { $1 }
            let wrong = try await Binary.run(["serve", "--port", "0"], environment: other, in: folder)
            #expect(wrong.status == 78 && wrong.errors.contains("INSTALLATION_ID"), "\(wrong.errors)")

            try FileManager.default.removeItem(at: data.appending(path: "holdfast.sqlite3"))
            let missing = try await Binary.run(["serve", "--port", "0"], environment: production, in: folder)
            #expect(
                missing.status == 78 && missing.errors.contains("is missing") && missing.errors.contains("--create"),
                "\(missing.errors)"
            )
        }
    }

    @Test("A new installation gets a new id, unless the data of the folder is in PostgreSQL")
    func missingDatabaseWithID() async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "installation-id")
            try Data("name\n".utf8).write(to: file)
            #expect(throws: MissingDatabase.self) { try DataFolder.requireDatabase(in: folder, mayCreate: false) }
            #expect(FileManager.default.fileExists(atPath: file.path))
            try DataFolder.requireDatabase(in: folder, mayCreate: true)
            #expect(!FileManager.default.fileExists(atPath: file.path))

            try Data("name\n".utf8).write(to: file)
            try Data("x".utf8).write(to: folder.appending(path: "limits.sqlite3"))
            let error = try #require(throws: MissingDatabase.self) {
                try DataFolder.requireDatabase(in: folder, mayCreate: true)
            }
            #expect(error.isInPostgres && error.description.contains("set DATABASE_URL"))
            #expect(try Data(contentsOf: file) == Data("name\n".utf8))
        }
    }

    @Test("Refuses a database of another installation")
    func otherInstallation() async throws {
        try await withFolder { folder in
            for data in ["data", "other"] { #expect(try await Binary.run(["migrate", "--data", data], in: folder).status == 0) }
            let environment = ["ENVIRONMENT": "development"]
            _ = try await serve(environment: environment, in: folder, signal: SIGTERM)
            let file = folder.appending(path: "data/holdfast.sqlite3")
            try FileManager.default.removeItem(at: file)
            try FileManager.default.copyItem(at: folder.appending(path: "other/holdfast.sqlite3"), to: file)
            let run = try await Binary.run(["serve", "--port", "0"], environment: environment, in: folder)
            #expect(run.status == 78 && run.errors.contains("installation-id"), "\(run.errors)")
        }
    }

    @Test("Refuses another INSTALLATION_ID before it creates or changes anything")
    func otherInstallationID() async throws {
        try await withFolder { folder in
            let environment = ["ENVIRONMENT": "development", "INSTALLATION_ID": "another"]
            let data = folder.appending(path: "data")
            func isRefused(_ options: [String] = []) async throws {
                let run = try await Binary.run(["serve", "--port", "0"] + options, environment: environment, in: folder)
                #expect(run.status == 78 && run.errors.contains("INSTALLATION_ID"), "\(run.errors)")
            }
            try await isRefused(["--create"])
            #expect(!FileManager.default.fileExists(atPath: data.path))

            try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true)
            try Data("lost\n".utf8).write(to: data.appending(path: "installation-id"))
            try await isRefused(["--create"])
            #expect(try FileManager.default.contentsOfDirectory(atPath: data.path) == ["installation-id"])

            try FileManager.default.removeItem(at: data)
            #expect(try await Binary.run(["migrate"], in: folder).status == 0)
            try await isRefused()
            #expect(!DataFolder.wasServed(data))
        }
    }

    @Test("Refuses PostgreSQL of another installation, and creates no files and no tables")
    func otherInstallationInPostgres() async throws {
        let postgres = try await PostgresServer.shared()
        let (used, new) = (try await postgres.createDatabase(), try await postgres.createDatabaseName())
        try await withFolder { folder in
            let development = ["ENVIRONMENT": "development"]
            let secret = ["RATE_LIMIT_SCOPE": "server", "HOLDFAST_SECRET": String(repeating: "s", count: 40)]
            let environment = development.merging(secret) { $1 }.merging(["DATABASE_URL": used]) { $1 }
            #expect(try await Binary.run(["migrate"], environment: environment, in: folder).status == 0)
            let data = folder.appending(path: "data")
            let configured = environment.merging(["INSTALLATION_ID": "another"]) { $1 }
            let refused = try await Binary.run(["serve", "--port", "0"], environment: configured, in: folder)
            #expect(refused.status == 78 && refused.errors.contains("INSTALLATION_ID"), "\(refused.errors)")
            #expect(!FileManager.default.fileExists(atPath: data.path))

            try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true)
            try Data("another\n".utf8).write(to: data.appending(path: "installation-id"))
            let empty = environment.merging(["DATABASE_URL": postgres.url(new)]) { $1 }
            for variables in [environment, empty] {
                let run = try await Binary.run(["serve", "--port", "0"], environment: variables, in: folder)
                #expect(run.status == 78 && run.errors.contains("installation-id"), "\(run.errors)")
                #expect(try FileManager.default.contentsOfDirectory(atPath: data.path) == ["installation-id"])
            }
            let tables = try await postgres.sql("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'", database: new)
            #expect(tables.trimmingCharacters(in: .whitespacesAndNewlines) == "0")
            // A new installation can be created in the folder, because the refused servers left nothing behind.
            let (status, _) = try await serve(environment: development, options: ["--create"], in: folder, signal: SIGTERM)
            #expect(status == 0)
        }
    }

    @Test("A suspended server ends with 78 if another server has taken its place")
    func replaced() async throws {
        let postgres = try await PostgresServer.shared()
        let database = try await postgres.createDatabaseName()
        try await withFolder { folder in
            let environment = [
                "ENVIRONMENT": "development", "DATABASE_URL": postgres.url(database),
                "HOLDFAST_SECRET": String(repeating: "s", count: 40),
            ]
            try await Binary.serve(environment: environment, in: folder, endingWith: SIGKILL) { _, process in
                kill(process.processIdentifier, SIGSTOP)
                _ = try await postgres.sql("UPDATE server SET renewed_at = renewed_at - 10.5", database: database)
                // Another server's row that does not expire, so that a slow machine has time to continue the suspended one.
                _ = try await postgres.sql(
                    """
                    INSERT INTO server (id, name, version, is_alone, clock_ahead, renewed_at)
                    VALUES (gen_random_uuid(), 'other/1', '1.0.0', true, 0, extract(epoch FROM clock_timestamp()) + 3600)
                    """,
                    database: database
                )
                kill(process.processIdentifier, SIGCONT)
                let status = await process.ended()
                #expect(status == 78)
            }
        }
    }

    @Test("A refused database leaves no installation id in a new folder")
    func refusedInstallation() async throws {
        try await withFolder { url in
            let folder = try DataFolder(url)
            #expect(throws: WrongInstallation.self) { try folder.requireInstallation("name", configured: "another") }
            #expect(!DataFolder.hasInstallation(in: url))
            try folder.requireInstallation("name", configured: "name")
            #expect(throws: WrongInstallation.self) { try folder.requireInstallation("another", configured: nil) }
            let error = try #require(throws: WrongInstallation.self) {
                try DataFolder.checkInstallation(nil, in: url, configured: nil)
            }
            #expect(error.description.contains("check DATABASE_URL"), "\(error)")
        }
    }

    @Test("A database that is removed under a running server stops every write with 503", arguments: [false, true])
    func removedDatabase(isReplaced: Bool) async throws {
        try await withFolder { folder in
            _ = try await serve(environment: ["ENVIRONMENT": "development"], in: folder, signal: SIGTERM) { url in
                let file = folder.appending(path: "data/holdfast.sqlite3")
                try FileManager.default.removeItem(at: file)
                if isReplaced { try Data().write(to: file) }
                let headers = ["Content-Type: application/json"]
                let writes = [
                    ("/api/auth/register", #"{"email":"a@example.com","password":"correct horse battery","first_name":"Ana"}"#),
                    ("/api/request-password-reset/", #"{"email":"a@example.com"}"#),
                ]
                for (path, body) in writes {
                    let response = try await RawHTTP.send("POST", path, to: url, headers: headers, body: Array(body.utf8))
                    #expect(response.status == 503, "\(path): \(response.text)")
                }
            }
        }
    }

    @Test("SIGHUP before a server handles it does not end the process")
    func earlyHangup() async throws {
        try await withFolder { folder in
            let process = try Binary.make(["serve", "--port", "0"], environment: ["ENVIRONMENT": "development"], in: folder)
            let output = Pipe.make()
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            try process.start()
            defer { if process.isRunning { process.terminate() } }
            let data = folder.appending(path: "data").path
            try await eventually { !process.isRunning || FileManager.default.fileExists(atPath: data) }
            let hangups = Task {
                while !Task.isCancelled {
                    kill(process.processIdentifier, SIGHUP)
                    try await Task.sleep(for: .milliseconds(2))
                }
            }
            var isServing = false
            for await line in output.fileHandleForReading.lines where line.contains("Stop with") {
                isServing = true
                break
            }
            hangups.cancel()
            #expect(isServing)
            process.terminate()
            #expect(await process.ended() == 0)
        }
    }

    @Test("Production without a mail server logs that no emails are sent")
    func noMailServer() async throws {
        try await withFolder { folder in
            let environment = ["PASSWORD_RESET_BASE_URL": "https://accounts.example.com"]
            let (_, lines) = try await serve(environment: environment, options: ["--create"], in: folder, signal: SIGTERM)
            #expect(lines.contains { $0.contains("  mail     not sent") && $0.contains("EMAIL_HOST") }, "\(lines)")
        }
    }

    @Test("Sessions survive a restart")
    func restart() async throws {
        try await withFolder { folder in
            let environment = ["ENVIRONMENT": "development"]
            let store = MemoryCredentialStore()
            _ = try await serve(environment: environment, in: folder, signal: SIGTERM) { url in
                let client = AccountClient(api: .patient(url), store: store)
                _ = try await client.register(
                    email: try EmailAddress("ana@example.com"),
                    password: try Password("correct horse battery"),
                    firstName: try FirstName("Ana")
                )
            }
            _ = try await serve(environment: environment, in: folder, signal: SIGTERM) { url in
                let client = AccountClient(api: .patient(url), store: store)
                let me = try await client.me()
                try await client.refresh()
                let refreshed = try await client.me()
                #expect(me.firstName == "Ana")
                #expect(refreshed.firstName == "Ana")
            }
        }
    }

    @Test("Refuses settings that this version does not have")
    func unsupportedSettings() async throws {
        try await withFolder { folder in
            let environment = [
                "ENVIRONMENT": "development", "REGISTRATION_REVEALS_ACCOUNTS": "false", "VALKEY_URL": "redis://127.0.0.1",
                "ADMIN_TOKEN": "0123456789abcdef0123456789abcdef", "LOG_FORMAT": "xml",
            ]
            let run = try await Binary.run(["serve", "--port", "0"], environment: environment, in: folder)
            #expect(run.status == 78)
            for name in environment.keys where name != "ENVIRONMENT" { #expect(run.errors.contains(name), "\(run.errors)") }
            let insecure = ["PASSWORD_RESET_BASE_URL": "http://accounts.example.com"]
            let insecureRun = try await Binary.run(["serve", "--port", "0"], environment: insecure, in: folder)
            #expect(insecureRun.status == 78)
            let logins = [
                "PASSWORD_RESET_BASE_URL": "https://a:hunter2@accounts.example.com",
                "EMAIL_HOST": "smtp://a:hunter2/@mail.example.com",
            ]
            let loginRun = try await Binary.run(["serve", "--port", "0"], environment: logins, in: folder)
            #expect(loginRun.status == 78 && loginRun.errors.contains("accounts.example.com"))
            #expect(!loginRun.errors.contains("hunter2"), "\(loginRun.errors)")
        }
    }

    /// Runs `serve`, checks that it is ready, runs a closure, and signals it.
    private func serve(
        environment: [String: String],
        options: [String] = [],
        in folder: URL,
        signal: Int32,
        _ body: (URL) async throws -> Void = { _ in }
    ) async throws -> (Int32, [String]) {
        try await Binary.serve(environment: environment, options: options, in: folder, endingWith: signal) { url, _ in
            #expect(try await RawHTTP.send("GET", "/health/ready", to: url).status == 200)
            try await body(url)
        }
    }
}
