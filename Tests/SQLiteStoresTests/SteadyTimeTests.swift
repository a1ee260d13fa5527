import AccountContract
import AccountCore
import AccountStoreTesting
import ErrorContract
import Foundation
import RateLimiting
import Synchronization
import Testing

@testable import SQLiteStores

/// The clocks of a machine, which a test can set and boot.
final class SetClocks: Sendable {
    private let time = Mutex(
        SnapshotTime(wallNanoseconds: 1_750_000_000_000_000_000, bootNanoseconds: 5_000_000_000, bootID: "boot 1")
    )

    var snapshot: @Sendable () -> SnapshotTime { { self.time.withLock { $0 } } }
    var wall: @Sendable () -> Date { { Date(timeIntervalSince1970: Double(self.snapshot().wallNanoseconds) / 1e9) } }

    /// Advances the time.
    func pass(_ seconds: Double) {
        time.withLock { time in
            time.wallNanoseconds += Int64(seconds * 1e9)
            time.bootNanoseconds += Int64(seconds * 1e9)
        }
    }

    /// Sets the wall clock.
    func step(_ seconds: Double) { time.withLock { $0.wallNanoseconds += Int64(seconds * 1e9) } }

    /// Boots the machine again.
    func boot(_ id: String) {
        time.withLock { time in
            time.bootNanoseconds = 1_000_000_000
            time.bootID = id
        }
    }
}

@Suite struct SteadyTimeTests {
    private func expect(_ time: SteadyTime, _ seconds: TimeInterval, _ location: SourceLocation = #_sourceLocation) {
        #expect(abs(time.now().timeIntervalSince(.after(seconds))) < 0.001, sourceLocation: location)
    }

    @Test("Ignores steps of the wall clock, also in processes that start later", arguments: [-3_600.0, 3_600])
    func steps(_ step: Double) async throws {
        try await withStores { stores in
            let clocks = SetClocks()
            let first = try await SteadyTime(stores.database, snapshot: clocks.snapshot)
            expect(first, 0)
            clocks.pass(10)
            clocks.step(step)
            expect(first, 10)
            let second = try await SteadyTime(stores.database, snapshot: clocks.snapshot)
            expect(second, 10)
            clocks.pass(5)
            expect(first, 15)
            expect(second, 15)
        }
    }

    @Test("Continues after a boot by the wall clock's advance since the last record")
    func boot() async throws {
        try await withStores { stores in
            let clocks = SetClocks()
            let first = try await SteadyTime(stores.database, snapshot: clocks.snapshot)
            clocks.step(-3_600)
            clocks.pass(100)
            try await first.keep()
            clocks.pass(200)
            clocks.boot("boot 2")
            expect(try await SteadyTime(stores.database, snapshot: clocks.snapshot), 300)
        }
    }

    @Test("Counts a boot with a clock that was set back as a minute")
    func setBack() async throws {
        try await withStores { stores in
            let clocks = SetClocks()
            let first = try await SteadyTime(stores.database, snapshot: clocks.snapshot)
            clocks.pass(100)
            try await stores.intents.enqueue(
                MailIntent(subject: .passwordChanged(.init(rawValue: UUID())), language: .english, createdAt: first.now())
            )
            clocks.step(-86_400)
            clocks.boot("boot 2")
            expect(try await SteadyTime(stores.database, snapshot: clocks.snapshot), 160)
        }
    }

    @Test("Starts although a stored time is too late for a number of nanoseconds", arguments: ["1e11", "9e999"])
    func lateStamp(_ stamp: String) async throws {
        try await withStores { stores in
            let clocks = SetClocks()
            _ = try await SteadyTime(stores.database, snapshot: clocks.snapshot)
            try await stores.intents.enqueue(
                MailIntent(subject: .passwordChanged(.init(rawValue: UUID())), language: .english, createdAt: .after(0))
            )
            try await stores.execute("UPDATE mail_intent SET created_at = \(stamp)")
            clocks.boot("boot 2")
            let time = try await SteadyTime(stores.database, snapshot: clocks.snapshot)
            let first = time.now()
            clocks.pass(10)
            #expect(abs(time.now().timeIntervalSince(first) - 10) < 0.001)
        }
    }

