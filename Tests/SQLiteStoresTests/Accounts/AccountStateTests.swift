import AccountContract
import AccountCore
import Foundation
import Testing

@testable import SQLiteStores

@Suite struct AccountStateTests {
    @Test(
        "Out of use an account's sessions and links are gone, and its epoch has risen; others keep theirs",
        arguments: [
            Account.State.suspended, .inactive,
        ]
    )
    func outOfUse(_ state: Account.State) async throws {
        try await withStores { stores in
            let (ana, ben) = (try await stores.addAccount(), try await stores.addAccount("ben@example.com"))
            var tokens: [TokenDigest] = []
            for account in [ana, ben] {
                tokens.append(try await stores.mint(for: account))
                let session = Session(id: Session.ID(rawValue: UUID()), accountID: account.id, createdAt: .after(0))
                #expect(try await stores.sessions.open(session, refresh: SecretToken().digest, epoch: 0))
            }
            #expect(try await stores.accounts.setState(state, of: ana.id))
            #expect(try await stores.accounts.account(id: ana.id)?.state == state)
            #expect(try await stores.accounts.account(id: ana.id)?.epoch == 1)
            #expect(try await stores.number("SELECT COUNT(*) FROM session") == 1)
            #expect(try await stores.accounts.setState(.active, of: ana.id))
            #expect(try await !stores.isLive(tokens[0]))
            #expect(try await stores.isLive(tokens[1]))
            #expect(try await stores.accounts.account(id: ana.id)?.epoch == 2)
            #expect(try await stores.accounts.account(id: ben.id)?.epoch == 0)
        }
    }

    @Test("Setting the state that it has changes nothing, and of an unknown account it is told")
    func same() async throws {
        try await withStores { stores in
            let account = try await stores.addAccount()
            #expect(try await stores.accounts.setState(.active, of: account.id))
            #expect(try await stores.accounts.account(id: account.id) == account)
            #expect(try await !stores.accounts.setState(.active, of: Account.ID(rawValue: UUID())))
        }
    }

    @Test("Of many accounts added at once those with taken addresses are passed over; hashes of other systems are counted")
    func many() async throws {
        try await withStores { stores in
            try await stores.addAccount()
            var some = try ["ana@example.com", "ben@example.com", "BEN@example.com", "cleo@example.com", "dora@example.com"].map {
                try Account.sample($0)
            }
            some[1].passwordHash = "$argon2id$v=19$m=19456,t=2,p=1$AAAA$AAAA"
            some[3].passwordHash = "older hash"
            some[4].passwordHash = Account.unusablePassword
            #expect(try await stores.accounts.insert(contentsOf: some) == [some[1].id, some[3].id, some[4].id])
            let (counts, total) = try await stores.accounts.countForeignHashes { $0.hasPrefix("old") ? "old" : nil }
            #expect(counts == ["old": 2])
            #expect(total == 4)
        }
    }

    @Test("Links of a database from before the address was kept go on to work")
    func migration() async throws {
        try await withStores { stores in
            let token = try await stores.mint(for: try await stores.addAccount())
            try await stores.execute("ALTER TABLE reset_token DROP COLUMN email_key")
            try await stores.execute("DELETE FROM grdb_migrations WHERE identifier LIKE 'reset tokens belong%'")
            #expect(try await stores.reopened().isLive(token))
        }
    }
}
