import ErrorContract
import HTTPTypes
import HoldfastTesting
import RateLimiting
import ResilientHTTP
import Synchronization
import Testing

@Suite struct ThrottleWaitingTests {
    private let clock = ManualClock()
    private let executor = SteppedExecutor()
    private let endpoint = Endpoint(.get, "/a")
    private let request = HTTPRequest(method: .get, scheme: "https", authority: "h", path: "/a")

    private func throttler(_ quota: Int = 2, waiters: Int = 100) -> Throttler {
        var policy = ThrottlePolicy(others: .requests(quota, per: .seconds(60), name: "minute"))
        policy.maximumWaiters = waiters
        return Throttler(policy: policy, clock: clock, randomness: SplitMix64(seed: 1))
    }

    /// The outcome of one call: when it was sent, or why it was not.
    private enum Outcome: Equatable {
        case went(at: Duration)
        case held(retryAfter: Duration?)
        case cancelled
    }

    /// One call. Its outcome is `nil` while it waits, so that an incorrect test fails instead of hanging.
    private final class Attempt: Sendable {
        private let state = Mutex<(outcome: Outcome?, task: Task<Void, Never>?)>((nil, nil))

        var outcome: Outcome? { state.withLock(\.outcome) }

        func cancel() { state.withLock(\.task)?.cancel() }

        func run(on executor: SteppedExecutor, _ body: @escaping @Sendable () async -> Outcome) {
            let task = Task(executorPreference: executor) {
                let outcome = await body()
                self.state.withLock { $0.outcome = outcome }
            }
            state.withLock { $0.task = task }
        }
    }

    /// Starts a call that may wait.
    private func start(
        _ throttler: Throttler,
        waitingUpTo longest: Duration = .seconds(1_000),
        timeout: Duration = .seconds(1_000),
        response: @escaping @Sendable () async throws -> HTTPResponse = { HTTPResponse(status: .ok) }
    ) -> Attempt {
        let middleware = ThrottleMiddleware(throttler, waitingUpTo: longest)
        let (clock, request, attempt) = (clock, request, Attempt())
        attempt.run(on: executor) {
            let went = Mutex<Duration?>(nil)
            do {
                _ = try await middleware.intercept(request, body: nil, context: CallContext(timeout: timeout)) { _, _ in
                    went.withLock { $0 = clock.now.offset }
                    return (try await response(), ResponseBody())
                }
            } catch let error as APIError {
                return .held(retryAfter: error.retryAfter)
            } catch {}
            return went.withLock(\.self).map { .went(at: $0) } ?? .cancelled
        }
        return attempt
    }

    @Test("Admits callers in order of arrival, each at its first possible instant")
    func fifo() async throws {
        let throttler = throttler()
        var tasks: [Attempt] = []
        for _ in 0..<7 {
            tasks.append(start(throttler))
            executor.drain()
            clock.advance(by: .seconds(1))
        }
        #expect(throttler.status(of: endpoint).waiting == 5)
        #expect(clock.sleeperCount == 1, "only the first sleeps on the clock")
        executor.run(clock, until: .seconds(1_000))
        #expect(tasks.map(\.outcome) == [0, 1, 60, 61, 120, 121, 180].map { .went(at: .seconds($0)) })
        #expect(throttler.status(of: endpoint).waiting == 0)
    }

    @Test("Refuses a turn past the deadline at once with the true wait")
    func deadline() async throws {
        let throttler = throttler()
        for _ in 0..<2 { _ = start(throttler) }
        executor.drain()
        let waits = start(throttler, timeout: .seconds(60))
        executor.drain()
        #expect(throttler.status(of: endpoint).waiting == 1)
        for (longest, timeout) in [(59, 1_000), (1_000, 59), (0, 1_000)] {
            let late = start(throttler, waitingUpTo: .seconds(longest), timeout: .seconds(timeout))
            executor.drain()
            #expect(late.outcome == .held(retryAfter: .seconds(60)))
        }
        let third = start(throttler)
        let fourth = start(throttler, timeout: .seconds(100))
        executor.drain()
        #expect(fourth.outcome == .held(retryAfter: .seconds(120)), "two are before it")
        #expect(try await throttler.decide(endpoint).wait == .seconds(120), "nor does anyone overtake")
        executor.run(clock, until: .seconds(1_000))
        #expect(waits.outcome == .went(at: .seconds(60)))
        #expect(third.outcome == .went(at: .seconds(60)))
    }

    @Test("A canceled caller consumes nothing, and the next one moves up")
    func cancellation() async throws {
        let throttler = throttler()
        let tasks = (0..<6).map { _ in
            let task = start(throttler)
            executor.drain()
            return task
        }
        for place in [2, 4] { tasks[place].cancel() }
        executor.drain()
        #expect(throttler.status(of: endpoint).waiting == 2)
        executor.run(clock, until: .seconds(60))
        #expect(tasks[2].outcome == .cancelled)
        #expect(tasks[3].outcome == .went(at: .seconds(60)))
        #expect(tasks[5].outcome == .went(at: .seconds(60)))
        let early = start(throttler)
        early.cancel()
        executor.drain()
        #expect(early.outcome == .cancelled)
        #expect(clock.sleeperCount == 0 && throttler.status(of: endpoint).count == 2)
    }

