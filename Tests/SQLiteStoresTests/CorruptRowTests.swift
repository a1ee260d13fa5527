import AccountContract
import AccountCore
import AccountStoreTesting
import ErrorContract
import Foundation
import Testing

@testable import SQLiteStores

@Suite struct CorruptRowTests {
    @Test(
        "A corrupt account row is an error, not a crash",
        arguments: [
            "email = 'no address'", "email = ''", "first_name = ''", "first_name = char(7)", "id = 'no id'",
            "first_name = '\(String(repeating: "x", count: 10_000))'",
        ]
    )
    func account(_ damage: String) async throws {
        try await withStores { stores in
            try await stores.addAccount()
            try await stores.execute("UPDATE account SET \(damage)")
            let error = CorruptRow(table: "account")
            await #expect(throws: error) { try await stores.accounts.accounts() }
            await #expect(throws: error) {
                try await stores.accounts.account(email: try EmailAddress("ana@example.com"))
            }
        }
    }

    @Test("A token of a corrupt account is an error, not a crash")
    func tokenOfCorruptAccount() async throws {
        try await withStores { stores in
            let account = try await stores.addAccount()
            let token = try await stores.mint(for: account)
            try await stores.execute("UPDATE account SET email = 'no address'")
            await #expect(throws: CorruptRow(table: "account")) { try await stores.isLive(token) }
        }
    }

    @Test("A corrupt session is an error, not a crash")
    func session() async throws {
        try await withSession { stores, opened in
            try await stores.execute(
                "PRAGMA defer_foreign_keys = ON; UPDATE session SET id = 'no id'; "
                    + "UPDATE refresh_token SET session_id = 'no id'"
            )
            await #expect(throws: CorruptRow(table: "session")) { try await opened.use(opened.first, after: 1) }
        }
    }

    @Test(
        "A corrupt intent is an error, not a crash",
        arguments: [
            "email = 'no address'", "email = NULL", "id = 'no id'", "kind = 'spam'", "kind = 'registration', text = NULL",
            "kind = 'password_changed', email = NULL, account_id = 'no id'",
        ]
    )
    func intent(_ damage: String) async throws {
        try await withStores { stores in
            try await stores.intents.enqueue(try makeIntent(0))
            try await stores.execute("UPDATE mail_intent SET \(damage)")
            await #expect(throws: CorruptRow(table: "mail_intent")) {
                try await stores.intents.claim(limit: 10, at: .after(1), leaseEnd: .after(100))
            }
            #expect(try await stores.intents.count() == 1, "it is kept, for somebody to look at")
        }
    }

    @Test("A corrupt intent does not block the sending of others", arguments: [1, 10])
    func intentAmongOthers(limit: Int) async throws {
        try await withStores { stores in
            let intents = [try makeIntent(0), try makeIntent(1), try makeIntent(2)]
            for intent in intents { try await stores.intents.enqueue(intent) }
            try await stores.execute("UPDATE mail_intent SET email = 'no address' WHERE email LIKE 'ana0%'")
            var taken: [MailIntent] = []
            for _ in 0..<4 {
                let batch = try? await stores.intents.claim(limit: limit, at: .after(9), leaseEnd: .after(100))
                taken += batch ?? []
            }
            #expect(taken == Array(intents.dropFirst()))
        }
    }

    @Test(
        "The tables' constraints refuse invalid rows",
        arguments: [
            "UPDATE account SET state = 'gone'", "UPDATE account SET email = NULL", "UPDATE account SET epoch = 'many'",
            "UPDATE account SET created_at = 'yesterday'", "UPDATE account SET is_verified = 2",
            "UPDATE mail_intent SET state = 'spam'",
        ]
    )
    func constraints(_ sql: String) async throws {
        try await withStores { stores in
            try await stores.addAccount()
            try await stores.intents.enqueue(try makeIntent(0))
            await #expect(throws: (any Error).self) { try await stores.execute(sql) }
        }
    }

    private func makeIntent(_ number: Int) throws -> MailIntent {
        MailIntent(
            subject: .passwordReset(try EmailAddress("ana\(number)@example.com")),
            language: .english,
            createdAt: .after(TimeInterval(number))
        )
    }
}
