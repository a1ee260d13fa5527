import AccountContract
import AccountCore
import ErrorContract
import Foundation
import Testing

@testable import SQLiteStores

@Suite struct AccountRepositoryTests {
    @Test("An account is read back as it was, by address in any case and by id", arguments: Account.State.allCases)
    func roundTrip(state: Account.State) async throws {
        try await withStores { stores in
            var account = try Account.sample("Ana.Test+x@Exämple.com", state: state, language: Language("es-MX"))
            account.epoch = 7
            account.firstName = try FirstName(stored: "Ana 🐦 O'Brien\";--")
            account.passwordHash = "$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA"
            #expect(try await stores.accounts.insert(account))
            for found in [
                try await stores.accounts.account(id: account.id),
                try await stores.accounts.account(email: try EmailAddress("ana.test+X@EXÄMPLE.com")),
            ] {
                #expect(found == account)
                #expect(found?.email.text == "Ana.Test+x@xn--exmple-cua.com", "mail goes to the address as it was typed")
            }
        }
    }

    @Test("Nobody is found by another address or id")
    func unknown() async throws {
        try await withStores { stores in
            try await stores.addAccount()
            #expect(try await stores.accounts.account(email: try EmailAddress("ana@example.org")) == nil)
            #expect(try await stores.accounts.account(id: .init(rawValue: UUID())) == nil)
        }
    }

    @Test(
        "A taken address is not given twice, in whatever case it is written",
        arguments: ["ana@example.com", "ANA@Example.COM"]
    )
    func takenAddress(_ email: String) async throws {
        try await withStores { stores in
            let first = try await stores.addAccount("Ana@example.com")
            #expect(try await !stores.accounts.insert(try .sample(email)))
            #expect(try await stores.accounts.accounts() == [first])
        }
    }

    @Test("An id is not given twice")
    func takenID() async throws {
        try await withStores { stores in
            let first = try await stores.addAccount()
            let second = Account(
                id: first.id,
                email: try EmailAddress("bob@example.com"),
                firstName: first.firstName,
                passwordHash: "hash",
                language: .english,
                createdAt: .after(0)
            )
            await #expect(throws: (any Error).self) { try await stores.accounts.insert(second) }
            #expect(try await stores.accounts.accounts() == [first])
        }
    }

    @Test("Of fifty concurrent inserts of one address exactly one succeeds, also over two connections")
    func concurrentInserts() async throws {
        try await withStores { stores in
            let other = try stores.reopened()
            let results = try await concurrently(50) { number in
                let email = number.isMultiple(of: 2) ? "ana@example.com" : "ANA@example.com"
                return try await (number.isMultiple(of: 3) ? other : stores).accounts.insert(try .sample(email))
            }
            #expect(results.count { $0 } == 1)
            #expect(try await stores.accounts.accounts().count == 1)
            try other.database.close()
        }
    }

    @Test("Accounts are listed oldest first")
    func listing() async throws {
        try await withStores { stores in
            for seconds in [3.0, 1, 2] {
                var account = try Account.sample("a\(Int(seconds))@example.com")
                account.createdAt = .after(seconds)
                _ = try await stores.accounts.insert(account)
            }
            let emails = try await stores.accounts.accounts().map(\.email.text)
            #expect(emails == ["a1@example.com", "a2@example.com", "a3@example.com"])
        }
    }

    @Test("A hash is renewed unless the password has changed meanwhile")
    func rehash() async throws {
        try await withStores { stores in
            let account = try await stores.addAccount()
            let other = try await stores.addAccount("bob@example.com")
            try await stores.accounts.rehash(account.id, from: "another hash", to: "new hash")
            #expect(try await stores.accounts.account(id: account.id)?.passwordHash == "old hash")
            try await stores.accounts.rehash(account.id, from: "old hash", to: "new hash")
            #expect(try await stores.accounts.account(id: account.id)?.passwordHash == "new hash")
            #expect(try await stores.accounts.account(id: account.id)?.epoch == 0, "nobody is signed out by it")
            #expect(try await stores.accounts.account(id: other.id) == other)
        }
    }
}
