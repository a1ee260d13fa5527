import RateLimiting
import Testing

@Suite struct ConcurrencyLimiterTests {
    @Test("Runs at most the limit concurrently, and finally all operations", arguments: [1, 3, 16])
    func atMost(limit: Int) async throws {
        let concurrency = ConcurrencyLimiter(limit)
        let most = Recorded(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<64 {
                group.addTask {
                    for _ in 0..<50 {
                        try await concurrency.run {
                            most.update { $0 = max($0, concurrency.running) }
                            await Task.yield()
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(most.value <= limit)
        #expect(concurrency.running == 0 && concurrency.waiting == 0)
    }

    @Test("Refuses at a full queue, drops canceled waiters and keeps the order")
    func line() async throws {
        let concurrency = ConcurrencyLimiter(1, maximumWaiters: 3)
        let order = Recorded<[Int]>([])
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let first = Task { try await concurrency.run { for await _ in gate {} } }
        while concurrency.running < 1 { await Task.yield() }
        var waiters: [Task<Void, any Error>] = []
        for number in 0..<3 {
            waiters.append(Task { try await concurrency.run { order.update { $0.append(number) } } })
            while concurrency.waiting <= number { await Task.yield() }
        }
        await #expect(throws: ConcurrencyLimiter.WaitQueueFull.self) { try await concurrency.run {} }
        waiters[1].cancel()
        await #expect(throws: CancellationError.self) { try await waiters[1].value }
        #expect(concurrency.waiting == 2)
        open.finish()
        try await first.value
        try await waiters[0].value
        try await waiters[2].value
        #expect(order.value == [0, 2])
        #expect(concurrency.running == 0)
    }

    @Test("An operation that throws frees its slot")
    func throwing() async {
        struct Broken: Error {}
        let concurrency = ConcurrencyLimiter(1)
        await #expect(throws: Broken.self) { try await concurrency.run { throw Broken() } }
        #expect(concurrency.running == 0)
    }
}
