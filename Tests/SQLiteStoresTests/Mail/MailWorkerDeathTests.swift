import AccountContract
import AccountCore
import Email
import Foundation
import HoldfastTesting
import ServiceLifecycle
import Synchronization
import Testing

@testable import SQLiteStores

/// A queue that fails to settle a number of times.
private final class UnsettlingQueue: MailIntentQueue {
    private let queue: SQLiteMailIntentQueue
    private let error: any Error
    private let remaining: Mutex<Int>

    /// - Parameter error: What it throws then; without one it is as if the worker had died right before.
    init(_ queue: SQLiteMailIntentQueue, times: Int, error: any Error = CancellationError()) {
        self.queue = queue
        self.error = error
        remaining = Mutex(times)
    }

    func settle(_ intent: MailIntent) async throws {
        let dies = remaining.withLock { left in
            left -= 1
            return left >= 0
        }
        guard !dies else { throw error }
        try await queue.settle(intent)
    }

    func postpone(_ intent: MailIntent, leaseEnd: Date, until due: Date, reason: String) async throws {
        try await queue.postpone(intent, leaseEnd: leaseEnd, until: due, reason: reason)
    }
    func giveUp(_ intent: MailIntent, leaseEnd: Date, until end: Date, reason: String) async throws {
        try await queue.giveUp(intent, leaseEnd: leaseEnd, until: end, reason: reason)
    }
    func sweep(at now: Date) async throws { try await queue.sweep(at: now) }
    func lastRetry() async throws -> Date? { try await queue.lastRetry() }
    func enqueue(_ intent: MailIntent) async throws { try await queue.enqueue(intent) }
    func count() async throws -> Int { try await queue.count() }
    func ping() async throws { try await queue.ping() }

    func claim(limit: Int, at now: Date, leaseEnd: Date, includesResets: Bool) async throws -> [MailIntent] {
        try await queue.claim(limit: limit, at: now, leaseEnd: leaseEnd, includesResets: includesResets)
    }

    func release(_ intent: MailIntent, leaseEnd: Date, at now: Date) async throws {
        try await queue.release(intent, leaseEnd: leaseEnd, at: now)
    }

    func releaseAbandoned(at now: Date) async throws -> Int { try await queue.releaseAbandoned(at: now) }
}

/// Delivery that shuts its own worker's group down while the first mail is in hand.
private final class StoppingDelivery: MailDelivery {
    let group = Mutex<ServiceGroup?>(nil)
    private let next: any MailDelivery

    init(then next: any MailDelivery) {
        self.next = next
    }

    func deliver(_ mail: Mail) async throws {
        await group.withLock { $0 }?.triggerGracefulShutdown()
        while !Task.isShuttingDownGracefully { await Task.yield() }
        try await next.deliver(mail)
    }
}

@Suite(.timeLimit(.minutes(1))) struct MailWorkerDeathTests {
    @Test("A worker that dies between handing over and settling repeats the one mail once, after its lease")
    func beforeSettling() async throws {
        try await withPostOffice { office in
            try await office.stores.addAccount()
            try await office.request("ana@example.com")
            let worker = try office.worker(intents: UnsettlingQueue(office.stores.intents, times: 1))
            try await worker.processDue()
            #expect(try office.mailCount == 1)
            #expect(try await office.stores.intents.count() == 1)
            office.clock.advance(by: 119)
            #expect(try await worker.processDue() == 0)
            office.clock.advance(by: 1)
            #expect(try await worker.processDue() == 1)
            #expect(try office.mailCount == 2)
            #expect(try await office.stores.intents.count() == 0)
            let tokens = try office.mailbox.mails().map { try office.token(in: $0).rawValue }
            #expect(Set(tokens).count == 2, "each with a token of its own")
            for token in tokens { #expect(try await office.stores.isLive(TokenDigest(of: token), after: 120)) }
        }
    }

    @Test(
        "A mail that was handed over is not postponed because that can't be written down: it is tried again, for the length of the lease"
    )
    func unsettled() async throws {
        try await withPostOffice { office in
            try await office.stores.addAccount()
            try await office.request("ana@example.com")
            let queue = UnsettlingQueue(
                office.stores.intents,
                times: 3,
                error: StoreFailure(isBusy: true, message: "SQLite error 5")
            )
            let clock = ManualClock()
            let worker = try office.worker(intents: queue, workerClock: clock)
            let work = Task { try await worker.processDue() }
            for second in 1...3 {
                while clock.nextDeadline != clock.now.advanced(by: .seconds(1)) {
                    try Task.checkCancellation()
                    await Task.yield()
                }
                #expect(try office.mailCount == 1, "after \(second) failures")
                clock.advance(by: .seconds(1))
            }
            #expect(try await work.value == 1)
            #expect(try await office.stores.intents.count() == 0)
            office.clock.advance(by: 3_600)
            #expect(try await worker.processDue() == 0)
            #expect(office.logged.contains("SQLite error 5"))
        }
    }

    @Test("What a dead worker had taken is sent by another, once")
    func afterClaiming() async throws {
        try await withPostOffice { office in
            try await office.stores.addAccount()
            try await office.request("ana@example.com")
            let taken = try await office.stores.intents.claim(limit: 32, at: .after(0), leaseEnd: .after(120))
            #expect(taken.count == 1)
            #expect(try await office.worker().processDue() == 0)
            office.clock.advance(by: 120)
            #expect(try await office.worker().processDue() == 1)
            #expect(try await office.worker().processDue() == 0)
            #expect(try office.mailCount == 1)
        }
    }

    @Test("A shutdown finishes the mail in hand and takes no other")
    func shutdown() async throws {
        try await withPostOffice { office in
            for name in ["ana", "bob", "eve"] {
                try await office.stores.addAccount("\(name)@example.com")
                try await office.request("\(name)@example.com")
                office.clock.advance(by: 0.01)
            }
            let delivery = StoppingDelivery(then: office.mailbox)
            let worker = try office.worker(delivery: delivery)
            let group = ServiceGroup(services: [worker], logger: office.logger)
            delivery.group.withLock { $0 = group }
            try await group.run()
            #expect(try office.mailbox.mails().map(\.recipient) == ["ana@example.com"])
            #expect(try await office.stores.intents.count() == 2)
            #expect(try await office.worker().processDue() == 2, "they are due at once")
            #expect(try office.mailCount == 3)
        }
    }

    @Test("A worker without anything to do ends with its group at once, however long its pause")
    func idleShutdown() async throws {
        try await withPostOffice { office in
            let worker = try office.worker(pause: .seconds(86_400)...(.seconds(86_400)))
            let group = ServiceGroup(services: [worker], logger: office.logger)
            async let run: Void = group.run()
            await group.triggerGracefulShutdown()
            try await run
            #expect(try office.mailCount == 0)
        }
    }
}
