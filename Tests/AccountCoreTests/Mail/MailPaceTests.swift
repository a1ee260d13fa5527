import AccountStoreTesting
import HoldfastTesting
import Synchronization
import Testing

@testable import AccountCore

@Suite(.timeLimit(.minutes(10))) struct MailPaceTests {
    private final class Load: Sendable {
        let isHigh = Mutex(true)
    }

    /// Waits until the worker pauses. A delivery's own deadline is two minutes away.
    private func resting(on clock: ManualClock) async throws {
        while clock.nextDeadline != clock.now.advanced(by: .milliseconds(10)) {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    @Test("Pauses after an email while the server is busy; otherwise sends all that are due")
    func rest() async throws {
        try await withPostOffice { office in
            for name in ["ana", "ben", "cleo"] {
                try await office.stores.addAccount("\(name)@example.com")
                try await office.request("\(name)@example.com")
            }
            let clock = ManualClock()
            let load = Load()
            let worker = try office.worker(
                rest: .milliseconds(10),
                isServerBusy: { load.isHigh.withLock { $0 } },
                workerClock: clock
            )
            let work = Task { try await worker.processDue() }
            try await resting(on: clock)
            #expect(try office.mailCount == 1)
            clock.advance(by: .milliseconds(9))
            #expect(try office.mailCount == 1)
            clock.advance(by: .milliseconds(1))
            try await resting(on: clock)
            #expect(try office.mailCount == 2)
            load.isHigh.withLock { $0 = false }
            clock.advance(by: .milliseconds(10))
            #expect(try await work.value == 3)
            #expect(try office.mailCount == 3)
        }
    }
}