    @Test("Continues by the wall clock where boots have no ids, and never runs backward")
    func nameless() async throws {
        try await withStores { stores in
            let clocks = SetClocks()
            clocks.boot("")
            _ = try await SteadyTime(stores.database, snapshot: clocks.snapshot)
            clocks.pass(5)
            expect(try await SteadyTime(stores.database, snapshot: clocks.snapshot), 5)
            clocks.step(-3_600)
            expect(try await SteadyTime(stores.database, snapshot: clocks.snapshot), 5)
        }
    }
}

/// The effect of clock steps on due times and grace windows, with the services of a server.
@Suite(.timeLimit(.minutes(10))) struct ClockStepTests {
    @Test(
        "Accepts a used refresh token for ten seconds, for any clock setting",
        arguments: [-3_600.0, -5, 5, 3_600]
    )
    func graceWindow(_ step: Double) async throws {
        for (passed, isRepeat) in [(9.0, true), (11, false)] {
            try await withStores { stores in
                let clocks = SetClocks()
                let account = try await stores.addAccount()
                var time = try await SteadyTime(stores.database, snapshot: clocks.snapshot)
                let first = SecretToken().digest
                let session = StoredSession(id: .init(rawValue: UUID()), accountID: account.id, createdAt: time.now())
                _ = try await stores.sessions.open(session, refresh: first, epoch: account.epoch)
                func use() async throws -> RotationOutcome {
                    try await stores.sessions.rotate(first, to: SecretToken().digest, at: time.now(), rules: SessionRules())
                }
                #expect(try await use() == .rotated(session))
                clocks.step(step)
                clocks.pass(passed - 2)
                // A restart within the window.
                time = try await SteadyTime(stores.database, snapshot: clocks.snapshot)
                clocks.pass(2)
                #expect(try await use() == (isRepeat ? .rotated(session) : .reused(session)))
            }
        }
    }

    @Test(
        "Sends a failed email after its backoff, for any clock setting",
        arguments: [-7_200.0, 7_200],
        [false, true]
    )
    func dueTime(_ step: Double, restarts: Bool) async throws {
        try await withStores { stores in
            let clocks = SetClocks()
            var time = try await SteadyTime(stores.database, snapshot: clocks.snapshot)
            try await stores.addAccount()
            // The first email is requested while the clock is wrong, and fails.
            clocks.step(-step)
            let ana = MailIntent.Subject.passwordReset(try EmailAddress("ana@example.com"))
            try await stores.intents.enqueue(MailIntent(subject: ana, language: .english, createdAt: time.now()))
            let delivery = ScriptedDelivery(failing: 1, with: MailDeliveryError(.deferred, message: "451"))
            func work() async throws {
                try await stores.worker(delivery: delivery, now: clocks.wall, steady: time.now).processDue()
            }
            try await work()
            #expect(delivery.delivered.count == 0)
            clocks.step(step)
            if restarts { time = try await SteadyTime(stores.database, snapshot: clocks.snapshot) }
            clocks.pass(3)
            try await work()
            #expect(delivery.delivered.count == 0, "the backoff is at least 4 s")
            clocks.pass(3)
            try await work()
            #expect(delivery.delivered.count == 1)
            #expect(try await stores.intents.count() == 0)
        }
    }

    @Test("Sends an email from before a clock step, and none past the life of its link")
    func expiry() async throws {
        try await withStores { stores in
            let clocks = SetClocks()
            let time = try await SteadyTime(stores.database, snapshot: clocks.snapshot)
            try await stores.addAccount()
            let delivery = ScriptedDelivery()
            let worker = stores.worker(delivery: delivery, now: clocks.wall, steady: time.now)
            func request() async throws {
                let intent = MailIntent(
                    subject: .passwordReset(try EmailAddress("ana@example.com")),
                    language: .english,
                    createdAt: time.now()
                )
                try await stores.intents.enqueue(intent)
            }
            try await request()
            clocks.step(7_200)
            try await worker.processDue()
            #expect(delivery.delivered.count == 1)
            try await request()
            clocks.step(-7_200)
            clocks.pass(3_600)
            try await worker.processDue()
            #expect(delivery.delivered.count == 1)
        }
    }
}
