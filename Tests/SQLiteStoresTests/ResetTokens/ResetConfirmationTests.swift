import AccountContract
import AccountCore
import ErrorContract
import Foundation
import GRDB
import Testing

@testable import SQLiteStores

@Suite struct ResetConfirmationTests {
    @Test("A token works once, and confirming sets the password and raises the epoch")
    func once() async throws {
        try await withStores { stores in
            let account = try await stores.addAccount()
            let other = try await stores.addAccount("bob@example.com")
            let token = try await stores.mint(for: account)
            #expect(try await stores.confirm(token, of: account))
            var expected = account
            expected.passwordHash = "new hash"
            expected.epoch = 1
            #expect(try await stores.accounts.account(id: account.id) == expected)
            #expect(try await stores.accounts.account(id: other.id) == other)
            #expect(try await !stores.isLive(token))
            #expect(try await !stores.confirm(token, of: account, after: 2))
            #expect(try await stores.accounts.account(id: account.id)?.epoch == 1)
            #expect(try await stores.intents.count() == 1)
        }
    }

    @Test("Confirming kills the account's other tokens and sessions, and nobody else's")
    func siblingsAndSessions() async throws {
        try await withStores { stores in
            let account = try await stores.addAccount()
            let other = try await stores.addAccount("bob@example.com")
            let tokens = [try await stores.mint(for: account), try await stores.mint(for: account)]
            let foreign = try await stores.mint(for: other)
            let sessions = [
                try await OpenedSession(stores, account: account), try await OpenedSession(stores, account: account),
            ]
            let foreignSession = try await OpenedSession(stores, account: other)
            #expect(try await stores.confirm(tokens[0], of: account))
            for token in tokens { #expect(try await !stores.isLive(token)) }
            for session in sessions {
                #expect(try await !session.isAlive)
                #expect(try await session.use(session.first, after: 2).outcome == .refused)
            }
            #expect(try await stores.isLive(foreign))
            #expect(try await foreignSession.isAlive)
        }
    }

    @Test("Confirming adds the one intent of the confirmation mail, due at once")
    func confirmationIntent() async throws {
        try await withStores { stores in
            let account = try await stores.addAccount(language: .spanish)
            let token = try await stores.mint(for: account)
            let id = UUID()
            #expect(try await stores.confirm(token, of: account, after: 7, intentID: id))
            let intents = try await stores.intents.claim(limit: 10, at: .after(7), leaseEnd: .after(100))
            let expected = MailIntent(
                id: id,
                subject: .passwordChanged(account.id),
                language: .spanish,
                createdAt: .after(7)
            )
            #expect(intents == [expected])
        }
    }

    @Test("When the intent can't be added nothing has happened")
    func allOrNothing() async throws {
        try await withStores { stores in
            let account = try await stores.addAccount()
            let tokens = [try await stores.mint(for: account), try await stores.mint(for: account)]
            let session = try await OpenedSession(stores, account: account)
            let id = UUID()
            try await stores.intents.enqueue(
                MailIntent(id: id, subject: .passwordChanged(account.id), language: .english, createdAt: .after(1))
            )
            await #expect(throws: StoreFailure.self) {
                try await stores.confirm(tokens[0], of: account, after: 1, intentID: id)
            }
            #expect(try await stores.accounts.account(id: account.id) == account)
            for token in tokens { #expect(try await stores.isLive(token)) }
            #expect(try await session.isAlive)
            #expect(try await stores.intents.count() == 1)
            #expect(try await stores.confirm(tokens[0], of: account), "the token still works")
        }
    }

    @Test("Of fifty concurrent confirms of one token over two connections exactly one wins, in each of twenty rounds")
    func concurrent() async throws {
        try await withStores { stores in
            let other = try stores.reopened()
            for round in 1...20 {
                let account = try await stores.addAccount("ana\(round)@example.com")
                let token = try await stores.mint(for: account)
                let results = try await concurrently(50) { number in
                    try await (number.isMultiple(of: 2) ? stores : other).confirm(token, of: account)
                }
                #expect(results.count { $0 } == 1)
                #expect(try await stores.accounts.account(id: account.id)?.epoch == 1)
                #expect(try await stores.intents.count() == round)
            }
            try other.database.close()
        }
    }

    @Test("Of an account's tokens confirmed at the same time one wins as well")
    func concurrentSiblings() async throws {
        try await withStores { stores in
            let account = try await stores.addAccount()
            var tokens: [TokenDigest] = []
            for _ in 0..<3 { tokens.append(try await stores.mint(for: account)) }
            let siblings = tokens
            let results = try await concurrently(30) { try await stores.confirm(siblings[$0 % 3], of: account) }
            #expect(results.count { $0 } == 1)
            #expect(try await stores.intents.count() == 1)
        }
    }
}
