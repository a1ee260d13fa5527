import HoldfastTesting
import Scheduling
import ServiceLifecycle
import ServiceLifecycleTestKit
import Synchronization
import Testing

@Suite struct PeriodicServiceTests {
    private struct Failure: Error {}

    private final class Journal: Sendable {
        private let state = Mutex((rounds: 0, failures: 0))
        var rounds: Int { state.withLock { $0.rounds } }
        var failures: Int { state.withLock { $0.failures } }

        func work(failing: Bool = false) throws {
            state.withLock { $0.rounds += 1 }
            if failing { throw Failure() }
        }
        func fail() { state.withLock { $0.failures += 1 } }
    }

    @Test("Works once per interval, and continues after a failure")
    func interval() async {
        let (clock, journal) = (ManualClock(), Journal())
        let service = PeriodicService(every: .seconds(60), clock: clock) {
            try journal.work(failing: true)
        } failure: { _ in
            journal.fail()
        }
        let running = Task { await service.run() }
        for round in 1...3 {
            await clock.waitForSleepers()
            #expect(journal.rounds == round && journal.failures == round)
            clock.advance(by: .seconds(60))
        }
        running.cancel()
        await running.value
    }

    @Test("A shutdown ends the pause; only work that follows the pause runs once more", arguments: [false, true])
    func shutdown(pausesFirst: Bool) async {
        let (clock, journal) = (ManualClock(), Journal())
        let service = PeriodicService(every: .seconds(60), order: pausesFirst ? .pauseFirst : .workFirst, clock: clock) {
            try journal.work()
        }
        await testGracefulShutdown { trigger in
            async let running: Void = service.run()
            await clock.waitForSleepers()
            #expect(journal.rounds == (pausesFirst ? 0 : 1))
            trigger.triggerGracefulShutdown()
            await running
        }
        #expect(journal.rounds == 1)
    }

    @Test("Work that stores data runs once more if the shutdown begins during the work", arguments: [false, true])
    func shutdownDuringWork(pausesFirst: Bool) async {
        let (clock, journal) = (ManualClock(), Journal())
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let (resumed, resume) = AsyncStream.makeStream(of: Void.self)
        let service = PeriodicService(every: .seconds(60), order: pausesFirst ? .pauseFirst : .workFirst, clock: clock) {
            try journal.work()
            begin.yield()
            if journal.rounds == 1 { for await _ in resumed { return } }
        }
        await testGracefulShutdown { trigger in
            async let running: Void = service.run()
            if pausesFirst {
                await clock.waitForSleepers()
                clock.advance(by: .seconds(60))
            }
            for await _ in begun { break }
            trigger.triggerGracefulShutdown()
            resume.yield()
            await running
        }
        #expect(journal.rounds == (pausesFirst ? 2 : 1))
    }

    @Test("Accepts an interval whose end the system's clock can't represent")
    func longestInterval() async throws {
        let (clock, journal) = (ManualClock(), Journal())
        clock.advance(by: .seconds(1))
        let service = PeriodicService(every: .seconds(Int64.max), clock: clock) { try journal.work() }
        let running = Task { await service.run() }
        await clock.waitForSleepers()
        let deadline = try #require(clock.nextDeadline)
        #expect(deadline.offset <= .seconds(Int64.max))
        running.cancel()
        await running.value
        #expect(journal.rounds == 1)
    }

    @Test("Canceled work ends the service")
    func cancellation() async {
        let journal = Journal()
        let service = PeriodicService(every: .seconds(60)) {
            try journal.work()
            throw CancellationError()
        } failure: { _ in
            journal.fail()
        }
        await service.run()
        #expect(journal.rounds == 1 && journal.failures == 0)
    }
}
