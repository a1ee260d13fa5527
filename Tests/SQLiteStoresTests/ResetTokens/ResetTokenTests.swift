import AccountContract
import AccountCore
import ErrorContract
import Foundation
import Testing

@testable import SQLiteStores

@Suite struct ResetTokenTests {
    @Test("A live token is found with its account, as often as one looks")
    func find() async throws {
        try await withStores { stores in
            let account = try await stores.addAccount("Ana@example.com")
            let token = try await stores.mint(for: account, after: 5)
            for _ in 0..<3 {
                let found = try #require(try await stores.tokens.find(token, at: .after(10)))
                #expect(found.account == account)
                #expect(found.token.digest == token && found.token.accountID == account.id)
                #expect(found.token.createdAt == .after(5) && found.token.expiresAt == .after(3_605))
            }
        }
    }

    @Test("A token lives until the second in which it expires", arguments: [(3_599.9, true), (3_600, false), (1e9, false)])
    func expiry(after seconds: TimeInterval, isLive: Bool) async throws {
        try await withStores { stores in
            let account = try await stores.addAccount()
            let token = try await stores.mint(for: account)
            #expect(try await stores.isLive(token, after: seconds) == isLive)
            #expect(try await stores.confirm(token, of: account, after: seconds) == isLive)
        }
    }

    @Test("An unknown token is nobody's")
    func unknown() async throws {
        try await withStores { stores in
            let account = try await stores.addAccount()
            _ = try await stores.mint(for: account)
            #expect(try await !stores.isLive(SecretToken().digest))
            #expect(try await !stores.confirm(SecretToken().digest, of: account))
            #expect(try await stores.accounts.account(id: account.id) == account)
            #expect(try await stores.intents.count() == 0)
        }
    }

    @Test("An account out of use can't be recovered", arguments: [Account.State.suspended, .inactive])
    func outOfUse(_ state: Account.State) async throws {
        try await withStores { stores in
            let account = try await stores.addAccount()
            let token = try await stores.mint(for: account)
            try await stores.execute("UPDATE account SET state = '\(state.rawValue)'")
            #expect(try await !stores.isLive(token))
            #expect(try await !stores.confirm(token, of: account))
            #expect(try await stores.number("SELECT COUNT(*) FROM account WHERE password_hash = 'old hash'") == 1)
            #expect(try await stores.intents.count() == 0)
            try await stores.execute("UPDATE account SET state = 'active'")
            #expect(try await stores.confirm(token, of: account), "the token was not consumed by the attempts")
        }
    }

    @Test("Of an account's live tokens the newest stay", arguments: [1, 2, 3])
    func liveLimit(_ limit: Int) async throws {
        try await withStores { stores in
            let account = try await stores.addAccount()
            let other = try await stores.addAccount("bob@example.com")
            let others = try await stores.mint(for: other, liveLimit: limit)
            var tokens: [TokenDigest] = []
            for number in 0..<5 {
                tokens.append(try await stores.mint(for: account, after: TimeInterval(number), liveLimit: limit))
            }
            for (index, token) in tokens.enumerated() {
                #expect(try await stores.isLive(token, after: 10) == (index >= 5 - limit))
            }
            #expect(try await stores.isLive(others, after: 10), "another account's are not counted")
        }
    }

    @Test("A link that was delivered is not ended by one that is on its way and may never arrive")
    func prunedByWhatArrived() async throws {
        try await withStores { stores in
            let account = try await stores.addAccount()
            let tokens = (0..<3).map { number in
                StoredResetToken(
                    digest: SecretToken().digest,
                    accountID: account.id,
                    recipient: account.email,
                    createdAt: .after(TimeInterval(number)),
                    expiresAt: .after(3_600)
                )
            }
            for token in tokens { try await stores.tokens.insert(token, liveLimit: .max) }
            try await stores.tokens.prune(olderThan: tokens[1], liveLimit: 1)
            #expect(try await !stores.isLive(tokens[0].digest, after: 10))
            #expect(try await stores.isLive(tokens[1].digest, after: 10))
            try await stores.tokens.discard(tokens[2].digest)
            #expect(try await stores.isLive(tokens[1].digest, after: 10))
        }
    }

    @Test("Of tokens minted at one instant the last one stays")
    func liveLimitAtOneInstant() async throws {
        try await withStores { stores in
            let account = try await stores.addAccount()
            for _ in 0..<20 {
                let token = try await stores.mint(for: account, liveLimit: 1)
                #expect(try await stores.isLive(token))
                #expect(try await stores.number("SELECT COUNT(*) FROM reset_token") == 1)
            }
        }
    }

    @Test("A sweep removes what has expired, and nothing else")
    func sweep() async throws {
        try await withStores { stores in
            let account = try await stores.addAccount()
            let old = try await stores.mint(for: account)
            let young = try await stores.mint(for: account, after: 100)
            try await stores.tokens.sweep(at: .after(3_600))
            #expect(try await stores.number("SELECT COUNT(*) FROM reset_token") == 2)
            try await stores.tokens.sweep(at: .after(3_601))
            #expect(try await stores.number("SELECT COUNT(*) FROM reset_token") == 1)
            #expect(try await stores.isLive(young, after: 3_601))
            #expect(try await !stores.isLive(old, after: 1))
        }
    }
}
