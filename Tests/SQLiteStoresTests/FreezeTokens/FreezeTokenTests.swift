import AccountCore
import ErrorContract
import Foundation
import Testing

@testable import SQLiteStores

@Suite struct FreezeTokenTests {
    @Test("A live token freezes its account once: sessions end, the epoch rises, and a reset puts it back into use")
    func freeze() async throws {
        try await withStores { stores in
            let account = try await stores.addAccount()
            let session = try await OpenedSession(stores, account: account)
            let digest = TokenDigest(of: "freeze")
            let now = TemporaryStores.start
            try await stores.freezeTokens.insert(digest, account: account.id, expiresAt: now.addingTimeInterval(60))
            #expect(try await stores.freezeTokens.find(digest, at: now)?.id == account.id)
            #expect(try await session.isAlive)
            #expect(try await stores.freezeTokens.freeze(digest, at: now))
            let frozen = try #require(try await stores.accounts.account(id: account.id))
            #expect(frozen.state == .frozen)
            #expect(frozen.epoch == account.epoch + 1)
            #expect(try await !session.isAlive)
            #expect(try await stores.freezeTokens.find(digest, at: now) == nil)
            #expect(try await !stores.freezeTokens.freeze(digest, at: now))

            let reset = TokenDigest(of: "reset")
            let token = StoredResetToken(
                digest: reset,
                accountID: account.id,
                recipient: account.email,
                createdAt: now,
                expiresAt: now.addingTimeInterval(60)
            )
            try await stores.tokens.insert(token, liveLimit: 3)
            let confirmation = MailIntent(subject: .passwordChanged(account.id), language: .english, createdAt: now)
            #expect(try await stores.tokens.confirm(reset, passwordHash: "new", confirmation: confirmation, at: now))
            #expect(try await stores.accounts.account(id: account.id)?.state == .active)
        }
    }

    @Test("A link that was live when its account was frozen is dead: it may be the stranger's. Only a new one recovers")
    func endsLinks() async throws {
        try await withStores { stores in
            let (ana, bob) = (try await stores.addAccount(), try await stores.addAccount("bob@example.com"))
            let now = TemporaryStores.start
            let links = [(TokenDigest(of: "of ana"), ana), (TokenDigest(of: "of bob"), bob)]
            for (digest, account) in links {
                let token = StoredResetToken(
                    digest: digest,
                    accountID: account.id,
                    recipient: account.email,
                    createdAt: now,
                    expiresAt: now.addingTimeInterval(60)
                )
                try await stores.tokens.insert(token, liveLimit: 3)
            }
            let digest = TokenDigest(of: "freeze")
            try await stores.freezeTokens.insert(digest, account: ana.id, expiresAt: now.addingTimeInterval(60))
            #expect(try await stores.freezeTokens.freeze(digest, at: now))
            #expect(try await stores.tokens.find(links[0].0, at: now) == nil)
            let confirmation = MailIntent(subject: .passwordChanged(ana.id), language: .english, createdAt: now)
            #expect(try await !stores.tokens.confirm(links[0].0, passwordHash: "x", confirmation: confirmation, at: now))
            #expect(try await stores.accounts.account(id: ana.id)?.state == .frozen)
            #expect(try await stores.tokens.find(links[1].0, at: now)?.account.id == bob.id)
        }
    }

    @Test("An expired token, an unknown one, and one of a suspended account freeze nothing")
    func dead() async throws {
        try await withStores { stores in
            let now = TemporaryStores.start
            let account = try await stores.addAccount()
            let suspended = try await stores.addAccount("eve@example.com", state: .suspended)
            let (expired, foreign) = (TokenDigest(of: "expired"), TokenDigest(of: "foreign"))
            try await stores.freezeTokens.insert(expired, account: account.id, expiresAt: now)
            try await stores.freezeTokens.insert(foreign, account: suspended.id, expiresAt: now.addingTimeInterval(60))
            for digest in [expired, foreign, TokenDigest(of: "unknown")] {
                #expect(try await stores.freezeTokens.find(digest, at: now) == nil)
                #expect(try await !stores.freezeTokens.freeze(digest, at: now))
            }
            #expect(try await stores.accounts.account(id: account.id)?.state == .active)
            try await stores.freezeTokens.sweep(at: now.addingTimeInterval(1))
            #expect(try await stores.number("SELECT COUNT(*) FROM freeze_token") == 1)
        }
    }
}
