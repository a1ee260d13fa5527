import AccountCore
import Foundation
import Testing

@testable import SQLiteStores

@Suite struct RefreshRotationTests {
    private static let day: TimeInterval = 86_400

    @Test("A token gives the next one, over and over")
    func chain() async throws {
        try await withSession { opened in
            var token = opened.first
            for step in 1...20 {
                let (outcome, next) = try await opened.use(token, after: TimeInterval(step) * 100)
                #expect(outcome == .rotated(opened.session))
                token = next
            }
            #expect(try await opened.isAlive)
        }
    }

    @Test("An unknown token is refused and harms nobody")
    func unknown() async throws {
        try await withSession { opened async throws in
            #expect(try await opened.use(SecretToken().digest, after: 1).outcome == .refused)
            #expect(try await opened.isAlive)
            #expect(try await opened.use(opened.first, after: 2).outcome == .rotated(opened.session))
        }
    }

    @Test("A token used a second time after 10 s ends its session", arguments: [(10.0, true), (10.5, false), (86_400, false)])
    func reuse(_ later: TimeInterval, isRepeat: Bool) async throws {
        try await withSession { opened in
            let next = try await opened.use(opened.first, after: 100).next
            let again = try await opened.use(opened.first, after: 100 + later).outcome
            #expect(again == (isRepeat ? .rotated(opened.session) : .reused(opened.session)))
            #expect(try await opened.isAlive == isRepeat)
            let afterwards = try await opened.use(next, after: 100 + later).outcome
            #expect(afterwards == (isRepeat ? .rotated(opened.session) : .refused))
        }
    }

    @Test("A repeat within 10 s mints a sibling, and either of the two may be used", arguments: [0, 1])
    func sibling(_ used: Int) async throws {
        try await withSession { opened in
            let lost = try await opened.use(opened.first, after: 100).next
            let (outcome, sibling) = try await opened.use(opened.first, after: 105)
            #expect(outcome == .rotated(opened.session))
            #expect(try await opened.use([lost, sibling][used], after: 200).outcome == .rotated(opened.session))
            #expect(try await opened.isAlive)
        }
    }

    @Test("Using one sibling kills the other, and using the killed one ends the session", arguments: [0, 1])
    func killedSibling(_ used: Int) async throws {
        try await withSession { opened in
            let siblings = [
                try await opened.use(opened.first, after: 100).next, try await opened.use(opened.first, after: 105).next,
            ]
            let successor = try await opened.use(siblings[used], after: 106).next
            #expect(try await opened.isAlive)
            #expect(try await opened.use(siblings[1 - used], after: 107).outcome == .reused(opened.session))
            #expect(try await !opened.isAlive)
            #expect(try await opened.use(successor, after: 108).outcome == .refused)
        }
    }

    @Test("Of many siblings one use kills all the others")
    func manySiblings() async throws {
        for killed in 0..<4 {
            try await withSession { opened in
                var siblings: [TokenDigest] = []
                for _ in 0..<5 { siblings.append(try await opened.use(opened.first, after: 100).next) }
                #expect(try await opened.use(siblings[4], after: 101).outcome == .rotated(opened.session))
                #expect(try await opened.use(siblings[killed], after: 102).outcome == .reused(opened.session))
                #expect(try await !opened.isAlive)
            }
        }
    }

    @Test("Once a successor was used, even an early repeat ends the session")
    func repeatAfterSuccessor() async throws {
        try await withSession { opened in
            let second = try await opened.use(opened.first, after: 100).next
            let third = try await opened.use(second, after: 102).next
            #expect(try await opened.use(opened.first, after: 103).outcome == .reused(opened.session))
            #expect(try await opened.use(third, after: 104).outcome == .refused)
        }
    }

    @Test("The window of a repeat begins with the first use, not with the last repeat")
    func slidingWindow() async throws {
        try await withSession { opened async throws in
            for seconds in [100.0, 104, 108] {
                #expect(try await opened.use(opened.first, after: seconds).outcome == .rotated(opened.session))
            }
            #expect(try await opened.use(opened.first, after: 111).outcome == .reused(opened.session))
            #expect(try await !opened.isAlive)
        }
    }

    @Test("A session that was idle for more than 30 days has expired", arguments: [(30.0, true), (30.001, false), (365, false)])
    func idle(days: Double, goesOn: Bool) async throws {
        try await withSession { opened in
            let (outcome, next) = try await opened.use(opened.first, after: days * Self.day)
            #expect(outcome == (goesOn ? .rotated(opened.session) : .expired))
            #expect(try await opened.isAlive == goesOn)
            let again = try await opened.use(goesOn ? next : opened.first, after: days * Self.day + 1).outcome
            #expect(again == (goesOn ? .rotated(opened.session) : .refused))
        }
    }

    @Test("However often it is refreshed, a session has expired after 90 days")
    func absolute() async throws {
        try await withSession { opened in
            var token = opened.first
            for day in [29.0, 58, 87, 90] {
                let (outcome, next) = try await opened.use(token, after: day * Self.day)
                #expect(outcome == .rotated(opened.session))
                token = next
            }
            #expect(try await opened.use(token, after: 90 * Self.day + 1).outcome == .expired)
            #expect(try await !opened.isAlive)
        }
    }

    @Test("The sessions of other devices go on when one ends")
    func otherDevices() async throws {
        try await withStores { stores in
            let account = try await stores.addAccount()
            let phone = try await OpenedSession(stores, account: account)
            let tablet = try await OpenedSession(stores, account: account)
            _ = try await phone.use(phone.first, after: 1)
            #expect(try await phone.use(phone.first, after: 100).outcome == .reused(phone.session))
            #expect(try await tablet.isAlive)
            #expect(try await tablet.use(tablet.first, after: 101).outcome == .rotated(tablet.session))
        }
    }

    @Test("Concurrent uses of one token are repeats of one another: of what they get, one can be used")
    func concurrentUses() async throws {
        try await withSession { opened in
            let other = try opened.stores.reopened()
            let (sessions, rules, first) = (opened.stores.sessions, opened.rules, opened.first)
            let results = try await concurrently(20) { number in
                let next = SecretToken().digest
                let store = number.isMultiple(of: 2) ? sessions : other.sessions
                return (try await store.rotate(first, to: next, at: .after(100), rules: rules), next)
            }
            #expect(results.allSatisfy { $0.0 == .rotated(opened.session) })
            #expect(try await opened.use(results[0].1, after: 101).outcome == .rotated(opened.session))
            #expect(try await opened.use(results[1].1, after: 102).outcome == .reused(opened.session))
            #expect(try await !opened.isAlive)
            try other.database.close()
        }
    }
}
