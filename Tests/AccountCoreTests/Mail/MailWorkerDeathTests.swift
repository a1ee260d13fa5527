import AccountContract
import AccountStoreTesting
import Email
import Foundation
import HoldfastTesting
import ServiceLifecycle
import Synchronization
import Testing

@testable import AccountCore

/// Returns stores whose email queue fails to settle a number of times.
/// - Parameter error: The thrown error. A `CancellationError` has the same effect as a worker that died right before.
private func unsettlingStores(_ times: Int, _ error: any Error = CancellationError()) -> InMemoryAccountStores {
    let left = Mutex(times)
    return InMemoryAccountStores { operation in
        guard operation == "intents.settle" else { return }
        let fails = left.withLock { left in
            left -= 1
            return left >= 0
        }
        if fails { throw error }
    }
}

@Suite(.timeLimit(.minutes(10))) struct MailWorkerDeathTests {
    @Test("A worker that dies before settling repeats one email once, after its lease")
    func beforeSettling() async throws {
        try await withPostOffice(stores: unsettlingStores(1)) { office in
            try await office.stores.addAccount()
            try await office.request("ana@example.com")
            let worker = try office.worker()
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

    @Test("Retries settling a delivered email during its lease instead of postponing it")
    func unsettled() async throws {
        let failure = StoreFailure(isBusy: true, message: "SQLite error 5")
        try await withPostOffice(stores: unsettlingStores(3, failure)) { office in
            try await office.stores.addAccount()
            try await office.request("ana@example.com")
            let clock = ManualClock()
            let worker = try office.worker(workerClock: clock)
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

    @Test("Another worker sends a dead worker's claims once")
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

    @Test("A shutdown finishes the email in flight and claims no other")
    func shutdown() async throws {
        try await withPostOffice { office in
            for name in ["ana", "bob", "eve"] {
                try await office.stores.addAccount("\(name)@example.com")
                try await office.request("\(name)@example.com")
                office.clock.advance(by: 0.01)
            }
            // Shuts down the worker's own group while the first email is in flight.
            let running = Mutex<ServiceGroup?>(nil)
            let delivery = ScriptedDelivery(then: office.mailbox) { _, _ in
                await running.withLock { $0 }?.triggerGracefulShutdown()
                while !Task.isShuttingDownGracefully { await Task.yield() }
            }
            let worker = try office.worker(delivery: delivery)
            let group = ServiceGroup(services: [worker], logger: office.logger)
            running.withLock { $0 = group }
            try await group.run()
            #expect(try office.mailbox.mails().map(\.recipient) == ["ana@example.com"])
            #expect(try await office.stores.intents.count() == 2)
            #expect(try await office.worker().processDue() == 2, "they are due at once")
            #expect(try office.mailCount == 3)
        }
    }

    @Test("An idle worker ends with its group at once, however long its pause")
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
