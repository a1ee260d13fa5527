import ErrorContract
import HTTPTypes
import HoldfastTesting
import Hummingbird
import MetricsTestKit
import Synchronization
import Testing

@testable import ServerMiddleware

@Suite(.timeLimit(.minutes(1))) struct LoadSheddingTests {
    /// A router with a route that a gate holds, one that answers at once, and one beside the limit.
    private struct Guarded {
        let clock = ManualClock()
        let metrics = TestMetrics()
        let gate = Gate()
        let shedding: LoadShedding
        let responder: any HTTPResponder<ReadingContext>

        init(limit: Int, waiting: Int = 0, chance: @escaping @Sendable () -> Double = { 0 }, deadline: RequestDeadline? = nil) {
            shedding = LoadShedding(
                limit: limit,
                waiting: waiting,
                longestWait: .milliseconds(500),
                chance: chance,
                clock: clock,
                metrics: metrics
            )
            let router = ContractRouter(context: ReadingContext.self, deadline: deadline)
            router.get("/health") { _, _ in Response(status: .ok) }
            router.group().add(middleware: LoadSheddingMiddleware(shedding))
                .get("/slow") { [gate] _, _ in
                    await gate.pass()
                    return Response(status: .ok)
                }
                .get("/quick") { _, _ in Response(status: .ok) }
                .get("/failing") { _, _ -> Response in throw ContractError(.resourceNotFound) }
            responder = router.buildResponder()
        }

        func get(_ path: String) async throws -> Answer {
            try await Answer(try await responder.respond(to: .make(.get, path), context: .make()))
        }

        func shed(_ reason: String) throws -> Int64 {
            try metrics.expectCounter("requests_shed", [("reason", reason)]).totalValue
        }

        func waitUntil(waiting: Int) async {
            while shedding.load.waiting != waiting { await Task.yield() }
        }
    }

    @Test(
        "What is too much is refused with 503 and a wait, and counted; health is not",
        arguments: [(0.0, "1"), (0.5, "2"), (0.99, "3")]
    )
    func full(chance: Double, wait: String) async throws {
        let server = Guarded(limit: 2, chance: { chance })
        async let first = server.get("/slow")
        async let second = server.get("/slow")
        for _ in 0..<2 { await server.gate.waitForArrival() }
        let refused = try await server.get("/quick")
        #expect(refused.status == .serviceUnavailable && refused[header: "X-Error-Code"] == "SERVER_SERVICE_UNAVAILABLE")
        #expect(refused[header: "Retry-After"] == wait)
        #expect(try await server.get("/health").status == .ok)
        #expect(try server.shed("full") == 1)
        server.gate.open()
        #expect(try await [first.status, second.status] == [.ok, .ok])
        #expect(try await server.get("/quick").status == .ok)
        #expect(server.shedding.load == (0, 0))
    }

    @Test("A few wait for room and are let in as it comes, the first first")
    func line() async throws {
        let server = Guarded(limit: 1, waiting: 2)
        async let first = server.get("/slow")
        await server.gate.waitForArrival()
        async let second = server.get("/quick")
        await server.waitUntil(waiting: 1)
        async let third = server.get("/quick")
        await server.waitUntil(waiting: 2)
        #expect(try await server.get("/quick").status == .serviceUnavailable)
        server.gate.open()
        #expect(try await [first.status, second.status, third.status] == [.ok, .ok, .ok])
        #expect(server.shedding.load == (0, 0))
    }

    @Test("Who waits too long is refused, and the room is nobody's for it")
    func late() async throws {
        let server = Guarded(limit: 1, waiting: 1)
        async let first = server.get("/slow")
        await server.gate.waitForArrival()
        async let second = server.get("/quick")
        await server.waitUntil(waiting: 1)
        await server.clock.waitForSleepers()
        server.clock.advance(by: .milliseconds(500))
        let refused = try await second
        #expect(refused.status == .serviceUnavailable && refused[header: "Retry-After"] == "1")
        #expect(try server.shed("late") == 1)
        #expect(server.shedding.load == (1, 0))
        server.gate.open()
        _ = try await first
        #expect(server.shedding.load == (0, 0))
    }

    @Test("Who is cancelled while it waits leaves the line")
    func cancelled() async throws {
        let server = Guarded(limit: 1, waiting: 1)
        async let first = server.get("/slow")
        await server.gate.waitForArrival()
        let second = Task { try await server.get("/quick") }
        await server.waitUntil(waiting: 1)
        second.cancel()
        _ = try await second.value
        #expect(server.shedding.load == (1, 0))
        server.gate.open()
        _ = try await first
        #expect(server.shedding.load == (0, 0))
    }

    @Test("The wait counts as the route's time, and a route that goes on after it still counts as work")
    func deadline() async throws {
        let clock = ManualClock()
        let server = Guarded(limit: 1, waiting: 1, deadline: RequestDeadline(.milliseconds(400), clock: clock))
        async let first = server.get("/slow")
        await server.gate.waitForArrival()
        async let second = server.get("/quick")
        await server.waitUntil(waiting: 1)
        while clock.nextDeadline == nil { await Task.yield() }
        clock.advance(by: .milliseconds(400))
        #expect(try await [first.status, second.status] == [.gatewayTimeout, .gatewayTimeout])
        while server.shedding.load.waiting > 0 { await Task.yield() }
        #expect(server.shedding.load.running == 1)
        server.gate.open()
        while server.shedding.load.running > 0 { await Task.yield() }
    }

    @Test("A route that fails gives its room back")
    func failing() async throws {
        let server = Guarded(limit: 1)
        for _ in 0..<3 { #expect(try await server.get("/failing").status == .notFound) }
        #expect(server.shedding.load == (0, 0))
    }

    /// How many run at once, and how many ever did.
    private final class Meter: Sendable {
        private let state = Mutex((running: 0, most: 0))

        var most: Int { state.withLock(\.most) }

        func enter() {
            state.withLock { state in
                state.running += 1
                state.most = max(state.most, state.running)
            }
        }

        func leave() { state.withLock { $0.running -= 1 } }
    }

    @Test("In many races between turns, deadlines and cancellations no room is lost, and never are there too many")
    func races() async throws {
        let clock = ManualClock()
        let limit = InFlightLimit(3, waiting: 20, longestWait: .milliseconds(10), deadlines: Deadlines(clock: clock))
        let meter = Meter()
        for round in 0..<200 {
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<30 {
                    group.addTask {
                        let task = Task {
                            try? await limit.run {
                                meter.enter()
                                for _ in 0..<(number + round) % 7 { await Task.yield() }
                                meter.leave()
                            }
                        }
                        if number % 5 == round % 5 { task.cancel() }
                        await task.value
                    }
                }
                group.addTask {
                    for _ in 0..<10 {
                        clock.advance(by: .milliseconds(2))
                        await Task.yield()
                    }
                }
            }
            #expect(limit.load == (0, 0))
        }
        #expect(meter.most == 3)
    }

    @Test("Limits of nothing are a programmer's mistake")
    func nothing() async {
        await #expect(processExitsWith: .failure) { _ = LoadShedding(limit: 0) }
        await #expect(processExitsWith: .failure) { _ = LoadShedding(limit: 1, waiting: -1) }
        await #expect(processExitsWith: .failure) { _ = LoadShedding(limit: 1, longestWait: .zero) }
    }
}
