import AccountContract
import AccountCore
import Configuration
import DataServerTesting
import Email
import ErrorContract
import Foundation
import GRDB
import Pages
import StrictJSON
import TestSupport
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct CommandTests {
    @Test("The demo prints each step and ends with 0")
    func demo() async throws {
        try await withFolder { folder in
            let run = try await Binary.run(["demo", "--delay", "5"], in: folder)
            #expect(run.status == 0, "\(run.errors)")
            for number in 1...24 { #expect(run.output.contains("\(number)  ")) }
            #expect(run.output.contains("429 RATE_LIMIT_EXCEEDED"))
            // On a slow machine, the requests of the demo take longer than a minute.
            #expect(run.output.contains(/intenta de nuevo en (?:1 hora|\d\d minutos)\./))
            #expect(run.output.contains("all 20 succeeded after one refresh that they shared"))
            #expect(run.output.contains("from Retry-After, then 200"))
            #expect(run.output.contains("30 were refused by the client with a retry time; 1 request reached the server"))
            #expect(run.output.contains("1 Milk, 2 Bread, 3 Salt; 3 stored, 3 performed, each once, in order"))
            #expect(run.output.contains("Every step ended as it should."))
        }
    }

    @Test("The catalogue prints as a table, as Markdown and as JSON")
    func codes() async throws {
        try await withFolder { folder in
            let table = try await Binary.run(["codes"], in: folder)
            #expect(table.output.split(separator: "\n").count == ErrorCatalogue.standard.definitions.count)
            let markdown = try await Binary.run(["codes", "--markdown"], in: folder)
            #expect(markdown.output == ErrorReference().markdown + "\n")
            let json = try JSONParser().parse(try await Binary.run(["codes", "--json"], in: folder).output.utf8.dropLast())
            let items = try #require(json.arrayValue)
            #expect(items.count == ErrorCatalogue.standard.definitions.count)
            for item in items {
                let object = try #require(item.objectValue)
                let names = object.members.map(\.key)
                #expect(
                    names == [
                        "code", "status", "family", "summary", "user_action", "retry", "recovery", "since", "reveals_account",
                        "messages",
                    ]
                )
                #expect(object["messages"]?.objectValue?.members.count == Language.supported.count)
            }
            #expect(try await Binary.run(["codes", "--json", "--markdown"], in: folder).status == 64)
        }
    }

    @Test("Accounts are added from the command line and listed")
    func users() async throws {
        try await withFolder { folder in
            let add = ["users", "add", "ana@example.com", "--first-name", "Ana", "--data", "store"]
            let added = try await Binary.run(add, input: "a good password\n", in: folder)
            #expect(added.status == 0, "\(added.errors)")
            let again = try await Binary.run(add, input: "a good password\n", in: folder)
            #expect(again.status == 1)
            #expect(again.errors.contains("AUTH_EMAIL_EXISTS"))
            let audit = try await Binary.run(["users", "audit", "ana@example.com", "--data", "store"], in: folder)
            #expect(audit.output.contains("registered"), "\(audit.errors)")
            let journal = folder.appending(path: "store/limits.journal").path
            #expect(!FileManager.default.fileExists(atPath: journal), "limits are the server's")
            try Data().write(to: folder.appending(path: "file"))
            let migration = try await Binary.run(["migrate", "--data", "file"], in: folder)
            #expect(migration.status == 1 && !migration.errors.contains("Error Domain"), "\(migration.errors)")
            let weak = try await Binary.run(
                ["users", "add", "bea@example.com", "--first-name", "Bea", "--data", "store"],
                input: "short\n",
                in: folder
            )
            #expect(weak.errors.contains("at least 8 characters"))
            let list = try await Binary.run(["users", "list", "--data", "store"], in: folder)
            #expect(list.output.contains("ana@example.com"))
            let json = try await Binary.run(["users", "list", "--data", "store", "--json"], in: folder)
            #expect(try JSONParser().parse(json.output.utf8.dropLast()).arrayValue?.count == 1)
            let typo = try await Binary.run(["users", "list", "--data", "stroe"], in: folder)
            #expect(typo.status == 1)
            #expect(typo.errors.contains("There is no data in"))
            #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "stroe").path))
            let strict = try await Binary.run(
                ["users", "add", "cia@example.com", "--first-name", "Cia", "--data", "store"],
                environment: ["PASSWORD_MIN_LENGTH": "40"],
                input: "a good password\n",
                in: folder
            )
            #expect(strict.errors.contains("at least 40 characters"))
        }
    }

    @Test("The page about users lists every state and every event of an account")
    func usersPage() throws {
        let page = try Document("docs/operations/users.md")
        for state in Account.State.allCases { #expect(page.contains("| `\(state.name)` |"), "\(state)") }
        for kind in AuditEvent.Kind.allCases { #expect(page.contains("`\(kind.name)`"), "\(kind)") }
    }

    @Test("The commands print the state and the event of a locked account as locked")
    func locked() async throws {
        try await withFolder(sharesStores: true) { folder in
            let data = folder.appending(path: "data")
            try await withServer {
                $0.dataFolder = data
            } _: { server in
                try await server.register("ana@example.com")
                let stores = server.server.accounts.stores
                let account = try #require(try await stores.accounts.account(email: EmailAddress("ana@example.com")))
                let event = AuditEvent(kind: .locked, accountID: account.id, time: Date(), origin: .none)
                #expect(try await stores.accounts.setState(.locked, of: account.id, event: event))
                let list = try await Binary.run(["users", "list"], in: folder)
                #expect(list.output.contains("  locked  ana@example.com"), "\(list.output) \(list.errors)")
                let json = try await Binary.run(["users", "list", "--json"], in: folder)
                #expect(try JSONBody(Array(json.output.utf8.dropLast()))["0.state"] == "locked")
                let audit = try await Binary.run(["users", "audit", "ana@example.com"], in: folder)
                #expect(audit.output.contains("  locked  "), "\(audit.output)")
                let events = try await Binary.run(["users", "audit", "ana@example.com", "--json"], in: folder)
                #expect(try JSONBody(Array(events.output.utf8.dropLast()))["0.event"] == "locked")
            }
        }
    }

    @Test("Deletes a confirmed account with its sessions, and emails a link to restore it")
    func delete() async throws {
        try await withFolder(sharesStores: true) { folder in
            let data = folder.appending(path: "data")
            try await withServer {
                $0.dataFolder = data
            } _: { server in
                try await server.register("ana@example.com")
                let access = try await server.signIn("ana@example.com").access
                let delete = ["users", "delete", "ana@example.com"]
                for input in ["", "no\n"] {
                    let refused = try await Binary.run(delete, input: input, in: folder)
                    #expect(refused.status == 1)
                    #expect(refused.errors.hasSuffix("The account was not changed.\n"), "\(refused.errors)")
                }
                #expect(try await server.me(access) == 200)
                let deleted = try await Binary.run(delete, input: "yes\n", in: folder)
                #expect(deleted.status == 0 && deleted.output.contains(" is deleted, and "), "\(deleted.errors)")
                #expect(try await server.me(access) == 401)
                let login = #"{"email":"ana@example.com","password":"correct horse battery"}"#
                #expect(try await server.post(AccountPath.login, login)["X-Error-Code"] == "AUTH_ACCOUNT_DELETED")
                let again = try await Binary.run(delete + ["--yes"], in: folder)
                #expect(again.status == 0 && again.output.contains(" is deleted already"), "\(again.errors)")
                let list = try await Binary.run(["users", "list"], in: folder)
                #expect(list.output.contains("  deleted  ana@example.com"), "\(list.output)")
                let audit = try await Binary.run(["users", "audit", "ana@example.com"], in: folder)
                #expect(audit.output.split(separator: "\n").count { $0.contains("  deleted ") } == 1, "\(audit.output)")
                let token = try await server.token(.keepAccount, to: "ana@example.com")
                #expect(try await server.post(AccountPath.keepAccount, #"{"token":"\#(token)"}"#).status == 200)
                #expect(try await server.post(AccountPath.login, login).status == 200)
            }
        }
    }

    @Test("An account that is deleted with --now can be removed at once")
    func deleteNow() async throws {
        try await withFolder(sharesStores: true) { folder in
            let add = ["users", "add", "ana@example.com", "--first-name", "Ana"]
            let added = try await Binary.run(add, input: "a good password\n", in: folder)
            #expect(added.status == 0, "\(added.errors)")
            let delete = ["users", "delete", "ana@example.com", "--yes"]
            #expect(try await Binary.run(delete, in: folder).status == 0)
            #expect(try await Binary.run(["purge"], in: folder).output == "0 accounts removed\n")
            #expect(try await Binary.run(["mail", "queue"], in: folder).output.contains("account_deleted"))
            #expect(try await Binary.run(delete + ["--now"], in: folder).status == 0)
            #expect(try await Binary.run(["purge"], in: folder).output == "1 account removed\n")
            #expect(try await Binary.run(["users", "list", "--json"], in: folder).output == "[]\n")
            #expect(try await Binary.run(["mail", "queue"], in: folder).output.isEmpty)
            #expect(try await Binary.run(delete, in: folder).status == 1)
        }
    }

    @Test("An account that is deleted during the question is deleted only once")
    func deletedMeanwhile() async throws {
        try await withFolder(sharesStores: true) { folder in
            let add = ["users", "add", "ana@example.com", "--first-name", "Ana"]
            let added = try await Binary.run(add, input: "a good password\n", in: folder)
            #expect(added.status == 0, "\(added.errors)")
            let delete = ["users", "delete", "ana@example.com"]
            let process = try Binary.make(delete, environment: [:], in: folder)
            let (input, output) = (Pipe.make(), Pipe.make())
            let errors = folder.appending(path: "errors")
            try Data().write(to: errors)
            (process.standardInput, process.standardOutput) = (input, output)
            process.standardError = try FileHandle(forWritingTo: errors)
            try process.start()
            try await waitUntil("the command asks for a confirmation") {
                try String(contentsOf: errors, encoding: .utf8).hasSuffix("[y/N] ")
            }
            let first = try await Binary.run(delete + ["--yes"], in: folder)
            #expect(first.status == 0 && first.output.contains(" is deleted, and "), "\(first.errors)")
            try input.fileHandleForWriting.write(contentsOf: Data("yes\n".utf8))
            let second = try await output.fileHandleForReading.rest()
            #expect(second.contains(" is deleted already, and "), "\(second)")
            #expect(await process.ended() == 0)
            let audit = try await Binary.run(["users", "audit", "ana@example.com"], in: folder)
            #expect(audit.output.split(separator: "\n").count { $0.contains("  deleted ") } == 1, "\(audit.output)")
        }
    }

    @Test("Sends a reset link in the language of the account, unless it is suspended")
    func sendReset() async throws {
        try await withFolder(sharesStores: true) { folder in
            let data = folder.appending(path: "data")
            let add = ["users", "add", "ana@example.com", "--first-name", "Ana", "--locale", "es"]
            #expect(try await Binary.run(add, input: "a good password\n", in: folder).status == 0)
            let send = ["users", "send-reset", "ana@example.com"]
            let queued = try await Binary.run(send, in: folder)
            #expect(queued.status == 0 && queued.output.hasSuffix(" gets a reset email\n"), "\(queued.errors)")
            try await withServer {
                $0.dataFolder = data
            } _: { server in
                let token = try await server.token(.resetPassword, to: "ana@example.com")
                let mail = try #require(try await server.mails(atLeast: 1).first)
                #expect(mail.subject == "Restablecer tu contraseña - Crowns", "\(mail.subject)")
                let confirm = #"{"token":"\#(token)","new_password":"another good password"}"#
                #expect(try await server.post(AccountPath.confirmPasswordReset, confirm).status == 200)
            }
            #expect(try await Binary.run(["users", "suspend", "ana@example.com"], in: folder).status == 0)
            let refused = try await Binary.run(send, in: folder)
            #expect(refused.status == 1 && refused.errors.contains("is suspended"), "\(refused.errors)")
        }
    }

    @Test("An account whose audit event can't be stored keeps its state")
    func stateWithEvent() async throws {
        try await withFolder { folder in
            let add = ["users", "add", "ana@example.com", "--first-name", "Ana"]
            #expect(try await Binary.run(add, input: "a good password\n", in: folder).status == 0)
            let file = try DatabaseQueue(path: folder.appending(path: "data/holdfast.sqlite3").path)
            try await file.write { database in
                try database.execute(
                    sql: """
                        CREATE TRIGGER refusal BEFORE INSERT ON audit_event BEGIN SELECT RAISE(ABORT, 'no event'); END
                        """
                )
            }
            let suspend = ["users", "suspend", "ana@example.com"]
            for command in [suspend, ["users", "delete", "ana@example.com", "--yes"]] {
                #expect(try await Binary.run(command, in: folder).status != 0)
            }
            #expect(try await Binary.run(["users", "list"], in: folder).output.contains("  active  ana@example.com"))
            try await file.write { try $0.execute(sql: "DROP TRIGGER refusal") }
            let repeated = try await Binary.run(suspend, in: folder)
            #expect(repeated.status == 0 && repeated.output.contains("is suspended"), "\(repeated.errors)")
            let audit = try await Binary.run(["users", "audit", "ana@example.com"], in: folder)
            #expect(audit.output.contains("suspended"), "\(audit.errors)")
        }
    }

    @Test("Adds and imports no account whose audit event can't be stored")
    func accountWithEvent() async throws {
        try await withFolder { folder in
            func add(_ email: String) async throws -> ProcessResult {
                try await Binary.run(["users", "add", email, "--first-name", "Ana"], input: "a good password\n", in: folder)
            }
            try Data("email\nben@example.com\n".utf8).write(to: folder.appending(path: "people.csv"))
            #expect(try await add("fay@example.com").status == 0)
            let file = try DatabaseQueue(path: folder.appending(path: "data/holdfast.sqlite3").path)
            try await file.write { database in
                try database.execute(
                    sql: """
                        CREATE TRIGGER refusal BEFORE INSERT ON audit_event BEGIN SELECT RAISE(ABORT, 'no event'); END
                        """
                )
            }
            #expect(try await add("ana@example.com").status != 0)
            #expect(try await Binary.run(["users", "import", "people.csv"], in: folder).status != 0)
            let list = try await Binary.run(["users", "list"], in: folder)
            #expect(list.output.contains("fay@example.com") && list.output.split(separator: "\n").count == 1, "\(list.output)")
            try await file.write { try $0.execute(sql: "DROP TRIGGER refusal") }
            #expect(try await add("ana@example.com").status == 0)
            #expect(try await Binary.run(["users", "import", "people.csv"], in: folder).output.hasPrefix("1 added"))
            for (email, event) in [("ana@example.com", "registered"), ("ben@example.com", "imported")] {
                let audit = try await Binary.run(["users", "audit", email], in: folder)
                #expect(audit.output.contains(event), "\(audit.errors)")
            }
        }
    }

    @Test("Commands fail in a folder without an installation, and create nothing", arguments: [false, true])
    func wrongFolder(hasEmptyFile: Bool) async throws {
        try await withFolder { folder in
            let data = folder.appending(path: "data")
            let file = data.appending(path: "holdfast.sqlite3")
            if hasEmptyFile {
                try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true)
                try Data().write(to: file)
            }
            let copy = ["migrate", "copy", "--from", "sqlite:data", "--to", "postgres://app@127.0.0.1:1/app"]
            let commands = [
                ["users", "list"], ["users", "audit", "ana@example.com"], ["users", "suspend", "ana@example.com"],
                ["users", "delete", "ana@example.com", "--yes"], ["users", "send-reset", "ana@example.com"],
                ["mail", "queue"], ["mail", "retry"], ["keys", "list"], ["keys", "rotate"], ["purge"], ["purge", "--list"], copy,
                ["migrate", "copy", "--from", "sqlite:data", "--undo"],
            ]
            for command in commands {
                let run = try await Binary.run(command, environment: ["ENVIRONMENT": "development"], in: folder)
                #expect(run.status == 1 && run.output.isEmpty, "\(command): \(run.output)")
                #expect(run.errors.contains("; specify the "), "\(command): \(run.errors)")
            }
            let files = try? FileManager.default.contentsOfDirectory(atPath: data.path)
            #expect(files == (hasEmptyFile ? ["holdfast.sqlite3"] : nil))
            #expect((try? Data(contentsOf: file)) == (hasEmptyFile ? Data() : nil))
        }
    }

    @Test("Commands create no tables in a PostgreSQL database without an installation")
    func wrongDatabase() async throws {
        let postgres = try await PostgresServer.shared()
        let name = try await postgres.createDatabaseName()
        try await withFolder { folder in
            let environment = [
                "ENVIRONMENT": "development", "DATABASE_URL": postgres.url(name), "RATE_LIMIT_SCOPE": "server",
                "HOLDFAST_SECRET": String(repeating: "s", count: 40),
            ]
            for command in [["users", "list"], ["mail", "queue"], ["keys", "list"], ["purge"]] {
                let run = try await Binary.run(command, environment: environment, in: folder)
                #expect(run.status == 1 && run.errors.contains("check DATABASE_URL"), "\(command): \(run.errors)")
            }
            try Data("email\nana@example.com\n".utf8).write(to: folder.appending(path: "people.csv"))
            let add = ["users", "import", "people.csv"]
            let dryRun = try await Binary.run(add + ["--dry-run"], environment: environment, in: folder)
            #expect(dryRun.output == "1 would be added, 0 existing, 0 refused\n", "\(dryRun.errors)")
            let tables = try await postgres.sql("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'", database: name)
            #expect(tables.trimmingCharacters(in: .whitespacesAndNewlines) == "0")
            let run = try await Binary.run(add, environment: environment, in: folder)
            #expect(run.status == 0 && run.errors.contains("a new installation was created there"), "\(run.errors)")
        }
    }

    @Test("A default language needs texts; refuses another one and lists those available")
    func defaultLocale() async throws {
        try await withFolder { folder in
            for (name, language) in [
                ("en", Language.english), ("ES", .spanish), ("he", .hebrew), ("iw", .hebrew), ("de", .german),
            ] {
                var configuration = AccountServerConfiguration(dataFolder: folder)
                let settings = ["DEFAULT_LOCALE": name]
                let provider = EnvironmentVariablesProvider(environmentVariables: settings)
                try configuration.read(ConfigReader(provider: provider), isServing: false)
                #expect(configuration.defaultLanguage == language)
            }
            for name in ["it", "e n", "es-MX", "english"] {
                let environment = ["ENVIRONMENT": "development", "DEFAULT_LOCALE": name]
                let run = try await Binary.run(["serve", "--port", "0"], environment: environment, in: folder)
                #expect(run.status == 78, "\(name)")
                #expect(run.errors.contains("DEFAULT_LOCALE must be one of en, es, he, pt, fr, de"))
            }
            let help = try await Binary.run(["serve", "--help"], in: folder)
            for language in Language.supported {
                #expect(help.output.contains(try Regex("DEFAULT_LOCALE .*\\b\(language)\\b")))
            }
        }
    }

    @Test(
        "Invalid usage ends with exit code 64 and a hint",
        arguments: [
            ["nonsense"], ["serve", "--port", "x"], ["serve", "--port", "70000"], ["users", "add"],
            ["users", "add", "not-an-address", "--first-name", "A"],
            ["users", "add", "a@example.com", "--first-name", "A", "--locale", "xx"],
        ]
    )
    func badUsage(arguments: [String]) async throws {
        try await withFolder { folder in
            let run = try await Binary.run(arguments, input: "\n", in: folder)
            #expect(run.status == 64)
            #expect(run.errors.contains("--help") || run.errors.contains("Error:"))
        }
    }

    @Test(
        "Every command has help",
        arguments: [[], ["serve"], ["demo"], ["users"], ["users", "add"], ["codes"], ["call"]]
    )
    func help(command: [String]) async throws {
        try await withFolder { folder in
            let run = try await Binary.run(command + ["--help"], in: folder)
            #expect(run.status == 0)
            #expect(run.output.contains("USAGE"))
        }
    }
}
