import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import RateLimiting
import Synchronization
import Testing
import Timekeeping

@testable import ResilientHTTP

@Suite("Cancellation anywhere in the pipeline", .timeLimit(.minutes(10))) struct PipelineCancellationTests {
    private let clock = ManualClock()
    private let gate = GateMiddleware()
    private let throttler: Throttler
    private let server: CapriciousServer
    private let session: Session
    private let client: APIClient

    init() throws {
        let (clock, server) = (clock, CapriciousServer(clock, seed: 11))
        var policy = ThrottlePolicy(others: .requests(20, per: .seconds(10)))
        policy.maximumWaiters = 1_000
        throttler = Throttler(policy: policy, clock: clock, randomness: SplitMix64(seed: 12))
        let wallClock: @Sendable () -> Date = { Date(timeIntervalSince1970: 1_762_252_200 + clock.now.offset / .seconds(1)) }
        let environment = ClientEnvironment(clock: MonotonicClock(clock), wallClock: wallClock)
        session = Session(
            store: MemoryCredentialStore(.number(1)),
            environment: environment,
            refresh: { try await server.refresh($0) }
        )
        self.server = server
        client = APIClient(
            baseURL: try #require(URL(string: "https://api.example.org")),
            transport: server,
            timeout: .seconds(60),
            session: session,
            middleware: ClientPipeline.standard(gate: gate, throttle: ThrottleMiddleware(throttler, waitingUpTo: .seconds(60))),
            environment: environment
        )
    }

    private static let rounds = ProcessInfo.processInfo.environment["HOLDFAST_ROUNDS"].flatMap { Int($0) } ?? 10_000
    private static let endpoints = (0..<4).map { "/word\($0)" }

    /// The places in the pipeline that some canceled calls had reached.
    private struct Places {
        var (transport, refresh, line, sleeping) = (0, 0, 0, 0)
    }

    private var waitingInLine: Int { throttler.statuses().reduce(0) { $0 + $1.waiting } }
    private var countedInFlight: Int { throttler.statuses().reduce(0) { $0 + $1.details.inFlight } }

    @Test("10,000 calls canceled at random leave no task, waiter, sleeper or slot")
    func churn() async throws {
        var random = SplitMix64(seed: 10)
        var (places, cancelled) = (Places(), 0)
        while cancelled < Self.rounds {
            let calls = (0..<100).map { number in
                let path = Self.endpoints[number % Self.endpoints.count]
                return Task { try await client.send(number.isMultiple(of: 3) ? .put : .get, path) }
            }
            for call in calls.shuffled(using: &random) {
                for _ in 0..<Int.random(in: 0...3, using: &random) { await Task.yield() }
                if Int.random(in: 0..<4, using: &random) == 0 {
                    clock.advance(by: .milliseconds(Int.random(in: 1...1_500, using: &random)))
                }
                places.transport = max(places.transport, server.inFlight)
                places.refresh = max(places.refresh, session.waiting)
                places.line = max(places.line, waitingInLine)
                places.sleeping = max(places.sleeping, clock.sleeperCount)
                call.cancel()
                cancelled += 1
            }
            // A lost continuation would block its task, and this loop, forever.
            for call in calls { _ = await call.result }
            try await quiet()
        }
        #expect(places.transport > 0 && places.refresh > 0 && places.line > 0 && places.sleeping > 0, "\(places)")
        #expect(server.cancelled > 0)
        try await recovers()
    }

    /// Waits until a refresh that outlives its callers has ended, and checks that nothing is left.
    private func quiet() async throws {
        while !session.isIdle {
            try Task.checkCancellation()
            clock.advance(by: .seconds(1))
            await Task.yield()
        }
        try #require(server.inFlight == 0)
        try #require(waitingInLine == 0 && countedInFlight == 0)
        try #require(clock.sleeperCount == 0)
    }

    /// A slot of a gate or circuit that a canceled call kept would block these calls forever.
    private func recovers() async throws {
        server.behave()
        clock.advance(by: .seconds(3_600))
        _ = try? await session.refreshNow()
        for _ in 0..<10 {
            for path in Self.endpoints {
                _ = try await client.send(.get, path)
                _ = try await client.send(.put, path)
            }
            clock.advance(by: .seconds(10))
        }
        #expect(gate.count == 0)
    }
}
