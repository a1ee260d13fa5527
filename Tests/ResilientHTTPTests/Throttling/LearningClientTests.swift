import Foundation
import HTTPTypes
import HoldfastTesting
import RateLimiting
import ResilientHTTP
import Testing
import Timekeeping

@Suite struct LearningClientTests {
    /// Limits of the server that the client does not know. Its own policy is three times as generous.
    private static let hidden: [RateLimitPolicy] = [
        .requests(1, per: .seconds(20), name: "one"),
        .requests(5, per: .seconds(30), name: "five"),
        .requests(12, per: .seconds(60), name: "twelve"),
        .requests(30, per: .seconds(3_600), name: "hour"),
    ]

    @Test(
        "Learns a limit from headers, uses 97% of it, and at most 0.1% are refused",
        arguments: [1, 2, 5, 10, 32, 100]
    )
    func learns(callers: Int) async throws {
        for hidden in Self.hidden { try await Self.expectLearning(of: hidden, dialect: .draft10, callers: callers) }
    }

    @Test(
        "Learns also from older drafts and vendors' dialects with fewer facts",
        arguments: [LimitedServer.Dialect.draft7, .draft6, .vendor, .vendorInstant],
        [1, 10, 100]
    )
    func dialects(dialect: LimitedServer.Dialect, callers: Int) async throws {
        for hidden in Self.hidden {
            // An instant in whole seconds and a date in whole seconds differ by up to two seconds, which is too coarse for a
            // short window.
            if dialect == .vendorInstant, hidden.window < .seconds(120) { continue }
            try await Self.expectLearning(of: hidden, dialect: dialect, callers: callers)
        }
    }

    private static func expectLearning(of hidden: RateLimitPolicy, dialect: LimitedServer.Dialect, callers: Int) async throws {
        let log = try await log(of: hidden, dialect: dialect, callers: callers, seed: UInt64(callers))
        let later = log.filter { $0.instant >= hidden.window }
        let used = Double(later.count { $0.isAdmitted }) / Double(10 * hidden.quota)
        let refused = Double(later.count { !$0.isAdmitted }) / Double(later.count)
        #expect(used >= 0.97, "\(hidden.name), \(dialect)")
        #expect(refused <= 0.001, "\(hidden.name), \(dialect)")
    }

    /// Returns the calls that the server received in eleven windows.
    private static func log(
        of hidden: RateLimitPolicy,
        dialect: LimitedServer.Dialect,
        callers: Int,
        seed: UInt64
    ) async throws -> [(instant: Duration, isAdmitted: Bool)] {
        let (clock, executor) = (ManualClock(), SteppedExecutor())
        let span = Int64(hidden.window / .nanoseconds(1))
        let latency = span / 10_000...span / 200
        let server = LimitedServer(hidden, dialect: dialect, latency: latency, clock: clock, seed: seed)
        let own = ThrottlePolicy(others: .requests(3 * hidden.quota, per: hidden.window))
        let throttler = Throttler(policy: own, clock: clock, randomness: SplitMix64(seed: seed))
        let start = Date(timeIntervalSince1970: 1_762_252_200)
        let long = hidden.window * 100
        let middleware = ThrottleMiddleware(throttler, waitingUpTo: long)
        let client = APIClient(
            baseURL: try #require(URL(string: "https://api.example.org")),
            transport: server,
            timeout: long,
            middleware: [middleware],
            environment: ClientEnvironment(
                clock: MonotonicClock(clock),
                wallClock: { start.addingTimeInterval(clock.now.offset / .seconds(1)) }
            )
        )
        let end = hidden.window * 11
        let tasks = (0..<callers).map { _ in
            Task(executorPreference: executor) {
                while !Task.isCancelled, clock.now.offset < end { let _: Int? = try? await client.get("/api/things/17") }
            }
        }
        executor.run(clock, until: end - .nanoseconds(1))
        for task in tasks { task.cancel() }
        executor.drain()
        return server.log
    }
}
