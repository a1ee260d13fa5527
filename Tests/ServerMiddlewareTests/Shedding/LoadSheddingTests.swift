import ErrorContract
import HTTPTypes
import HoldfastTesting
import Hummingbird
import MetricsTestKit
import Synchronization
import Testing

@testable import ServerMiddleware

@Suite(.timeLimit(.minutes(10))) struct LoadSheddingTests {
    /// A router with a route that a gate blocks, one that responds at once, and one without the limit.
    private struct Guarded {
        let clock = ManualClock()
        let metrics = TestMetrics()
        let gate = Gate()
        let shedding: LoadShedding
        let responder: any HTTPResponder<ReadingContext>

        init(limit: Int, waiting: Int = 0, refusalDelay: Duration = .zero, deadline: RequestDeadline? = nil) {
            shedding = LoadShedding(
                limit: limit,
                waiting: waiting,
                longestWait: .milliseconds(500),
                refusalDelay: refusalDelay,
                chance: { 0 },
                clock: clock,
                metrics: metrics
            )
            let router = ContractRouter(context: ReadingContext.self, deadline: deadline)
            router.get("/health") { _, _ in Response(status: .ok) }
            let middleware = LoadSheddingMiddleware<ReadingContext>(shedding) { request, _ in
                request.headers[.from] == nil ? .essential : .deferrable
            }
            router.group().add(middleware: middleware)
                .get("/slow") { [gate] _, _ in
                    await gate.pass()
                    return Response(status: .ok)
                }
                .get("/quick") { _, _ in Response(status: .ok) }
                .get("/busy") { _, _ -> Response in throw ContractError(.serverServiceUnavailable, retryAfter: .seconds(9)) }
                .get("/failing") { _, _ -> Response in throw ContractError(.resourceNotFound) }
            responder = router.buildResponder()
        }

        func get(_ path: String, isDeferrable: Bool = false) async throws -> CollectedResponse {
            let request = Request.make(.get, path, headers: isDeferrable ? [.from: "x"] : [:])
            return try await CollectedResponse(try await responder.respond(to: request, context: .make()))
        }

        func shed(_ reason: String) throws -> Int64 {
            try metrics.expectCounter("requests_shed", [("reason", reason)]).totalValue
        }

        func waitUntil(waiting: Int) async {
            while shedding.load.waiting != waiting { await Task.yield() }
        }
    }

    @Test("Refuses requests beyond the limit with 503 and a delay, except health checks")
    func full() async throws {
        let server = Guarded(limit: 2)
        async let first = server.get("/slow")
        async let second = server.get("/slow")
        for _ in 0..<2 { await server.gate.waitForArrival() }
        let refused = try await server.get("/quick")
        #expect(refused.status == .serviceUnavailable && refused[header: "X-Error-Code"] == "SERVER_SERVICE_UNAVAILABLE")
        #expect(refused[header: "Retry-After"] == "1")
        #expect(try await server.get("/health").status == .ok)
        #expect(try server.shed("full") == 1)
        server.gate.open()
        #expect(try await [first.status, second.status] == [.ok, .ok])
        #expect(try await server.get("/quick").status == .ok)
        #expect(server.shedding.load == (0, 0))
    }

    @Test("A few requests wait for capacity and are admitted in order")
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

    @Test("Refuses a request that waits too long, and its slot stays free")
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

    @Test("The delay of a refusal is its place in the line by the measured rate")
    func delays() async throws {
        let server = Guarded(limit: 2)
        async let first = server.get("/slow")
        async let second = server.get("/slow")
        for _ in 0..<2 { await server.gate.waitForArrival() }
        // Without measurements each place takes 100 ms, at 20 requests per second.
        var delays: [String?] = []
        for _ in 0..<45 { delays.append(try await server.get("/quick")[header: "Retry-After"]) }
        #expect(delays == (0..<45).map { "\($0 / 20 + 1)" })
        server.gate.open()
        #expect(try await [first.status, second.status] == [.ok, .ok])
    }

    @Test("Deferrable requests get half of the slots, and are refused first")
    func priorities() async throws {
        let server = Guarded(limit: 4)
        async let low: [CollectedResponse] = [try await server.get("/slow", isDeferrable: true)]
        async let low2: [CollectedResponse] = [try await server.get("/slow", isDeferrable: true)]
        for _ in 0..<2 { await server.gate.waitForArrival() }
        #expect(try await server.get("/quick", isDeferrable: true).status == .serviceUnavailable)
        #expect(try await server.get("/quick").status == .ok)
        async let high = server.get("/slow")
        async let high2 = server.get("/slow")
        for _ in 0..<2 { await server.gate.waitForArrival() }
        #expect(try await server.get("/quick").status == .serviceUnavailable)
        server.gate.open()
        _ = try await (low, low2, high, high2)
        #expect(server.shedding.load == (0, 0))
    }

    @Test("Serves a waiting essential request before deferrable ones")
    func order() {
        var limit = InFlightLimit<String>(1, waiting: 4)
        func enter(_ name: String, _ priority: RequestPriority) {
            _ = limit.enter(priority, from: { nil }, at: .zero, chance: { 0 }) { name }
        }
        func finish(_ priority: RequestPriority) -> String? {
            limit.finish(priority, isServed: true, at: .zero) { _ in true }
        }
        enter("running", .essential)
        for name in ["low 1", "low 2", "low 3"] { enter(name, .deferrable) }
        for name in ["high 1", "high 2"] { enter(name, .essential) }
        #expect(limit.waiting == 4, "deferrable requests wait in half of the places")
        var order: [String] = []
        var priority = RequestPriority.essential
        while let next = finish(priority) {
            order.append(next)
            priority = next.hasPrefix("low") ? .deferrable : .essential
        }
        #expect(order == ["high 1", "high 2", "low 1", "low 2"])
        #expect(limit.running == 0 && limit.waiting == 0)
    }

    @Test("Delays a response with 503, which takes no slot meanwhile")
    func refusalDelay() async throws {
        let server = Guarded(limit: 1, refusalDelay: .milliseconds(500))
        async let busy = server.get("/busy")
        await server.clock.waitForSleepers()
        #expect(server.shedding.load == (0, 0))
        server.clock.advance(by: .milliseconds(500))
        let ofRoute = try await busy
        #expect(ofRoute.status == .serviceUnavailable && ofRoute[header: "Retry-After"] == "9")
        async let slow = server.get("/slow")
        await server.gate.waitForArrival()
        async let refused = server.get("/quick")
        await server.clock.waitForSleepers()
        server.clock.advance(by: .milliseconds(500))
        #expect(try await refused.status == .serviceUnavailable)
        server.gate.open()
        #expect(try await slow.status == .ok)
    }

    @Test("A request canceled while it waits leaves the queue")
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

    @Test("The wait uses the route's time, and a route past its deadline uses a slot")
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

    @Test("A failing route frees its slot")
    func failing() async throws {
        let server = Guarded(limit: 1)
        for _ in 0..<3 { #expect(try await server.get("/failing").status == .notFound) }
        #expect(server.shedding.load == (0, 0))
    }

    /// Counts the concurrent routes and the maximum.
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

    @Test("Races of turns, deadlines and cancellations neither lose nor exceed slots")
    func races() async throws {
        let clock = ManualClock()
        let limit = LoadShedding(limit: 3, waiting: 20, longestWait: .milliseconds(10), clock: clock)
        let meter = Meter()
        for round in 0..<70 {
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<30 {
                    group.addTask {
                        let priority: RequestPriority = number.isMultiple(of: 2) ? .essential : .deferrable
                        let task = Task {
                            try? await limit.run(priority) {
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

    @Test("Limits of zero fail a precondition")
    func nothing() async {
        await #expect(processExitsWith: .failure) { _ = LoadShedding(limit: 0) }
        await #expect(processExitsWith: .failure) { _ = LoadShedding(limit: 1, waiting: -1) }
        await #expect(processExitsWith: .failure) { _ = LoadShedding(limit: 1, longestWait: .zero) }
    }
}
