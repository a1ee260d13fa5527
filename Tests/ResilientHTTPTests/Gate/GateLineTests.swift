import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import Synchronization
import Testing
import Timekeeping

@testable import ResilientHTTP

/// Calls at a gate that is opening, on a clock that jumps from deadline to deadline.
@Suite struct GateLineTests {
    private let clock = ManualClock()
    private let executor = SteppedExecutor()
    private let gate = GateMiddleware()

    /// Returns a client whose server responds to its first request at once and to the next after a while.
    private func client(
        _ statuses: [Int],
        delay: Duration = .milliseconds(100),
        middleware: [any ClientMiddleware]? = nil
    ) throws -> (APIClient, SlowServer) {
        let server = SlowServer(clock, statuses: statuses, delay: delay)
        let client = APIClient(
            baseURL: try #require(URL(string: "https://api.example.org")),
            transport: server,
            middleware: middleware ?? [gate],
            environment: ClientEnvironment(clock: MonotonicClock(clock), chance: { 0 })
        )
        return (client, server)
    }

    private func call(_ client: APIClient) -> Outcome<Int> {
        Outcome(on: executor) { try await client.send(.get, "/a").response.status.code }
    }

    /// Makes the server refuse the first request, and advances the clock until the gate opens.
    private func close(_ client: APIClient) {
        _ = call(client)
        executor.run(clock, until: .seconds(6))
        clock.advance(by: .seconds(6) - clock.now.offset)
    }

    @Test("While a gate opens, calls wait for the probe, and proceed after its success")
    func success() throws {
        let (client, server) = try client([503] + Array(repeating: 200, count: 10), delay: .milliseconds(100))
        close(client)
        let calls = (0..<8).map { _ in call(client) }
        executor.drain()
        #expect(server.instants.count == 2 && gate.waiting == 7)
        executor.run(clock, until: .milliseconds(6_100))
        #expect(server.instants.count == 4, "two by two")
        executor.run(clock, until: .seconds(20))
        #expect(calls.allSatisfy { $0.isOver && $0.error == nil } && gate.waiting == 0)
        #expect(server.mostAtOnce <= 5)
    }

    @Test("If the probe is refused, queued calls fail at once with the new time, unsent")
    func refusal() throws {
        let (client, server) = try client([503, 503])
        close(client)
        let calls = (0..<8).map { _ in call(client) }
        executor.run(clock, until: .milliseconds(6_200))
        #expect(calls[1...].allSatisfy { $0.error?.kind == .unavailable && $0.error?.retryAfter == .seconds(10) })
        #expect(calls[0].error?.status == 503 && calls[0].error?.hold?.isProbe == true)
        #expect(server.instants.count == 2 && gate.waiting == 0)
    }

    @Test("A call waits at most 2 s for a silent server")
    func silence() throws {
        let (client, server) = try client([503, 200], delay: .milliseconds(3_000))
        close(client)
        _ = call(client)
        executor.drain()
        let late = call(client)
        executor.run(clock, until: .milliseconds(7_999))
        #expect(!late.isOver)
        executor.run(clock, until: .milliseconds(8_000))
        #expect(late.error?.kind == .unavailable && late.error?.retryAfter == .seconds(1))
        #expect(server.instants.count == 2 && gate.waiting == 0)
    }

    @Test("A canceled call leaves the queue at once, and the queue is bounded")
    func bounded() throws {
        var rules = GateRules()
        rules.maximumWaiters = 64
        let gate = GateMiddleware(rules)
        let (client, _) = try client([503, 200] + Array(repeating: 200, count: 200), middleware: [gate])
        close(client)
        let calls = (0..<100).map { _ in call(client) }
        executor.drain()
        #expect(gate.waiting == 64)
        #expect(calls.count { $0.error?.kind == .unavailable } == 100 - 1 - 64)
        for call in calls[1...10] { call.cancel() }
        executor.drain()
        #expect(calls[1...10].allSatisfy { $0.error?.kind == .cancelled } && gate.waiting == 54)
        executor.run(clock, until: .seconds(60))
        #expect(calls.allSatisfy(\.isOver) && gate.waiting == 0 && clock.sleeperCount == 0)
    }

    @Test("A refused call waits once until its gate opens, and is then the probe")
    func oneWait() throws {
        let server = SlowServer(clock, statuses: [503, 200], delay: .zero)
        let client = APIClient(
            baseURL: try #require(URL(string: "https://api.example.org")),
            transport: server,
            middleware: [RetryMiddleware(), gate],
            environment: ClientEnvironment(clock: MonotonicClock(clock), chance: { 1 })
        )
        let first = call(client)
        executor.run(clock, until: .seconds(20))
        #expect(first.error == nil && first.isOver)
        #expect(server.instants == [.zero, .seconds(8)])
    }

    @Test("Trap: does not repeat a refused probe, which would overload a refusing server")
    func refusedAgain() throws {
        let heard = ReasonListener()
        let (silent, server) = try self.client(
            Array(repeating: 503, count: 10),
            delay: .zero,
            middleware: [RetryMiddleware(), gate]
        )
        var client = silent
        client.listeners = [heard]
        let first = call(client)
        executor.run(clock, until: .seconds(60))
        #expect(first.error?.status == 503 && first.error?.attempts == 2)
        #expect(server.instants == [.zero, .seconds(6)] && heard.reasons == [.refusedAgain])
        clock.advance(by: .seconds(60))
        let second = call(client)
        executor.run(clock, until: .seconds(120))
        #expect(second.error?.attempts == 1 && server.instants.count == 3)
    }
}

/// Responds with scripted statuses, the first time at once and then after a while. A 503 names 2 s.
private final class SlowServer: HTTPTransport {
    private struct State {
        var statuses: [Int]
        var instants: [Duration] = []
        var running = 0
        var mostAtOnce = 0
    }

    private let clock: ManualClock
    private let delay: Duration
    private let state: Mutex<State>

    init(_ clock: ManualClock, statuses: [Int], delay: Duration) {
        (self.clock, self.delay) = (clock, delay)
        state = Mutex(State(statuses: statuses))
    }

    /// The instants of the requests, in order.
    var instants: [Duration] { state.withLock(\.instants) }
    /// The largest number of requests in flight.
    var mostAtOnce: Int { state.withLock(\.mostAtOnce) }

    func send(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
        let (status, isFirst) = state.withLock { state in
            state.instants.append(clock.now.offset)
            state.running += 1
            state.mostAtOnce = max(state.mostAtOnce, state.running)
            return (state.statuses.isEmpty ? 200 : state.statuses.removeFirst(), state.instants.count == 1)
        }
        defer { state.withLock { $0.running -= 1 } }
        do {
            if !isFirst, delay > .zero { try await clock.sleep(for: delay) }
        } catch {
            throw TransportError(.cancelled, message: "", wasSent: true)
        }
        guard status == 503 else { return (HTTPResponse(status: .init(code: status)), ResponseBody()) }
        return (HTTPResponse(status: .serviceUnavailable, headerFields: [.retryAfter: "2"]), ResponseBody())
    }
}

/// Records the reasons why calls were given up.
private final class ReasonListener: CallListener {
    private let heard = Mutex<[GiveUpReason]>([])
    var reasons: [GiveUpReason] { heard.withLock(\.self) }

    func hear(_ event: CallEvent) {
        if case .gaveUp(let reason) = event.kind { heard.withLock { $0.append(reason) } }
    }
}
