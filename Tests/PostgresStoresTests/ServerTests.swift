import AccountCore
import AccountStoreTesting
import Crypto
import ErrorContract
import Foundation
import HoldfastTesting
import PostgresDriver
import Synchronization
import Testing
import Timekeeping

@testable import PostgresStores

@Suite(.timeLimit(.minutes(5))) struct ServerTests {
    private func presence(_ database: PostgresDatabase, isAlone: Bool) -> PostgresPresence {
        PostgresPresence(database, name: "test/1", version: "1.0.0", isAlone: isAlone)
    }

    /// Runs a test on a new database in which a server counts as present for an hour after it has entered. Otherwise, it would not be
    /// present any more after a pause of the machine of 10 s.
    private func withLongPresence(_ body: @Sendable (TemporaryDatabase) async throws -> Void) async throws {
        try await withDatabase { temporary in
            try await temporary.database.execute(
                """
                CREATE FUNCTION prolong() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN NEW.renewed_at := NEW.renewed_at + 3600; RETURN NEW; END $$
                """
            )
            try await temporary.database.execute(
                "CREATE TRIGGER prolong BEFORE INSERT ON server FOR EACH ROW EXECUTE FUNCTION prolong()"
            )
            try await body(temporary)
        }
    }

    /// Ends the presence of all servers, also the one of ``withLongPresence(_:)``.
    private static let expire: PostgresStatement = "UPDATE server SET renewed_at = renewed_at - 3610.5"

    @Test("An exclusive server starts only if no other one is present, and excludes others")
    func alone() async throws {
        try await withLongPresence { temporary in
            let first = presence(temporary.database, isAlone: true)
            #expect(try await first.enter())
            for isAlone in [true, false] {
                #expect(try await !presence(temporary.other, isAlone: isAlone).enter())
            }
            try await first.leave()
            let sharing = [presence(temporary.database, isAlone: false), presence(temporary.other, isAlone: false)]
            for server in sharing { #expect(try await server.enter()) }
            #expect(try await !presence(temporary.other, isAlone: true).enter())
            #expect(Set(try await PostgresPresence.servers(of: temporary.other).map(\.id)) == Set(sharing.map(\.id)))
        }
    }

    @Test("Of exclusive servers that start concurrently exactly one succeeds")
    func atOnce() async throws {
        try await withLongPresence { temporary in
            let entered = try await withThrowingTaskGroup(of: Bool.self) { tasks in
                for number in 0..<12 {
                    let database = number.isMultiple(of: 2) ? temporary.database : temporary.other
                    tasks.addTask { try await presence(database, isAlone: true).enter() }
                }
                return try await tasks.reduce(into: []) { $0.append($1) }
            }
            #expect(entered.count { $0 } == 1)
        }
    }

    @Test("A server whose registration expired registers again, unless it was replaced")
    func resumed() async throws {
        try await withLongPresence { temporary in
            let suspended = presence(temporary.database, isAlone: true)
            #expect(try await suspended.enter())
            #expect(try await suspended.renew())
            try await temporary.other.execute(Self.expire)
            #expect(try await suspended.renew(), "no other server has started")
            for isAlone in [true, false] {
                try await temporary.other.execute(Self.expire)
                let other = presence(temporary.other, isAlone: isAlone)
                #expect(try await other.enter())
                #expect(try await !suspended.renew())
                #expect(try await PostgresPresence.servers(of: temporary.other).map(\.id) == [other.id])
                #expect(try await other.renew())
                try await other.leave()
                #expect(try await suspended.renew())
            }
        }
    }

    @Test("A killed server counts as present for 10 s, then others take its emails")
    func killed() async throws {
        try await withLongPresence { temporary in
            let killed = presence(temporary.database, isAlone: true)
            #expect(try await killed.enter())
            let account = try await temporary.stores.addAccount()
            let queue = PostgresMailIntentQueue(temporary.database, presence: killed)
            let intent = MailIntent(subject: .passwordChanged(account.id), language: .english, createdAt: .after(0))
            try await queue.enqueue(intent)
            #expect(try await queue.claim(limit: 1, at: .after(1), leaseEnd: .after(100)) == [intent])
            let others = temporary.others.intents
            #expect(try await others.releaseAbandoned(at: .after(2)) == 0)
            try await temporary.other.execute(Self.expire)
            #expect(try await others.releaseAbandoned(at: .after(2)) == 1)
            #expect(try await others.claim(limit: 1, at: .after(2), leaseEnd: .after(100)) == [intent])
            #expect(try await presence(temporary.other, isAlone: true).enter())
        }
    }

    @Test("After a database outage, no server releases the emails of a running server")
    func outage() async throws {
        try await withDatabase { temporary in
            let clock = ManualClock()
            let sender = presence(temporary.database, isAlone: false)
            let other = PostgresPresence(
                temporary.other,
                name: "test/2",
                version: "1.0.0",
                isAlone: false,
                clock: MonotonicClock(clock)
            )
            for server in [sender, other] { #expect(try await server.enter()) }
            let account = try await temporary.stores.addAccount()
            let queue = PostgresMailIntentQueue(temporary.database, presence: sender)
            let others = PostgresMailIntentQueue(temporary.other, presence: other)
            let intent = MailIntent(subject: .passwordChanged(account.id), language: .english, createdAt: .after(0))
            try await queue.enqueue(intent)
            #expect(try await queue.claim(limit: 1, at: .after(1), leaseEnd: .after(100)) == [intent])
            // For eleven seconds, no server can renew its row.
            try await temporary.other.execute("UPDATE server SET renewed_at = renewed_at - 11")
            clock.advance(by: .seconds(11))
            #expect(try await others.releaseAbandoned(at: .after(12)) == 0, "its own row has expired, too")
            #expect(try await other.renew())
            #expect(try await others.releaseAbandoned(at: .after(12)) == 0, "the sender can't have renewed its row yet")
            for _ in 0..<5 {
                clock.advance(by: .seconds(2))
                #expect(try await other.renew())
            }
            #expect(try await others.releaseAbandoned(at: .after(22)) == 1, "the sender has stopped")
        }
    }

    @Test("The time is the database's, and never runs backward")
    func time() async throws {
        try await withDatabase { temporary in
            let time = try await PostgresTime(temporary.database)
            let before = time.now()
            try await time.synchronize()
            let after = time.now()
            #expect(after >= before)
            let clock = try await temporary.other.execute("SELECT extract(epoch FROM clock_timestamp())::double precision")
            let now: Double = try #require(try clock.rows.first?.value(0))
            #expect(now >= after.timeIntervalSince1970 - 1)
        }
    }

    @Test("A reading with a slow response does not move a correct time")
    func slowReading() {
        // The database's clock shows 1,000 s at the monotonic time 0.
        var state = PostgresTime.State()
        func isCorrect(at elapsed: Double, origin: Double = 1_000) -> Bool {
            abs(state.time(at: elapsed) - origin - elapsed) < 0.01
        }
        state.read(1_010.001, sent: 10, received: 10.002)
        #expect(isCorrect(at: 10.002))
        state.read(1_020, sent: 20, received: 80)
        #expect(isCorrect(at: 80), "suspended after the database read its clock")
        state.read(1_150, sent: 90, received: 150)
        #expect(isCorrect(at: 150), "suspended before the database read its clock")
        state.read(1_261.001, sent: 160, received: 160.002)
        #expect(isCorrect(at: 160.002, origin: 1_101), "the database's clock was set")
    }

    @Test("During a rotation both secrets find an address; afterward the new one suffices")
    func secretRotation() async throws {
        try await withDatabase { temporary in
            let (old, new) = (SymmetricKey(size: .bits256), SymmetricKey(size: .bits256))
            func accounts(_ keys: EmailKeys) -> PostgresAccountRepository {
                PostgresAccountRepository(temporary.database, emailKeys: keys)
            }
            let (before, during) = (accounts(EmailKeys(old)), accounts(EmailKeys(new, previous: old)))
            let first = try Account.sample("ana@example.com")
            #expect(try await before.insert(first))
            #expect(try await during.account(email: first.email) == first)
            #expect(try await !during.insert(try .sample("ANA@example.com")))
            let second = try Account.sample("ben@example.com")
            #expect(try await during.insert(second))
            #expect(try await !before.insert(try .sample("ben@example.com")))
            // A refused address leaves none of its keys behind.
            #expect(
                try await during.insert(contentsOf: [try .sample("ana@example.com"), try .sample("cleo@example.com")]).count == 1
            )
            #expect(try await accounts(EmailKeys(new)).account(email: first.email) == nil)
            #expect(try await during.addKeysOfPresentSecret() == 1)
            #expect(try await accounts(EmailKeys(new)).account(email: first.email) == first)
            #expect(try await !accounts(EmailKeys(new)).insert(try .sample("ben@example.com")))
        }
    }

    @Test("Reclaims emails of a claim with a lost response once the database responds")
    func lostClaim() async throws {
        try await withDatabase { temporary in
            let account = try await temporary.stores.addAccount()
            let intent = MailIntent(subject: .passwordChanged(account.id), language: .english, createdAt: .after(0))
            let queue = PostgresMailIntentQueue(temporary.database)
            try await queue.enqueue(intent)
            #expect(try await queue.claim(limit: 1, at: .after(1), leaseEnd: .after(100)) == [intent])
            let rows = try await temporary.other.execute("SELECT claim FROM mail_intent WHERE claim IS NOT NULL").rows
            let attempt: UUID = try #require(try rows.first?.value(0))
            #expect(try await queue.claim(limit: 1, at: .after(2), leaseEnd: .after(100)) == [])
            queue.failedClaims.withLock { $0.append(attempt) }
            #expect(try await queue.claim(limit: 1, at: .after(3), leaseEnd: .after(100)) == [intent])
        }
    }

    @Test("A claim skips corrupt emails, and throws only if there is no other email", arguments: [1, 2])
    func corruptEmails(limit: Int) async throws {
        try await withDatabase { temporary in
            let account = try await temporary.stores.addAccount()
            let queue = temporary.stores.intents
            let intents = (0..<3).map {
                MailIntent(subject: .passwordChanged(account.id), language: .english, createdAt: .after(Double($0)))
            }
            for intent in intents { try await queue.enqueue(intent) }
            try await temporary.other.execute("UPDATE mail_intent SET kind = 'later' WHERE created_at < $1", [.time(.after(2))])
            #expect(try await queue.claim(limit: limit, at: .after(9), leaseEnd: .after(100)) == [intents[2]])
            try await queue.settle(intents[2])
            #expect(try await queue.claim(limit: limit, at: .after(9), leaseEnd: .after(100)) == [])
            await #expect(throws: StoreFailure.self) {
                _ = try await queue.claim(limit: limit, at: .after(100), leaseEnd: .after(200))
            }
            #expect(try await queue.count() == 2, "the corrupt emails stay for an operator")
        }
    }

    @Test("Only a commit that can't be confirmed counts as an unknown outcome")
    func unknownOutcome() {
        #expect(StoreFailure(PostgresError.outcomeUnknown).isOutcomeUnknown)
        for error in [PostgresError.deadlineExceeded, .unavailable("refused"), .refused("40001")] {
            #expect(StoreFailure(error).isBusy && !StoreFailure(error).isOutcomeUnknown)
        }
    }
}
