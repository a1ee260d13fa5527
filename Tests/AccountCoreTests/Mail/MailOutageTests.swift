import AccountContract
import AccountStoreTesting
import Email
import ErrorContract
import Foundation
import HoldfastTesting
import InMemoryLogging
import Logging
import Pages
import Synchronization
import Testing

@testable import AccountCore

/// The current failure of a mail server, which a test can change.
private final class Outage: Sendable {
    let failure: Mutex<MailDeliveryError?>

    init(_ failure: MailDeliveryError?) { self.failure = Mutex(failure) }

    /// A delivery that fails during the outage.
    func delivery(then next: any MailDelivery) -> ScriptedDelivery {
        ScriptedDelivery(then: next) { _, _ in
            if let failure = self.failure.withLock({ $0 }) { throw failure }
        }
    }
}

/// Returns a delivery that never ends by itself.
private func hangingDelivery(_ began: AsyncStream<Void>.Continuation) -> ScriptedDelivery {
    ScriptedDelivery { _, _ in
        began.yield()
        try await Task.sleep(for: .seconds(86_400))
    }
}

@Suite(.timeLimit(.minutes(10))) struct MailOutageTests {
    @Test(
        "One email probes during an outage; afterwards each valid email is sent once",
        arguments: [MailDeliveryError.Kind.unavailable, .misconfigured]
    )
    func outage(_ kind: MailDeliveryError.Kind) async throws {
        try await withPostOffice { office in
            for number in 0..<100 {
                try await office.stores.addAccount("ana\(number)@example.com")
                try await office.request("ana\(number)@example.com")
            }
            let down = Outage(MailDeliveryError(kind, message: "no way"))
            let delivery = down.delivery(then: office.mailbox)
            let worker = try office.worker(delivery: delivery, width: 4)
            let outage = 20 * 60
            for _ in 0..<outage {
                try await worker.processDue()
                office.clock.advance(by: 1)
            }
            // At first the four concurrent deliveries; then one after 4, 8, … 128 and every 240 s.
            #expect((9...16).contains(delivery.attempts), "\(delivery.attempts)")
            #expect(try office.mailCount == 0)
            down.failure.withLock { $0 = nil }
            for _ in 0..<400 {
                try await worker.processDue()
                office.clock.advance(by: 1)
            }
            let recipients = try office.mailbox.mails(limit: 1_000).map(\.recipient)
            #expect(recipients.count == 100)
            #expect(Set(recipients).count == 100)
            #expect(try await office.stores.intents.count() == 0)
            let alarms = office.logs.entries.filter { $0.level == .error }
            #expect(alarms.isEmpty == (kind == .unavailable))
            #expect(office.logs.entries.filter { $0.message == "Email server available again" }.count == 1)
            #expect(!office.logged.contains("ana"))
        }
    }

    @Test("A retry request probes the server once; if it is down, the outage continues")
    func retry() async throws {
        try await withPostOffice { office in
            for number in 0..<10 {
                try await office.stores.addAccount("ana\(number)@example.com")
                try await office.request("ana\(number)@example.com")
            }
            let down = Outage(MailDeliveryError(.unavailable, message: "down"))
            let delivery = down.delivery(then: office.mailbox)
            let worker = try office.worker(delivery: delivery, width: 4)
            for _ in 0..<600 {
                try await worker.processDue()
                office.clock.advance(by: 1)
            }
            let (attempts, queue) = (delivery.attempts, office.stores.intents)
            for asked in 1...2 {
                // Also if emails only wait for the end of the outage.
                for _ in 0..<asked { _ = try await queue.retry(nil, includingFailed: false, at: office.clock.now()) }
                for _ in 0..<3 {
                    try await worker.processDue()
                    office.clock.advance(by: 1)
                }
                #expect(delivery.attempts == attempts + asked)
            }
            down.failure.withLock { $0 = nil }
            try await worker.processDue()
            #expect(try office.mailCount == 0)
            _ = try await queue.retry(nil, includingFailed: false, at: office.clock.now())
            for _ in 0..<2 { try await worker.processDue() }
            #expect(try office.mailCount == 10)
        }
    }

    @Test("An email whose lease ends before its delivery doesn't end an outage")
    func leaseEndsInOutage() async throws {
        let slow = Mutex<(@Sendable () -> Void)?>(nil)
        let stores = InMemoryAccountStores { operation in
            guard operation == "accounts.account" else { return }
            slow.withLock { $0.take() }?()
        }
        try await withPostOffice(stores: stores) { office in
            let clock = office.clock
            try await stores.addAccount("ana@example.com")
            try await office.request("ana@example.com")
            let down = Outage(MailDeliveryError(.unavailable, message: "down"))
            let delivery = down.delivery(then: office.mailbox)
            let worker = try office.worker(delivery: delivery)
            try await worker.processDue()
            #expect(delivery.attempts == 1)
            clock.advance(by: 10)
            // The lookup of the account takes longer than the lease of 120 s.
            slow.withLock { slow in
                slow = { clock.advance(by: 200) }
            }
            try await worker.processDue()
            #expect(delivery.attempts == 1)
            #expect(!office.logged.contains("Email server available again"))
        }
    }

    @Test("A notice to an address that changes before its delivery doesn't end an outage")
    func addressChangesInOutage() async throws {
        let meanwhile = Mutex<(@Sendable () async throws -> Void)?>(nil)
        let stores = InMemoryAccountStores { operation in
            guard operation == "freezeTokens.insert" else { return }
            try await meanwhile.withLock { $0.take() }?()
        }
        try await withPostOffice(stores: stores) { office in
            let account = try await stores.addAccount()
            let notice = MailIntent(subject: .passwordChanged(account.id), language: .english, createdAt: office.clock.now())
            try await stores.intents.enqueue(notice)
            let delivery = ScriptedDelivery { _, _ in throw MailDeliveryError(.unavailable, message: "down") }
            let worker = try office.worker(delivery: delivery)
            try await worker.processDue()
            #expect(delivery.attempts == 1)
            office.clock.advance(by: 10)
            // Runs after the worker has prepared the notice, and before it stores the token of the notice.
            meanwhile.withLock { meanwhile in
                meanwhile = {
                    let address = try EmailAddress("new@example.com")
                    _ = try await stores.records.change(account.id, at: .after(10)) { $0.account.email = address }
                }
            }
            try await worker.processDue()
            #expect(delivery.attempts == 1)
            #expect(try await stores.intents.mails(limit: 9).map(\.reason) == ["the address of the account has changed"])
            #expect(!office.logged.contains("Email server available again"))
        }
    }

    @Test("Abandons an email whose link expired in an outage and sends those behind it")
    func expired() async throws {
        try await withPostOffice { office in
            for name in ["old", "new"] { try await office.stores.addAccount("\(name)@example.com") }
            try await office.request("old@example.com")
            try await office.request("nobody@example.com")
            let down = Outage(MailDeliveryError(.unavailable, message: "down"))
            let delivery = down.delivery(then: office.mailbox)
            let worker = try office.worker(delivery: delivery)
            try await worker.processDue()
            office.clock.advance(by: 3_600)
            try await office.request("new@example.com")
            down.failure.withLock { $0 = nil }
            try await worker.processDue()
            #expect(try office.mailbox.mails().map(\.recipient) == ["new@example.com"])
            let left = try await office.stores.intents.mails(limit: 9)
            #expect(left.map(\.state) == [.failed], "who has no account leaves no trace")
            #expect(left.map(\.reason) == ["its link expired before delivery"])
            #expect(office.logged.contains("Email abandoned"))
        }
    }

    @Test("Sends several emails concurrently, each once")
    func width() async throws {
        try await withPostOffice { office in
            for number in 0..<30 {
                try await office.stores.addAccount("ana\(number)@example.com")
                try await office.request("ana\(number)@example.com")
            }
            #expect(try await office.worker(width: 4).processDue() == 30)
            #expect(Set(try office.mailbox.mails().map(\.recipient)).count == 30)
            #expect(try office.mailCount == 30)
        }
    }

    @Test("Each email's lease starts at its turn, so slow emails before it use none of it")
    func ownLease() async throws {
        try await withPostOffice { office in
            for name in ["ana", "bob", "eve"] {
                try await office.stores.addAccount("\(name)@example.com")
                try await office.request("\(name)@example.com")
            }
            // Two of them together take longer than one lease of 120 s.
            let delivery = ScriptedDelivery(then: office.mailbox) { _, _ in office.clock.advance(by: 100) }
            #expect(try await office.worker(delivery: delivery).processDue() == 3)
            #expect(try office.mailCount == 3)
            #expect(try await office.stores.intents.count() == 0)
        }
    }

    @Test("Cancels a delivery that outlasts its lease before another worker may start")
    func lease() async throws {
        try await withPostOffice { office in
            try await office.stores.addAccount()
            try await office.request("ana@example.com")
            let (starts, began) = AsyncStream<Void>.makeStream()
            let clock = ManualClock()
            let worker = MailWorker(
                stores: office.stores,
                rendering: try MailTemplates(
                    settings: .init(
                        appName: "Ñandú",
                        sender: "noreply@example.com",
                        linkBase: try #require(URL(string: "https://app.example.com")),
                        linkLifetime: .seconds(3_600)
                    )
                ),
                delivery: hangingDelivery(began),
                rules: office.rules,
                clock: clock,
                now: office.clock.now,
                logger: office.logger
            )
            async let round = worker.processDue()
            _ = await starts.first { _ in true }
            await clock.waitForSleepers()
            #expect(clock.nextDeadline?.offset == .seconds(120))
            clock.advance(by: .seconds(120))
            #expect(try await round == 1)
            let left = try await office.stores.intents.mails(limit: 9)
            #expect(left.map(\.state) == [.waiting])
            #expect(left.map(\.reason) == ["delivery took longer than the lease"])
            #expect(
                office.stores.read { $0.resetTokens.count } == 1,
                "it may have arrived: its link works"
            )
        }
    }

    @Test("After an uncertain delivery, both its link and that of the retry work")
    func uncertain() async throws {
        try await withPostOffice { office in
            try await office.stores.addAccount()
            try await office.request("ana@example.com")
            let lost = MailDeliveryError(.deferred, message: "cut", mayHaveArrived: true)
            let delivery = ScriptedDelivery(failing: 1, with: lost, then: office.mailbox)
            let worker = try office.worker(delivery: delivery)
            try await worker.processDue()
            office.clock.advance(by: 6)
            try await worker.processDue()
            let texts = try delivery.failed.map(\.text) + office.mailbox.mails().map(\.text)
            #expect(texts.count == 2)
            for text in texts {
                let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("https://") })
                let token = try ResetLink(try #require(URL(string: String(line))), hosts: ["app.example.com"]).token
                #expect(try await office.stores.isLive(TokenDigest(of: token.rawValue), after: 10))
            }
        }
    }

    @Test("A delivered email stays delivered if pruning fails afterwards")
    func pruneFails() async throws {
        // The insert of the token succeeds, but the invalidation of older ones fails.
        let stores = InMemoryAccountStores { operation in
            if operation == "resetTokens.prune" { throw StoreFailure(isBusy: false, message: "disk") }
        }
        try await withPostOffice(stores: stores) { office in
            let account = try await office.stores.addAccount()
            try await office.request("ana@example.com")
            for _ in 0..<4 { _ = try await office.stores.mint(for: account, liveLimit: .max) }
            try await office.worker().processDue()
            office.clock.advance(by: 1_000)
            try await office.worker().processDue()
            #expect(try office.mailCount == 1)
            #expect(try await office.stores.intents.count() == 0)
            #expect(office.logged.contains("Older reset links not removed"))
        }
    }

    @Test("A canceled worker logs only debug entries, and its email returns with its lease")
    func cancelled() async throws {
        try await withPostOffice { office in
            try await office.stores.addAccount()
            try await office.request("ana@example.com")
            let (starts, began) = AsyncStream<Void>.makeStream()
            let worker = try office.worker(delivery: hangingDelivery(began))
            let run = Task { try await worker.run() }
            _ = await starts.first { _ in true }
            run.cancel()
            try? await run.value
            #expect(office.logs.entries.allSatisfy { $0.level == .debug }, "\(office.logged)")
            office.clock.advance(by: 120)
            try await office.worker().processDue()
            #expect(try office.mailCount == 1)
        }
    }
}
