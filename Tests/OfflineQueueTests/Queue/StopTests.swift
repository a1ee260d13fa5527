import HTTPTypes
import HoldfastTesting
import RateLimiting
import ResilientHTTP
import Synchronization
import Testing
import Timekeeping

@testable import OfflineQueue

@Suite("Stopping of drains", .timeLimit(.minutes(5))) struct StopTests {
    @Test("A stop after the call of a drain counts even if the drain has not begun")
    func stopBeforeBegin() async throws {
        let bench = try await QueueBench()
        let id = try await bench.enqueue("1")
        // The drain below waits for this one, which counts as stopped, and begins after it.
        bench.queue.stop()
        let isHeld = Recorded(true)
        defer { isHeld.set(false) }
        let stopped = Task { [flight = bench.queue.flight] in
            _ = try await flight.run(unless: { .join }) {
                while isHeld.value { await Task.yield() }
                return 0
            }
        }
        #expect(await becomesTrue { bench.queue.flight.waiting == 1 })
        let drain = Task { [queue = bench.queue] in await queue.drain() }
        #expect(await becomesTrue { bench.queue.flight.waiting == 2 })
        bench.queue.stop()
        isHeld.set(false)
        await drain.value
        try await stopped.value
        #expect(bench.server.requests.isEmpty)
        #expect(bench.queue.status(of: id) == .pending)
        await bench.queue.drain()
        #expect(bench.server.bodies == ["1"])
    }

    /// Starts a task while a stopped drain waits for its last call. The call ends after the task has joined this drain. Another request is
    /// pending in the same lane.
    /// - Parameter work: The work of the task.
    private func start(
        whileStoppedDrainEnds work: @escaping @Sendable (OfflineQueue) async -> Void
    ) async throws -> (QueueBench, Task<Void, Never>) {
        let bench = try await QueueBench()
        let isHeld = Recorded(true)
        defer { isHeld.set(false) }
        bench.network.decide { _, body in
            while body == "1", isHeld.value { await Task.yield() }
            return .delivered
        }
        let first = try await bench.enqueue("1")
        try await bench.enqueue("2")
        let stopped = Task { [queue = bench.queue] in await queue.drain() }
        #expect(await becomesTrue { bench.queue.status(of: first) == .sending })
        bench.queue.stop()
        let task = Task { [queue = bench.queue] in await work(queue) }
        #expect(await becomesTrue { bench.queue.flight.waiting == 2 })
        isHeld.set(false)
        await stopped.value
        return (bench, task)
    }

    @Test("A drain that is called after a stop sends, even before the stopped drain ends")
    func drainAfterStop() async throws {
        let (bench, next) = try await start(whileStoppedDrainEnds: { await $0.drain() })
        await next.value
        #expect(bench.server.bodies == ["1", "2"])
    }

    @Test("A loop that begins after a stop sends when the stopped drain has ended")
    func runAfterStop() async throws {
        let (bench, run) = try await start(whileStoppedDrainEnds: { await $0.run() })
        defer { run.cancel() }
        // The clock stands still, so the loop doesn't wake after the watchdog interval.
        #expect(await becomesTrue { bench.queue.counts.pending == 0 })
        #expect(bench.server.bodies == ["1", "2"])
    }

    @Test("A call whose request is being stored at a stop sends nothing")
    func stopWhileStoring() async throws {
        let lockClock = ManualClock()
        let bench = try await QueueBench { $0.journal.clock = MonotonicClock(lockClock) }
        // Another process has the lock of the journal.
        let lock = try MemoryFiles(bench.disk).open("/queue/lock", creating: true)
        #expect(try lock.lock())
        let call = Task { [queue = bench.queue] in
            try await queue.send(.post, "/items", "1", options: .queued()) as QueueResult<Void>
        }
        await lockClock.waitForSleepers()
        bench.queue.stop()
        lock.unlock()
        lockClock.advance(by: .milliseconds(1))
        guard case .queued(let id) = try await call.value else {
            Issue.record("the request was sent")
            return
        }
        #expect(bench.server.requests.isEmpty)
        #expect(bench.queue.status(of: id) == .pending)
        await bench.queue.drain()
        #expect(bench.server.bodies == ["\"1\""])
    }
}

/// A value that concurrent tasks of a test share.
private final class Recorded<Value: Sendable>: Sendable {
    private let state: Mutex<Value>

    init(_ value: Value) { state = Mutex(value) }

    var value: Value { state.withLock(\.self) }

    func set(_ value: Value) { state.withLock { $0 = value } }
}
