import DataServerTesting
import Foundation
import HoldfastTesting
import Logging
import RateLimiting
import Synchronization
import Testing
import Timekeeping
import ValkeyDriver

@testable import ValkeyStores

/// Servers that share limits, and a time that advances for all of them only when a test moves it.
final class SharedLimits: Sendable {
    /// The limit of a wait. It only ends a test that would otherwise hang.
    static let patience = Duration.seconds(60)

    let server: ValkeyServer
    /// The same secret in each run. The digests under a secret determine which keys share a counter of changes (``KnownRefusals``).
    let secret = KeySecret(bytes: 1...16) ?? KeySecret()
    private let time = Mutex<Duration>(.seconds(1_780_000_000))
    private let processes = Mutex<[Process]>([])

    /// The limits of one server, with a separate clock.
    struct Process: Sendable {
        let client: ValkeyClient
        let store: ValkeyRateLimitStore<OffsetClock>
        let clock: OffsetClock
    }

    private init(server: ValkeyServer) {
        self.server = server
    }

    /// Runs Redis for the duration of a closure.
    static func run<Result>(_ options: [String] = [], _ body: (SharedLimits) async throws -> Result) async throws -> Result {
        try await ValkeyServer.run(options) { server in
            let limits = SharedLimits(server: server)
            do {
                let result = try await body(limits)
                await limits.close()
                return result
            } catch {
                await limits.close()
                throw error
            }
        }
    }

    /// Starts a server.
    /// - Parameters:
    ///   - deadline: The maximum duration of a decision. It is long, since tests share the machine with others.
    ///   - hasRealTime: Whether limits use the clock of Redis, and the process a clock that advances by itself.
    func start(
        _ rules: [RateLimitRule],
        fallbacks: [String: ValkeyFallback] = [:],
        fallback: ValkeyFallback = .local(share: 0.5),
        deadline: Duration = patience,
        hasRealTime: Bool = false
    ) async throws -> Process {
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        let client = ValkeyClient(address: try ValkeyAddress(url: server.url), scripts: LimitScript.all, logger: logger)
        let clock = OffsetClock(isReal: hasRealTime)
        let store = ValkeyRateLimitStore(
            rules,
            client: client,
            secret: secret,
            fallbacks: fallbacks,
            fallback: fallback,
            deadline: deadline,
            clock: clock,
            time: { [self] in hasRealTime ? 0 : time.withLock { $0.wholeNanosecondsRoundedUp / 1_000 } },
            logger: logger
        )
        let process = Process(client: client, store: store, clock: clock)
        processes.withLock { $0.append(process) }
        try await client.waitUntilReady(within: Self.patience)
        return process
    }

    /// Advances the time of Redis and all servers.
    func pass(_ time: Duration) {
        self.time.withLock { $0 += time }
        for process in processes.withLock({ $0 }) { process.clock.pass(time) }
    }

    /// Steps the clock of Redis without affecting the servers.
    func stepServer(by step: Duration) { time.withLock { $0 += step } }

    private func close() async {
        for process in processes.withLock({ $0 }) { await process.store.close() }
    }
}

/// A clock that a test moves, and that can also advance by itself.
final class OffsetClock: Clock {
    typealias Instant = ContinuousClock.Instant

    private let start = ContinuousClock.now
    private let isReal: Bool
    private let offset = Mutex<Duration>(.zero)

    init(isReal: Bool) {
        self.isReal = isReal
    }

    var now: Instant { (isReal ? .now : start) + offset.withLock { $0 } }
    var minimumResolution: Duration { .nanoseconds(1) }

    func pass(_ time: Duration) { offset.withLock { $0 += time } }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await ContinuousClock().sleep(until: deadline - offset.withLock { $0 }, tolerance: tolerance)
    }
}