    @Test("The queue is bounded")
    func full() async throws {
        let throttler = throttler(2, waiters: 3)
        let tasks = (0..<6).map { _ in
            let task = start(throttler)
            executor.drain()
            return task
        }
        #expect(tasks[5].outcome == .held(retryAfter: .seconds(120)))
        #expect(throttler.status(of: endpoint).waiting == 3)
        executor.run(clock, until: .seconds(1_000))
        #expect(tasks.dropLast().map(\.outcome) == [0, 0, 60, 60, 120].map { .went(at: .seconds($0)) })
    }

    @Test("When the server sends a delay, refuses callers whose turn is now too late")
    func blocked() async throws {
        let throttler = throttler()
        let clock = clock
        _ = start(throttler) {
            try await clock.sleep(for: .seconds(1))
            return HTTPResponse(status: .tooManyRequests, headerFields: [.retryAfter: "200"])
        }
        executor.drain()
        _ = start(throttler)
        executor.drain()
        let (patient, hasty, first) = (start(throttler), start(throttler, waitingUpTo: .seconds(100)), start(throttler))
        executor.drain()
        #expect(throttler.status(of: endpoint).waiting == 3)
        executor.run(clock, until: .seconds(1))
        let told = hasty.outcome
        #expect(told == .held(retryAfter: .seconds(200)))
        executor.run(clock, until: .seconds(1_000))
        #expect(patient.outcome == .went(at: .seconds(201)))
        let last = first.outcome
        #expect(last == .went(at: .seconds(201)))
    }

    @Test("Uses a slot that becomes free earlier than expected at once")
    func earlier() async throws {
        let throttler = throttler(100)
        let told = try [#require(HTTPField.Name("RateLimit-Policy")): #""a";q=2;w=60"#] as HTTPFields
        let clock = clock
        _ = start(throttler) { HTTPResponse(status: .ok, headerFields: told) }
        executor.drain()
        _ = start(throttler) {
            try await clock.sleep(for: .seconds(3))
            throw TransportError(.unreachable, message: "x", wasSent: false)
        }
        executor.drain()
        let waiter = start(throttler)
        executor.run(clock, until: .seconds(3))
        #expect(waiter.outcome == .went(at: .seconds(3)), "the call in flight never reached the server")
    }

    @Test("A reset admits the queued callers")
    func reset() async throws {
        let throttler = throttler()
        let tasks = (0..<4).map { _ in start(throttler) }
        executor.drain()
        try await throttler.reset(endpoint)
        executor.drain()
        for task in tasks { #expect(task.outcome == .went(at: .zero)) }
    }

    @Test("10,000 random cancellations leave no waiter or sleeper and consume nothing")
    func churn() async throws {
        var generator = SplitMix64(seed: 3)
        let throttler = throttler(3, waiters: 50)
        var (open, all): ([Attempt], [Attempt]) = ([], [])
        var cancelled = 0
        while cancelled < 10_000 {
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<5:
                let task = start(throttler, waitingUpTo: .seconds(Int.random(in: 0...600, using: &generator)))
                open.append(task)
                all.append(task)
            case 5..<9:
                guard let place = open.indices.randomElement(using: &generator) else { continue }
                open.swapAt(place, open.count - 1)
                open.removeLast().cancel()
                cancelled += 1
            default: clock.advance(by: .seconds(Int.random(in: 0...20, using: &generator)))
            }
            if Bool.random(using: &generator) { executor.drain() }
        }
        for task in open { task.cancel() }
        executor.drain()
        #expect(throttler.status(of: endpoint).waiting == 0)
        #expect(clock.sleeperCount == 0)
        var went: [Duration] = []
        for task in all {
            if case .went(let instant) = task.outcome { went.append(instant) }
        }
        went.sort()
        #expect(went.count > 500)
        #expect(zip(went, went.dropFirst(3)).allSatisfy { $1 - $0 >= .seconds(60) })
        clock.advance(by: .seconds(60))
        #expect(throttler.status(of: endpoint).remaining == 3)
    }

    @Test("Cancellations from other threads during turns leave nothing behind either")
    func race() async throws {
        let throttler = throttler(5, waiters: 1_000)
        let middleware = ThrottleMiddleware(throttler, waitingUpTo: .seconds(10_000))
        let clock = clock
        for round in 0..<20 {
            let tasks = (0..<50).map { _ in
                Task {
                    try await middleware.intercept(request, body: nil, context: CallContext(timeout: .seconds(10_000))) { _, _ in
                        (HTTPResponse(status: .ok), ResponseBody())
                    }
                }
            }
            await withTaskGroup(of: Void.self) { group in
                for (place, task) in tasks.enumerated() where place % 3 != round % 3 { group.addTask { task.cancel() } }
                group.addTask { clock.advance(by: .seconds(60)) }
            }
            for task in tasks { task.cancel() }
            for task in tasks { _ = await task.result }
            #expect(throttler.status(of: endpoint).waiting == 0)
            #expect(clock.sleeperCount == 0)
            clock.advance(by: .seconds(60))
        }
    }
}
