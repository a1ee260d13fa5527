import AccountContract
import AccountCore
import ErrorContract
import Foundation
import GRDB
import StrictJSON
import TestSupport
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct ImportCommandTests {
    private let csv = """
        email,password_hash,first_name,state,locale
        ana@example.com,$2b$04$abcdefghijklmnopqrstuuVtaEwdJpHPKZHz1JCQqYK0eCjVBmSxm,Ana,active,es
        "ben@example.com","!unusable","Ben ""B"" Bo\n        den",suspended,
        not an address,,Cleo,,
        ANA@example.com,,Ana again,,
        dora@example.com,pbkdf2_sha256$99999999$salt$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=,Dora,,
        eva@example.com,md5$abc$def,Eva,,
        fay@example.com,,Fay,frozen,
        gil@example.com,,Gil
        hal@example.com,,,,de_AT
        """

    @Test("Reports bad and duplicate rows by line and imports the others, idempotently")
    func badRows() async throws {
        try await withFolder(sharesStores: true) { folder in
            try Data(csv.replacing("Bo\n        den", with: "Bo-den").utf8).write(to: folder.appending(path: "people.csv"))
            let run = try await Binary.run(["users", "import", "people.csv"], in: folder)
            #expect(run.status == 1)
            #expect(run.output == "3 added, 0 existing, 6 refused\n")
            // The first line reports that the folder was new.
            let lines = run.errors.split(separator: "\n").dropFirst().map { $0.prefix { $0 != ":" } }
            #expect(lines == ["line 4", "line 5", "line 6", "line 7", "line 8", "line 9"], "\(run.errors)")
            #expect(run.errors.contains("; a new installation was created there.\nline 4: "))
            #expect(run.errors.contains("line 5: has the address of line 2"))
            #expect(run.errors.contains("2,000,000 rounds"))
            #expect(!run.errors.contains("@example.com"))
            let again = try await Binary.run(["users", "import", "people.csv"], in: folder)
            #expect(again.output == "0 added, 3 existing, 6 refused\n")
            #expect(!again.errors.contains("new installation"))
            let list = try await Binary.run(["users", "list", "--json"], in: folder)
            let people = try JSONBody(Array(list.output.utf8))
            #expect(people["0.first_name"] == "Ana" || people["1.first_name"] == "Ana" || people["2.first_name"] == "Ana")
            #expect(list.output.contains(#""locale":"de""#) && list.output.contains(#""first_name":"hal""#))
        }
    }

    @Test("Reads JSON lines like CSV, and reports invalid lines")
    func jsonLines() async throws {
        try await withFolder(sharesStores: true) { folder in
            let text = """
                {"email":"ana@example.com","first_name":"Ana","state":"active"}

                {"email":17}
                {"email":"ben@example.com","password_hash":null}
                nonsense
                {"email":"cleo@example.com","is_active":false}
                {"email":"dora@example.com","is_active":0}
                {"email":"eva@example.com","is_active":"1"}
                {"email":"fay@example.com","is_active":[]}
                """
            try Data(text.utf8).write(to: folder.appending(path: "people.jsonl"))
            let run = try await Binary.run(["users", "import", "people.jsonl"], in: folder)
            #expect(run.output == "5 added, 0 existing, 3 refused\n")
            // The first line reports that the folder was new.
            let lines = run.errors.split(separator: "\n").dropFirst().map { $0.prefix { $0 != ":" } }
            #expect(lines == ["line 3", "line 5", "line 9"], "\(run.errors)")
            let expected = ["ana": "active", "ben": "active", "cleo": "inactive", "dora": "inactive", "eva": "active"]
            #expect(try await states(in: folder) == expected)
        }
    }

    @Test(
        "Imports deleted users as inactive, and suspended users as suspended",
        arguments: [
            """
            email,state,deleted_at
            ana@example.com,active,2024-01-01
            ben@example.com,Suspended,2024-01-01
            cleo@example.com,suspended,NULL
            dora@example.com,,2024-01-01
            """,
            """
            {"email":"ana@example.com","state":"active","deleted_at":"2024-01-01"}
            {"email":"ben@example.com","state":"Suspended","deleted_at":"2024-01-01"}
            {"email":"cleo@example.com","state":"suspended","deleted_at":null}
            {"email":"dora@example.com","deleted_at":"2024-01-01"}
            """,
        ]
    )
    func deleted(_ text: String) async throws {
        try await withFolder(sharesStores: true) { folder in
            try Data(text.utf8).write(to: folder.appending(path: "people"))
            let run = try await Binary.run(["users", "import", "people"], in: folder)
            #expect(run.output == "4 added, 0 existing, 0 refused\n", "\(run.errors)")
            let expected = ["ana": "inactive", "ben": "suspended", "cleo": "suspended", "dora": "inactive"]
            #expect(try await states(in: folder) == expected)
        }
    }

    @Test(
        "An empty text is a missing value, in CSV and in JSON lines",
        arguments: [
            "email,first_name,name,deleted_at\nana@example.com,,Ana,\n",
            #"{"email":"ana@example.com","first_name":"","name":"Ana","deleted_at":""}"#,
        ]
    )
    func emptyTexts(_ text: String) async throws {
        try await withFolder(sharesStores: true) { folder in
            try Data(text.utf8).write(to: folder.appending(path: "people"))
            let run = try await Binary.run(["users", "import", "people"], in: folder)
            #expect(run.output == "1 added, 0 existing, 0 refused\n", "\(run.errors)")
            #expect(try await states(in: folder) == ["ana": "active"])
            let list = try await Binary.run(["users", "list", "--json"], in: folder)
            #expect(list.output.contains(#""first_name":"Ana""#), "\(list.output)")
        }
    }

    @Test("Ignores the columns of a CSV file that have no name")
    func unnamedColumns() async throws {
        try await withFolder(sharesStores: true) { folder in
            try Data("email,first_name,, ,\nana@example.com,Ana,a,b,\n".utf8).write(to: folder.appending(path: "people.csv"))
            let run = try await Binary.run(["users", "import", "people.csv"], in: folder)
            #expect(run.output == "1 added, 0 existing, 0 refused\n", "\(run.errors)")
            #expect(try await states(in: folder) == ["ana": "active"])
        }
    }

    @Test(
        "Keeps inactive accounts inactive in any notation, and refuses unclear values",
        arguments: [
            "email,state,is_active\nana@example.com,active,0\nben@example.com,,f\ncleo@example.com,,true\ndora@example.com,,maybe\n",
            #"{"email":"ana@example.com","state":"active","is_active":0}"# + "\n"
                + #"{"email":"ben@example.com","is_active":"f"}"# + "\n"
                + #"{"email":"cleo@example.com","is_active":true}"# + "\n" + #"{"email":"dora@example.com","is_active":2}"#,
            #"[{"fields":{"email":"ana@example.com","password":"","is_active":0}},"#
                + #"{"fields":{"email":"ben@example.com","password":"","is_active":"false"}},"#
                + #"{"fields":{"email":"cleo@example.com","password":""}},"#
                + #"{"fields":{"email":"dora@example.com","password":"","is_active":[]}}]"#,
        ]
    )
    func outOfUse(_ text: String) async throws {
        try await withFolder(sharesStores: true) { folder in
            try Data(text.utf8).write(to: folder.appending(path: "people"))
            try await expectTwoOutOfUse(folder)
        }
    }

    @Test("Reports the users of a Django dump whose address or password is null")
    func nullInDump() async throws {
        try await withFolder(sharesStores: true) { folder in
            let text = """
                [{"fields":{"email":"ana@example.com","password":""}},
                {"fields":{"email":null,"password":""}},
                {"fields":{"email":"ben@example.com","password":null}},
                {"fields":{"email":"cleo@example.com"}},
                {"fields":{"email":17,"password":null}}]
                """
            try Data(text.utf8).write(to: folder.appending(path: "people"))
            let run = try await Binary.run(["users", "import", "people"], in: folder)
            #expect(run.output == "1 added, 0 existing, 2 refused\n", "\(run.errors)")
            // The first line reports that the folder was new.
            let lines = run.errors.split(separator: "\n").dropFirst().map { $0.prefix { $0 != ":" } }
            #expect(lines == ["object 2", "object 3"], "\(run.errors)")
        }
    }

    @Test("Reads inactive accounts of Django's database from words as well")
    func outOfUseInDatabase() async throws {
        try await withFolder(sharesStores: true) { folder in
            let database = try DatabaseQueue(path: folder.appending(path: "people").path)
            try await database.write { database in
                try database.execute(
                    sql: """
                        CREATE TABLE auth_user (id INTEGER PRIMARY KEY, email TEXT, first_name TEXT, password TEXT, is_active);
                        INSERT INTO auth_user VALUES
                            (1, 'ana@example.com', '', '', 0), (2, 'ben@example.com', '', '', 'f'),
                            (3, 'cleo@example.com', '', '', 1), (4, 'dora@example.com', '', '', x'00')
                        """
                )
            }
            try database.close()
            try await expectTwoOutOfUse(folder)
        }
    }

    @Test("Reads a Django database with text ids, and names its users by row")
    func textIDs() async throws {
        try await withFolder(sharesStores: true) { folder in
            let database = try DatabaseQueue(path: folder.appending(path: "people").path)
            try await database.write { database in
                try database.execute(
                    sql: """
                        CREATE TABLE auth_user (id TEXT PRIMARY KEY, email TEXT, first_name TEXT, password TEXT, is_active);
                        INSERT INTO auth_user VALUES ('a', 'ana@example.com', '', '', 1), ('b', 'nobody', '', '', 1)
                        """
                )
            }
            try database.close()
            let run = try await Binary.run(["users", "import", "people"], in: folder)
            #expect(run.output == "1 added, 0 existing, 1 refused\n", "\(run.errors)")
            #expect(run.errors.contains("row 2"), "\(run.errors)")
        }
    }

    private func expectTwoOutOfUse(_ folder: URL) async throws {
        let run = try await Binary.run(["users", "import", "people"], in: folder)
        #expect(run.output == "3 added, 0 existing, 1 refused\n", "\(run.errors)")
        #expect(run.errors.contains("is_active is neither yes nor no"))
        #expect(try await states(in: folder) == ["ana": "inactive", "ben": "inactive", "cleo": "active"])
    }

    /// Returns the states of all accounts, by the parts of their addresses before the `@`.
    private func states(in folder: URL) async throws -> [String: String] {
        let list = try await Binary.run(["users", "list"], in: folder).output.split(separator: "\n").map {
            $0.split(separator: " ")
        }
        return Dictionary(uniqueKeysWithValues: list.map { (String($0[2].prefix { $0 != "@" }), String($0[1])) })
    }

    @Test("A dry run counts the former address of an account as existing, like the import")
    func formerAddress() async throws {
        try await withFolder { folder in
            let stores = try Stores(folder.appending(path: "data"))
            let file = folder.appending(path: "people.csv")
            try Data("email\nana@example.com\n".utf8).write(to: file)
            let first = try await Binary.run(["users", "import", "people.csv"], in: folder)
            #expect(first.output == "1 added, 0 existing, 0 refused\n", "\(first.errors)")
            let (former, present) = (try EmailAddress("ana@example.com"), try EmailAddress("new@example.com"))
            let account = try #require(try await stores.accounts.account(email: former))
            let now = Date()
            _ = try await stores.records.change(account.id, at: now) { record in
                record.formerAddresses = [
                    FormerAddress(email: former, replacedAt: now, expiresAt: now.addingTimeInterval(3_600))
                ]
                record.account.email = present
            }
            try Data("email\nAna@example.com\nnew@example.com\nben@example.com\n".utf8).write(to: file)
            let dryRun = try await Binary.run(["users", "import", "people.csv", "--dry-run"], in: folder)
            #expect(dryRun.output == "1 would be added, 2 existing, 0 refused\n", "\(dryRun.errors)")
            let run = try await Binary.run(["users", "import", "people.csv"], in: folder)
            #expect(run.output == "1 added, 2 existing, 0 refused\n", "\(run.errors)")
        }
    }

    @Test("Imports a pipe like a file")
    func pipe() async throws {
        try await withFolder(sharesStores: true) { folder in
            let run = try await Binary.run(
                ["-c", "printf 'email\nana@example.com\n' | \"$0\" users import /dev/stdin", try Binary.path(of: "holdfast")],
                at: "/bin/bash",
                in: folder
            )
            #expect(run.output == "1 added, 0 existing, 0 refused\n", "\(run.errors)")
        }
    }

    @Test(
        "Reports an unsupported file in one sentence",
        arguments: [
            "", " \r\n", "\u{0}e\u{0}m\u{0}a\u{0}i\u{0}l", "[{", #"[{"email":"ana@example.com"}]"#, "name,age\nx,1",
            "SQLite format 3\u{0}junk", "email,email\na,b",
            "\u{1}\u{2}",
        ]
    )
    func garbage(_ text: String) async throws {
        try await withFolder(sharesStores: true) { folder in
            try Data(text.utf8).write(to: folder.appending(path: "people"))
            let run = try await Binary.run(["users", "import", "people"], in: folder)
            #expect(run.status == 1)
            #expect(!run.errors.isEmpty && run.errors.utf8.count < 300, "\(run.errors)")
        }
    }

    @Test("Suspends an account with its links and sessions at once, and audits it safely")
    func suspend() async throws {
        try await withFolder(sharesStores: true) { folder in
            let data = folder.appending(path: "data")
            try await withServer {
                $0.dataFolder = data
            } _: { server in
                try await server.register("ana@example.com")
                let session = try await server.login("ana@example.com", "correct horse battery").json()
                let access = try #require(session["access_token"]?.stringValue)
                let refresh = try #require(session["refresh_token"]?.stringValue)
                let link = try await server.resetLink(for: "ana@example.com")
                let suspended = try await Binary.run(["users", "suspend", "ana@example.com"], in: folder)
                #expect(suspended.status == 0, "\(suspended.errors)")
                let me = try await RawHTTP.send(
                    "GET",
                    "/api/auth/me",
                    to: server.url,
                    headers: ["Authorization: Bearer \(access)"]
                )
                #expect(me.status == 401)
                #expect(try await server.post("/api/auth/refresh", #"{"refresh_token":"\#(refresh)"}"#).status == 401)
                let confirm = #"{"token":"\#(link.token.rawValue)","new_password":"another good password"}"#
                #expect(try await server.post("/api/confirm-password-reset/", confirm).status == 400)
                #expect(try await server.login("ana@example.com", "correct horse battery").status == 403)
                _ = try await Binary.run(["users", "activate", "ana@example.com"], in: folder)
                #expect(try await server.login("ana@example.com", "correct horse battery").status == 200)
                // An ended session stays ended.
                let dead = try await RawHTTP.send(
                    "GET",
                    "/api/auth/me",
                    to: server.url,
                    headers: ["Authorization: Bearer \(access)"]
                )
                #expect(dead.status == 401)
            }
            let run = try await Binary.run(["users", "audit", "ana@example.com", "--json"], in: folder)
            let events = try #require(try JSONBody(Array(run.output.utf8)).value.arrayValue)
            let kinds = events.compactMap { $0.objectValue?["event"]?.stringValue }
            #expect(
                Set(kinds) == ["registered", "signed_in", "reset_link_sent", "suspended", "sign_in_refused", "activated"],
                "\(kinds)"
            )
            #expect(events.contains { $0.objectValue?["client"]?.stringValue == "127.0.0.0/24" })
            #expect(events.contains { $0.objectValue?["request_id"]?.stringValue?.isEmpty == false })
            for secret in ["127.0.0.1", "ana@", "correct horse"] { #expect(!run.output.contains(secret)) }
            let unknown = try await Binary.run(["users", "audit", "nobody@example.com"], in: folder)
            #expect(unknown.status == 1)
        }
    }
}
