import AccountContract
import AccountCore
import ErrorContract
import Foundation
import Testing

@testable import SQLiteStores

@Suite struct MailIntentQueueTests {
    private func makeIntent(_ number: Int = 0, after seconds: TimeInterval = 0) throws -> MailIntent {
        MailIntent(
            subject: .passwordReset(try EmailAddress("Ana\(number)@example.com")),
            language: Language("es-MX"),
            createdAt: .after(seconds)
        )
    }

    @Test("An intent is taken as it was added, with the address as it was typed")
    func roundTrip() async throws {
        try await withStores { stores in
            let reset = try makeIntent()
            let changed = MailIntent(
                subject: .passwordChanged(.init(rawValue: UUID())),
                language: .english,
                createdAt: .after(1)
            )
            try await stores.intents.enqueue(reset)
            try await stores.intents.enqueue(changed)
            let taken = try await stores.intents.claim(limit: 10, at: .after(1), leaseEnd: .after(100))
            #expect(taken == [reset, changed])
            guard case .passwordReset(let address) = taken.first?.subject else {
                Issue.record("another subject")
                return
            }
            #expect(address.text == "Ana0@example.com")
        }
    }

    @Test("The oldest are taken first, and no more than asked for")
    func order() async throws {
        try await withStores { stores in
            for number in [4, 1, 3, 0, 2] {
                try await stores.intents.enqueue(try makeIntent(number, after: TimeInterval(number)))
            }
            var taken: [TimeInterval] = []
            for expected in [2, 2, 1, 0] {
                let batch = try await stores.intents.claim(limit: 2, at: .after(10), leaseEnd: .after(100))
                #expect(batch.count == expected)
                taken += batch.map { $0.createdAt.timeIntervalSince(.after(0)) }
            }
            #expect(taken == [0, 1, 2, 3, 4])
        }
    }

    @Test("A taken intent is hidden until its lease ends, and comes back then")
    func lease() async throws {
        try await withStores { stores in
            let intent = try makeIntent()
            try await stores.intents.enqueue(intent)
            #expect(try await stores.intents.claim(limit: 10, at: .after(0), leaseEnd: .after(120)) == [intent])
            #expect(try await stores.intents.claim(limit: 10, at: .after(119), leaseEnd: .after(300)) == [])
            #expect(try await stores.intents.count() == 1)
            let back = try await stores.intents.claim(limit: 10, at: .after(120), leaseEnd: .after(300))
            #expect(back == [intent], "dying is not counted as a failure to hand over")
        }
    }

    @Test("Concurrent workers, also over two connections, never get the same intent, and together they get all")
    func concurrentClaims() async throws {
        try await withStores { stores in
            let other = try stores.reopened()
            for number in 0..<100 { try await stores.intents.enqueue(try makeIntent(number)) }
            let batches = try await concurrently(40) { number in
                let queue = (number.isMultiple(of: 2) ? stores : other).intents
                return try await queue.claim(limit: 3, at: .after(1), leaseEnd: .after(100))
            }
            let taken = batches.flatMap { $0.map(\.id) }
            #expect(taken.count == 100)
            #expect(Set(taken).count == 100)
            try other.database.close()
        }
    }

    @Test("A postponed intent comes back at its time, its failures counted")
    func postpone() async throws {
        try await withStores { stores in
            let intent = try makeIntent()
            try await stores.intents.enqueue(intent)
            for failures in 1...3 {
                let time = TimeInterval(failures) * 100
                _ = try await stores.intents.claim(limit: 1, at: .after(time), leaseEnd: .after(time + 90))
                try await stores.intents.postpone(
                    intent,
                    leaseEnd: .after(time + 90),
                    until: .after(time + 5),
                    reason: "421"
                )
                #expect(try await stores.intents.claim(limit: 1, at: .after(time + 4), leaseEnd: .after(1_000)) == [])
                let back = try await stores.intents.claim(limit: 1, at: .after(time + 5), leaseEnd: .after(time + 6))
                #expect(back.map(\.failures) == [failures])
            }
        }
    }

    @Test("What is said about an intent after its lease has passed to another is not heard")
    func lostLease() async throws {
        try await withStores { stores in
            let intent = try makeIntent()
            try await stores.intents.enqueue(intent)
            _ = try await stores.intents.claim(limit: 1, at: .after(0), leaseEnd: .after(10))
            _ = try await stores.intents.claim(limit: 1, at: .after(10), leaseEnd: .after(20))
            try await stores.intents.postpone(intent, leaseEnd: .after(10), until: .after(11), reason: "late")
            try await stores.intents.giveUp(intent, leaseEnd: .after(10), until: .after(11), reason: "late")
            #expect(try await stores.intents.claim(limit: 1, at: .after(19), leaseEnd: .after(30)) == [])
            let back = try await stores.intents.claim(limit: 1, at: .after(20), leaseEnd: .after(30))
            #expect(back == [intent], "and nothing is counted")
        }
    }

