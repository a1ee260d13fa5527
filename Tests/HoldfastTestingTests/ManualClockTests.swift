import HoldfastTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) struct ManualClockTests {
    private let clock = ManualClock()

    @Test("The clock advances only when moved, by exactly that duration")
    func standsStill() {
        let start = clock.now
        #expect(clock.now == start)
        clock.advance(by: .nanoseconds(1))
        clock.advance(by: .zero)
        #expect(start.duration(to: clock.now) == .nanoseconds(1))
        #expect(clock.now.duration(to: start) == .nanoseconds(-1))
        #expect(start.advanced(by: .nanoseconds(1)) == clock.now && start < clock.now)
        #expect(clock.minimumResolution == .nanoseconds(1))
    }

    @Test("A sleeper wakes at its deadline, not a nanosecond before")
    func deadline() async throws {
        let sleeper = Task { try await clock.sleep(until: ManualClock.Instant(offset: .seconds(5))) }
        await clock.waitForSleepers()
        clock.advance(by: .seconds(5) - .nanoseconds(1))
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .nanoseconds(1))
        #expect(clock.sleeperCount == 0)
        try await sleeper.value
    }

    @Test("Sleepers past their deadlines wake in the order of their deadlines")
    func order() {
        // On several threads, tasks that wake can overtake each other, whatever the clock does.
        let executor = SteppedExecutor()
        let (clock, woken) = (clock, Woken())
        for seconds in [30, 10, 20] {
            _ = Task(executorPreference: executor) {
                try await clock.sleep(for: .seconds(seconds))
                woken.seconds.withLock { $0.append(seconds) }
            }
        }
        executor.drain()
        clock.advance(by: .seconds(15))
        executor.drain()
        #expect(woken.seconds.withLock(\.self) == [10])
        #expect(clock.sleeperCount == 2)
        clock.advance(by: .seconds(100))
        executor.drain()
        #expect(woken.seconds.withLock(\.self) == [10, 20, 30])
    }

    @Test("A past deadline returns at once", arguments: [Duration.zero, .seconds(-1), .seconds(10)])
    func due(offset: Duration) async throws {
        clock.advance(by: .seconds(10))
        try await clock.sleep(until: ManualClock.Instant(offset: offset))
        #expect(clock.sleeperCount == 0)
    }

    @Test("Canceling wakes only the canceled sleeper, at once")
    func cancellation() async throws {
        let other = Task { try await clock.sleep(for: .seconds(1)) }
        await clock.waitForSleepers()
        let sleeper = Task { try await clock.sleep(for: .seconds(1)) }
        await clock.waitForSleepers(2)
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .seconds(1))
        try await other.value
    }

    @Test("A task canceled before it sleeps does not sleep")
    func cancelledBefore() async {
        let sleeper = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(for: .seconds(1))
        }
        await #expect(throws: CancellationError.self) { try await sleeper.value }
        #expect(clock.sleeperCount == 0)
    }

    @Test("Waiting for sleepers ends as soon as there are enough")
    func waiting() async throws {
        await clock.waitForSleepers(0)
        let watcher = Task { await clock.waitForSleepers(3) }
        let sleepers = (0..<3).map { _ in Task { try await clock.sleep(for: .seconds(1)) } }
        await watcher.value
        #expect(clock.sleeperCount == 3)
        await clock.waitForSleepers(2)
        clock.advance(by: .seconds(1))
        for sleeper in sleepers { try await sleeper.value }
    }

    @Test("The clock does not go backwards")
    func precondition() async {
        await #expect(processExitsWith: .failure) { ManualClock().advance(by: .nanoseconds(-1)) }
    }

    @Test("Returns the next instant at which a sleeper wakes")
    func nextDeadline() async {
        let clock = ManualClock()
        #expect(clock.nextDeadline == nil)
        let sleepers = [3, 1, 2].map { seconds in Task { try await clock.sleep(for: .seconds(seconds)) } }
        await clock.waitForSleepers(3)
        for second in 1...3 {
            #expect(clock.nextDeadline == ManualClock.Instant(offset: .seconds(second)))
            clock.advance(by: .seconds(1))
        }
        for sleeper in sleepers { _ = await sleeper.result }
        #expect(clock.nextDeadline == nil)
    }

    @Test("In random use wakes the same sleepers in the same order as a plain list", arguments: 0..<5)
    func randomUse(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let executor = SteppedExecutor()
        let (clock, woken) = (clock, Woken())
        var sleepers: [(deadline: Int, number: Int, task: Task<Void, any Error>)] = []
        var (now, expected) = (0, [Int]())
        for number in 0..<1_000 {
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<10:
                let deadline = now + Int.random(in: 1...(Bool.random(using: &random) ? 100 : 2_000), using: &random)
                let task = Task(executorPreference: executor) {
                    try await clock.sleep(until: ManualClock.Instant(offset: .seconds(deadline)))
                    woken.seconds.withLock { $0.append(number) }
                }
                sleepers.append((deadline, number, task))
            case 10..<19:
                guard let place = sleepers.indices.randomElement(using: &random) else { continue }
                sleepers.remove(at: place).task.cancel()
            default:
                let step = Int.random(in: 0...40, using: &random)
                now += step
                let due = sleepers.filter { $0.deadline <= now }.sorted { ($0.deadline, $0.number) < ($1.deadline, $1.number) }
                expected += due.map(\.number)
                sleepers.removeAll { $0.deadline <= now }
                clock.advance(by: .seconds(step))
            }
            executor.drain()
            #expect(clock.sleeperCount == sleepers.count)
            #expect(clock.nextDeadline?.offset == sleepers.map(\.deadline).min().map { Duration.seconds($0) })
        }
        #expect(woken.seconds.withLock(\.self) == expected && expected.count > 20)
        for sleeper in sleepers { sleeper.task.cancel() }
        executor.drain()
        #expect(clock.sleeperCount == 0)
    }
}

private final class Woken: Sendable {
    let seconds = Mutex<[Int]>([])
}
