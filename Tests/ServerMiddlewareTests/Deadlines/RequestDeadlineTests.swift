import ErrorContract
import HTTPTypes
import HoldfastTesting
import Hummingbird
import Synchronization
import Testing

@testable import ServerMiddleware

@Suite(.timeLimit(.minutes(10))) struct RequestDeadlineTests {
    private func makeRouter(
        _ clock: ManualClock,
        _ route: @escaping @Sendable (Request, ReadingContext) async throws -> Response
    ) -> ContractRouter<ReadingContext> {
        let router = ContractRouter(context: ReadingContext.self, deadline: RequestDeadline(.seconds(30), clock: clock))
        router.post("/", use: route)
        return router
    }

    private func response(
        from router: ContractRouter<ReadingContext>,
        to request: Request = .make(.post)
    ) async throws -> CollectedResponse {
        try await CollectedResponse(try await router.buildResponder().respond(to: request, context: .make()))
    }

    @Test("A hanging route gets a 504 at its deadline, and its task is canceled")
    func hanging() async throws {
        let clock = ManualClock()
        let wasCancelled = Mutex(false)
        let router = makeRouter(clock) { _, _ in
            do {
                try await ManualClock().sleep(until: .init(offset: .seconds(1)))
            } catch {
                wasCancelled.withLock { $0 = true }
                throw error
            }
            return Response(status: .ok)
        }
        async let pending = response(from: router)
        await clock.waitForSleepers()
        clock.advance(by: .milliseconds(29_999))
        #expect(!wasCancelled.withLock { $0 })
        clock.advance(by: .milliseconds(1))
        let response = try await pending
        #expect(response.status == .gatewayTimeout)
        #expect(response[header: "X-Error-Code"] == "SERVER_TIMEOUT")
        #expect(response.headers[.connection] == "close")
        #expect(response.headers[.retryAfter] == nil)
        while !wasCancelled.withLock({ $0 }), !Task.isCancelled { await Task.yield() }
    }

    @Test("Does not wait for a route that ignores its cancellation")
    func deaf() async throws {
        let clock = ManualClock()
        let release = AsyncStream<Void>.makeStream()
        let ended = AsyncStream<Void>.makeStream()
        let router = makeRouter(clock) { _, _ in
            // A separate task is not affected by the cancellation.
            await Task { for await _ in release.stream {} }.value
            ended.continuation.finish()
            return Response(status: .ok)
        }
        async let pending = response(from: router)
        await clock.waitForSleepers()
        clock.advance(by: .seconds(30))
        #expect(try await pending.status == .gatewayTimeout)
        release.continuation.finish()
        for await _ in ended.stream {}
    }

    @Test("Passes on a response or error in time, and removes the deadline")
    func inTime() async throws {
        let clock = ManualClock()
        let router = makeRouter(clock) { request, _ in
            if request.uri.query != nil { throw ContractError(.resourceDeleted) }
            return Response(status: .created)
        }
        #expect(try await response(from: router).status == .created)
        #expect(try await response(from: router, to: .make(.post, "/?x")).status == .gone)
        clock.advance(by: .seconds(60))
        #expect(try await response(from: router).status == .created)
    }

    @Test("A shutdown cancels routes")
    func cancellation() async throws {
        let began = AsyncStream<Void>.makeStream()
        let router = makeRouter(ManualClock()) { _, _ in
            began.continuation.finish()
            try await ManualClock().sleep(until: .init(offset: .seconds(1)))
            return Response(status: .ok)
        }
        let task = Task { try await response(from: router) }
        for await _ in began.stream {}
        task.cancel()
        #expect(try await task.value.status == .internalServerError)
    }

    @Test("A thousand requests share one sleep, and each ends at its own deadline")
    func oneSleep() async throws {
        let clock = ManualClock()
        let deadlines = Deadlines(clock: clock)
        let fired = Mutex<[Int]>([])
        var ids: [UInt64] = []
        for number in 0..<1_000 {
            ids.append(deadlines.add(after: .seconds(1 + number % 10)) { fired.withLock { $0.append(number) } })
        }
        for (number, id) in ids.enumerated() where number % 2 == 0 { #expect(deadlines.remove(id)) }
        for second in 1...10 {
            await clock.waitForSleepers()
            #expect(clock.sleeperCount == 1)
            clock.advance(by: .seconds(1))
            // The last ones are odd; deadlines end at 2, 4, … seconds.
            let expected = 100 * (second / 2)
            while fired.withLock(\.count) < expected, !Task.isCancelled { await Task.yield() }
            #expect(fired.withLock(\.count) == expected)
        }
        #expect(deadlines.count == 0)
        #expect(fired.withLock { Set($0).count } == 500)
    }

    @Test("An earlier deadline that is added later wakes earlier")
    func earlier() async throws {
        let clock = ManualClock()
        let deadlines = Deadlines(clock: clock)
        let fired = Mutex<[String]>([])
        _ = deadlines.add(after: .seconds(30)) { fired.withLock { $0.append("late") } }
        await clock.waitForSleepers()
        _ = deadlines.add(after: .seconds(1)) { fired.withLock { $0.append("early") } }
        while clock.nextDeadline?.offset != .seconds(1), !Task.isCancelled { await Task.yield() }
        for (seconds, expected) in [(1, ["early"]), (29, ["early", "late"])] {
            clock.advance(by: .seconds(seconds))
            while fired.withLock(\.count) < expected.count, !Task.isCancelled { await Task.yield() }
            #expect(fired.withLock { $0 } == expected)
        }
    }

    @Test("A deadline that is added while another one passes leaves one sleeping task")
    func replacedWhileAwake() async throws {
        let clock = ObservedClock()
        let deadlines = Deadlines(clock: clock)
        @Sendable func addNext() { _ = deadlines.add(after: .seconds(10)) { addNext() } }
        addNext()
        for _ in 0..<50 {
            await clock.base.waitForSleepers()
            // The task reads the clock after its sleep, and again when it takes the deadlines that are due.
            clock.run(atRead: 2) { _ = deadlines.add(after: .seconds(-1)) {} }
            clock.base.advance(by: .seconds(10))
        }
        await clock.base.waitForSleepers()
        #expect(clock.sleeps == 51 && clock.base.sleeperCount == 1)
    }

    @Test("A time limit of zero fails a precondition")
    func noTime() async {
        await #expect(processExitsWith: .failure) { _ = RequestDeadline(.zero) }
    }

    @Test("Each race of a route's end and its deadline gives one response")
    func races() async throws {
        // Each pair of numbers of yields, three times.
        for round in 0..<105 {
            let clock = ManualClock()
            let router = makeRouter(clock) { _, _ in
                for _ in 0..<round % 7 { await Task.yield() }
                return Response(status: .ok)
            }
            async let pending = response(from: router)
            clock.advance(by: .seconds(31))
            for _ in 0..<round % 5 { await Task.yield() }
            clock.advance(by: .seconds(31))
            let status = try await pending.status
            #expect(status == .ok || status == .gatewayTimeout)
        }
    }
}

/// A manual clock that counts sleeps, and can run an action when it is read.
private final class ObservedClock: Clock {
    typealias Instant = ManualClock.Instant

    let base = ManualClock()
    private let state = Mutex<(readsBeforeAction: Int, action: (@Sendable () -> Void)?, sleeps: Int)>((0, nil, 0))

    var minimumResolution: Duration { base.minimumResolution }
    /// The number of calls of `sleep`.
    var sleeps: Int { state.withLock { $0.sleeps } }

    var now: Instant {
        let action = state.withLock { state -> (@Sendable () -> Void)? in
            state.readsBeforeAction -= 1
            return state.readsBeforeAction == 0 ? state.action : nil
        }
        action?()
        return base.now
    }

    /// Runs an action within the n-th call of `now` from now on.
    func run(atRead number: Int, _ action: @escaping @Sendable () -> Void) {
        state.withLock { ($0.readsBeforeAction, $0.action) = (number, action) }
    }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        state.withLock { $0.sleeps += 1 }
        try await base.sleep(until: deadline, tolerance: tolerance)
    }
}
