import AccountContract
import AccountCore
import Email
import ErrorContract
import Foundation
import RateLimiting
import Synchronization
import Testing

@testable import SQLiteStores

/// Whose turn it is in the email queue, and how many reset emails are sent.
@Suite(.timeLimit(.minutes(1))) struct MailTurnTests {
    private func intent(_ network: String?, _ number: Int, after seconds: TimeInterval = 0) throws -> MailIntent {
        MailIntent(
            subject: .passwordReset(try EmailAddress("a\(number)@example.com")),
            language: .english,
            createdAt: .after(seconds + Double(number) / 1_024),
            origin: AuditOrigin(client: network, requestID: nil)
        )
    }

    @Test("Takes reset requests in turn by network, the oldest of each")
    func turns() async throws {
        try await withStores { stores in
            let queue = stores.intents
            for number in 0..<50 { try await queue.enqueue(try intent("192.0.2.0/24", number)) }
            var networks: [String?] = []
            func take() async throws {
                networks += try await queue.claim(limit: 1, at: .after(1), leaseEnd: .after(100)).map(\.origin.client)
            }
            try await take()
            try await queue.enqueue(try intent("198.51.100.0/24", 60))
            try await queue.enqueue(try intent(nil, 61))
            for _ in 0..<4 { try await take() }
            #expect(networks == ["192.0.2.0/24", "198.51.100.0/24", nil, "192.0.2.0/24", "192.0.2.0/24"])
        }
    }

    @Test("Takes a returned intent next")
    func returned() async throws {
        try await withStores { stores in
            let queue = stores.intents
            let intents = try (0..<3).map { try intent("10.0.\($0).0/24", $0) }
            for intent in intents { try await queue.enqueue(intent) }
            let first = try await queue.claim(limit: 1, at: .after(1), leaseEnd: .after(100))
            #expect(first == [intents[0]])
            try await queue.release(intents[0], leaseEnd: .after(99), at: .after(1))
            #expect(try await queue.claim(limit: 1, at: .after(1), leaseEnd: .after(100)) == [intents[1]], "another's lease")
            try await queue.release(intents[0], leaseEnd: .after(100), at: .after(1))
            #expect(try await queue.claim(limit: 2, at: .after(1), leaseEnd: .after(100)) == [intents[0], intents[2]])
        }
    }

    @Test("Alternates new and due intents, and takes only confirmations during a pause")
    func alternation() async throws {
        try await withStores { stores in
            let queue = stores.intents
            let new = try (0..<2).map { try intent("10.0.0.0/24", $0) }
            let confirmations = (0..<2).map {
                MailIntent(subject: .passwordChanged(.init(rawValue: UUID())), language: .english, createdAt: .after(Double($0)))
            }
            for intent in new + confirmations { try await queue.enqueue(intent) }
            let paused = try await queue.claim(limit: 1, at: .after(5), leaseEnd: .after(100), includesResets: false)
            #expect(paused == [confirmations[0]])
            let all = try await queue.claim(limit: 9, at: .after(5), leaseEnd: .after(100))
            #expect(all == [confirmations[1], new[0], new[1]] || all == [new[0], confirmations[1], new[1]])
            #expect(try await queue.claim(limit: 1, at: .after(5), leaseEnd: .after(100), includesResets: false) == [])
        }
    }

    @Test("A request from a clock that was ahead is due at once")
    func aheadOfTime() async throws {
        try await withStores { stores in
            let intent = try intent(nil, 0, after: 3 * 3_600)
            try await stores.intents.enqueue(intent)
            #expect(try await stores.intents.claim(limit: 1, at: .after(0), leaseEnd: .after(100)) == [intent])
        }
    }

    @Test("Sends three reset emails an hour to an account, and ends the other intents")
    func perAccount() async throws {
        try await withPostOffice { office in
            try await office.stores.addAccount()
            let bounds = ResetMailBounds(perAccount: .requests(3, per: .seconds(3_600)))
            let quota = ResetMailQuota(SQLiteSentResetStore(office.stores.database)) { bounds }
            let audit = NotedEvents()
            let worker = try office.worker(quota: quota, audit: audit)
            func bomb(_ count: Int) async throws {
                for _ in 0..<count { try await office.request("Ana@example.com") }
                while try await worker.processDue() > 0 {}
                #expect(try await office.stores.intents.count() == 0)
            }
            try await bomb(100)
            #expect(try office.mailCount == 3)
            #expect(audit.count(.resetLinkLimited) == 97)
            office.clock.advance(by: 3_599)
            try await bomb(10)
            #expect(try office.mailCount == 3)
            office.clock.advance(by: 1)
            try await bomb(10)
            #expect(try office.mailCount == 6)
        }
    }

    @Test("Counts the tries of one email once, and an email that surely failed not at all")
    func tries() async throws {
        try await withStores { stores in
            let account = try await stores.addAccount()
            let store = SQLiteSentResetStore(stores.database)
            let bounds = ResetMailBounds(perAccount: .requests(2, per: .seconds(60)))
            let ids = (0..<3).map { _ in UUID() }
            func reserve(_ number: Int, after seconds: TimeInterval) async throws -> ResetMailDecision {
                try await store.reserve(ids[number], for: account.id, within: bounds, at: .after(seconds))
            }
            for _ in 0..<5 { #expect(try await reserve(0, after: 0) == .reserved) }
            #expect(try await reserve(1, after: 1) == .reserved)
            #expect(try await reserve(2, after: 2) == .accountExceeded)
            try await store.cancel(ids[0])
            #expect(try await reserve(2, after: 2) == .reserved)
            #expect(try await reserve(0, after: 60.5) == .accountExceeded)
            #expect(try await reserve(0, after: 61) == .reserved)
            try await store.sweep(at: .after(61))
            #expect(try await stores.number("SELECT COUNT(*) FROM sent_reset") == 2)
            try await store.sweep(at: .after(121))
            #expect(try await stores.number("SELECT COUNT(*) FROM sent_reset") == 0)
        }
    }

    @Test("Sends the quota of all networks evenly, and a newcomer's email among the next")
    func overall() async throws {
        try await withPostOffice { office in
            // 100 a minute is paced: 10 in 6 s.
            let bounds = ResetMailBounds(overall: .requests(100, per: .seconds(60)))
            let quota = ResetMailQuota(SQLiteSentResetStore(office.stores.database)) { bounds }
            for number in 0..<60 { try await office.stores.addAccount("a\(number)@example.com") }
            let queue = office.stores.intents
            for number in 0..<59 { try await queue.enqueue(try intent("192.0.2.0/24", number)) }
            let worker = try office.worker(intents: queue, quota: quota)
            func work() async throws -> Int {
                while try await worker.processDue() > 0 {}
                return try office.mailCount
            }
            office.clock.advance(by: 1)
            #expect(try await work() == 10)
            try await queue.enqueue(try intent("198.51.100.0/24", 59))
            office.clock.advance(by: 5)
            #expect(try await work() == 10)
            office.clock.advance(by: 1)
            #expect(try await work() == 20)
            #expect(try office.mailbox.mails().contains { $0.recipient == "a59@example.com" })
            for turn in 3...6 {
                office.clock.advance(by: 6)
                #expect(try await work() == turn * 10)
            }
            #expect(try await queue.count() == 0)
        }
    }
}

/// Counts events.
private final class NotedEvents: AuditNoting {
    private let kinds = Mutex<[AuditEvent.Kind]>([])

    func note(_ kind: AuditEvent.Kind, of account: Account.ID, origin: AuditOrigin) { kinds.withLock { $0.append(kind) } }

    func count(_ kind: AuditEvent.Kind) -> Int { kinds.withLock { $0.count { $0 == kind } } }
}
