import AccountCore
import ErrorContract
import Foundation
import StrictJSON
import TestSupport
import Testing

@testable import AccountServer
@testable import HoldfastCommand

/// `users` of a Laravel application, as `sqlite3 -csv` writes them; the hashes are PHP's own.
@Suite struct LaravelImportTests {
    private static let csv = """
        name,email,password,deleted_at
        "Ana Silva",ana@example.com,$2y$12$fO9a6HBprYbFh0omXnaFH.z8rc./NKqdc7MBwPJHBEXRyUNFWJmiG,
        "Ben ""B"" Bo, Jr.",ben@example.com,$2y$04$FjpunsUztBZBzku8SIvkueMOT4bKyhyAV5dX6SuBm0V/Z7qSJa2Hm,NULL
        Cleo,cleo@example.com,"$argon2id$v=19$m=8192,t=2,p=1$RG5rRHhHbTdMdHQ3ZDJ5Lg$4tqwkSmK84EBLhITwn4Xrf0sfNBhx1Ra+ouAYVVQ1mE",\\N
        Dora,dora@example.com,$2y$04$EJNxL9tnmqRGQA/2q/jeEOmQIE0Y1KOznXlXKowBQpoE8czsjaOgW,"2024-01-01 00:00:00"

        """
    private static let lines = #"""
        {"name":"Ana Silva","email":"ana@example.com","password":"$2y$12$fO9a6HBprYbFh0omXnaFH.z8rc.\/NKqdc7MBwPJHBEXRyUNFWJmiG"}
        {"name":"Ben \"B\" Bo, Jr.","email":"ben@example.com","password":"$2y$04$FjpunsUztBZBzku8SIvkueMOT4bKyhyAV5dX6SuBm0V\/Z7qSJa2Hm"}
        {"name":"Cleo","email":"cleo@example.com","password":"$argon2id$v=19$m=8192,t=2,p=1$RG5rRHhHbTdMdHQ3ZDJ5Lg$4tqwkSmK84EBLhITwn4Xrf0sfNBhx1Ra+ouAYVVQ1mE"}
        {"name":"Dora","email":"dora@example.com","password":"$2y$04$EJNxL9tnmqRGQA\/2q\/jeEOmQIE0Y1KOznXlXKowBQpoE8czsjaOgW","deleted_at":"2024-01-01T00:00:00.000000Z"}

        """#

    @Test("Users of Laravel sign in with their passwords, except deleted ones", arguments: [csv, lines])
    func passwords(_ text: String) async throws {
        try await withFolder(sharesStores: true) { folder in
            try Data(text.utf8).write(to: folder.appending(path: "users"))
            let run = try await Binary.run(["users", "import", "users"], in: folder)
            #expect(run.output == "4 added, 0 existing, 0 refused\n", "\(run.errors)")
            try await withServer {
                $0.dataFolder = folder.appending(path: "data")
            } _: { server in
                // A sign-in without an account may cost as much as each of them.
                let gate = server.server.accounts.gate
                let costs = try await server.server.accounts.stores.accounts.countForeignHashes(by: gate.decoy(like:)).counts
                #expect(
                    costs.values.sorted() == [1, 1, 2] && costs.keys.contains { $0.hasPrefix("$argon2id$v=19$m=8192,t=2,p=1$") }
                )
                for (name, called) in [("ana", "Ana Silva"), ("ben", #"Ben "B" Bo, Jr."#), ("cleo", "Cleo")] {
                    #expect(try await server.login("\(name)@example.com", "a wrong password").status == 401)
                    let response = try await server.login("\(name)@example.com", "old password of \(name)")
                    #expect(response.status == 200, "\(response.text)")
                    #expect(try response.json()["user.first_name"]?.stringValue == called)
                }
                let deleted = try await server.login("dora@example.com", "old password of dora")
                #expect(deleted.status == 403)
                #expect(deleted["X-Error-Code"] == "AUTH_USER_INACTIVE")
            }
        }
    }
}