    @Test("What was given up is not taken, not counted, and forgotten at its time")
    func givenUp() async throws {
        try await withStores { stores in
            let intent = try makeIntent()
            try await stores.intents.enqueue(intent)
            _ = try await stores.intents.claim(limit: 1, at: .after(0), leaseEnd: .after(10))
            try await stores.intents.giveUp(intent, leaseEnd: .after(10), until: .after(100), reason: "550 5.1.1 at RCPT TO")
            #expect(try await stores.intents.count() == 0)
            #expect(try await stores.intents.claim(limit: 1, at: .after(1_000), leaseEnd: .after(2_000)) == [])
            try await stores.intents.sweep(at: .after(99))
            let kept = try await stores.intents.mails(limit: 9)
            #expect(kept.map(\.state) == [.failed])
            #expect(kept.map(\.reason) == ["550 5.1.1 at RCPT TO"])
            #expect(kept.map(\.maskedRecipient) == ["A***@example.com"])
            try await stores.intents.sweep(at: .after(100))
            #expect(try await stores.intents.mails(limit: 9) == [])
        }
    }

    @Test("A retry makes due what waits, and on demand what failed; what is in hand stays there")
    func retry() async throws {
        try await withStores { stores in
            let intents = try (0..<4).map { try makeIntent($0, after: TimeInterval($0)) }
            for intent in intents { try await stores.intents.enqueue(intent) }
            _ = try await stores.intents.claim(limit: 3, at: .after(3), leaseEnd: .after(100))
            try await stores.intents.postpone(intents[0], leaseEnd: .after(100), until: .after(300), reason: "421")
            try await stores.intents.giveUp(intents[1], leaseEnd: .after(100), until: .after(300), reason: "550")
            #expect(try await stores.intents.mails(limit: 9).map(\.state) == [.waiting, .failed, .taken, .waiting])
            #expect(try await stores.intents.retry(nil, includingFailed: false, at: .after(4)) == 1, "the last is due already")
            #expect(try await stores.intents.retry([intents[2].id], includingFailed: true, at: .after(4)) == 0)
            #expect(try await stores.intents.retry([intents[1].id], includingFailed: true, at: .after(4)) == 1)
            let due = try await stores.intents.claim(limit: 9, at: .after(4), leaseEnd: .after(90))
            #expect(Set(due.map(\.id)) == [intents[0].id, intents[1].id, intents[3].id])
        }
    }

    @Test("A settled intent is gone, and only it")
    func settle() async throws {
        try await withStores { stores in
            let intents = [try makeIntent(0), try makeIntent(1, after: 1)]
            for intent in intents { try await stores.intents.enqueue(intent) }
            #expect(try await stores.intents.count() == 2)
            try await stores.intents.settle(intents[0])
            try await stores.intents.settle(try makeIntent(1, after: 1))
            #expect(try await stores.intents.count() == 1)
            #expect(try await stores.intents.claim(limit: 9, at: .after(9), leaseEnd: .after(99)) == [intents[1]])
        }
    }

    @Test("Intents of a file from before they lay in order go on to work, each with what has become of it")
    func migration() async throws {
        try await withStores { stores in
            let intents = try (0..<3).map { try makeIntent($0, after: TimeInterval($0)) }
            for intent in intents { try await stores.intents.enqueue(intent) }
            _ = try await stores.intents.claim(limit: 2, at: .after(1), leaseEnd: .after(100))
            try await stores.intents.giveUp(intents[0], leaseEnd: .after(100), until: .after(300), reason: "550")
            try await stores.execute(
                """
                CREATE TABLE old AS SELECT * FROM mail_intent;
                DROP TABLE mail_intent;
                ALTER TABLE old RENAME TO mail_intent;
                DROP TABLE sent_reset;
                DROP TABLE steady_time;
                DELETE FROM grdb_migrations WHERE identifier LIKE 'mail intents lie%' OR identifier LIKE 'mails in turn%';
                """
            )
            let again = try stores.reopened()
            #expect(try await again.intents.mails(limit: 9).map(\.state) == [.failed, .taken, .waiting])
            #expect(try await again.intents.claim(limit: 9, at: .after(100), leaseEnd: .after(200)) == [intents[2], intents[1]])
            try await again.intents.settle(intents[2])
            #expect(try await again.intents.mails(limit: 9).map(\.id) == intents[..<2].map(\.id))
        }
    }

    @Test("What was added survives that the server dies")
    func durable() async throws {
        try await withStores { stores in
            let intent = try makeIntent()
            try await stores.intents.enqueue(intent)
            try stores.database.close()
            let again = try stores.reopened()
            #expect(try await again.intents.claim(limit: 1, at: .after(0), leaseEnd: .after(9)) == [intent])
            try again.database.close()
        }
    }
}
