import AccountCore
import AccountStoreTesting
import Foundation
import Testing

@testable import SQLiteStores

@Suite struct SQLiteSessionTests {
    @Test("Removes all tokens of an ended session")
    func end() async throws {
        try await withSession { stores, opened in
            #expect(try await opened.isAlive)
            try await opened.stores.sessions.end(refresh: opened.first)
            #expect(try await !opened.isAlive)
            #expect(try await opened.use(opened.first, after: 1).outcome == .refused)
            #expect(try await stores.number("SELECT COUNT(*) FROM refresh_token") == 0)
            try await opened.stores.sessions.end(refresh: opened.first)
        }
    }

    @Test("A sweep removes the tokens of the sessions that it removes")
    func sweep() async throws {
        try await withStores { stores in
            let account = try await stores.addAccount()
            let old = try await OpenedSession(stores, account: account)
            let refreshed = try await OpenedSession(stores, account: account)
            let day: TimeInterval = 86_400
            let next = try await refreshed.use(refreshed.first, after: 20 * day).next
            try await stores.sessions.sweep(at: .after(37 * day), rules: old.rules)
            #expect(try await old.isAlive, "expired for exactly a week")
            try await stores.sessions.sweep(at: .after(37 * day + 1), rules: old.rules)
            #expect(try await !old.isAlive)
            #expect(try await refreshed.isAlive)
            #expect(try await refreshed.use(next, after: 38 * day).outcome == .rotated(refreshed.session))
            #expect(try await stores.number("SELECT COUNT(*) FROM refresh_token") == 3, "no token is left of the old one")
        }
    }

    @Test("A sweep is bounded to 500 sessions at a time")
    func boundedSweep() async throws {
        try await withStores { stores in
            let account = try await stores.addAccount()
            try await stores.execute(
                """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 700)
                INSERT INTO session (id, account_id, created_at, refreshed_at) SELECT 's' || i, '\(account.id)', 0, 0 FROM n
                """
            )
            try await stores.sessions.sweep(at: .after(0), rules: SessionRules())
            #expect(try await stores.number("SELECT COUNT(*) FROM session") == 200)
            try await stores.sessions.sweep(at: .after(0), rules: SessionRules())
            #expect(try await stores.number("SELECT COUNT(*) FROM session") == 0)
        }
    }

    @Test("Removes tokens used longer ago than the idle time; the session stays valid")
    func forgottenTokens() async throws {
        try await withSession { stores, opened in
            let day: TimeInterval = 86_400
            var token = opened.first
            for days in 1...40 {
                let lost = try await opened.use(token, after: TimeInterval(days) * day).next
                let sibling = try await opened.use(token, after: TimeInterval(days) * day + 1).next
                #expect(lost != sibling)
                token = sibling
            }
            try await opened.stores.sessions.sweep(at: .after(40 * day), rules: opened.rules)
            // The tokens used on days 10 to 40, those that a sibling's use ended on days 11 to 40, and the last two.
            #expect(try await stores.number("SELECT COUNT(*) FROM refresh_token") == 31 + 30 + 2)
            #expect(try await opened.use(opened.first, after: 40 * day + 2).outcome == .refused)
            #expect(try await opened.isAlive)
            #expect(try await opened.use(token, after: 40 * day + 3).outcome == .rotated(opened.session))
        }
    }
}
