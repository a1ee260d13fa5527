import Foundation
import Logging
import RateLimiting
import Synchronization
import ValkeyDriver
import ValkeyStores

/// Measures how long decisions take while the server is stopped for 3 s, and how soon it is used again afterwards.
enum Faults {
    static func run(_ address: ValkeyAddress, server: Int32, rounds: Int) async throws {
        let logger = Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() }
        let client = ValkeyClient(
            address: address,
            scripts: ValkeyRateLimitStore<ContinuousClock>.scripts,
            logger: logger
        )
        try await client.waitUntilReady(within: .seconds(5))
        let store = ValkeyRateLimitStore(
            BenchValkey.rules,
            client: client,
            secret: KeySecret(),
            clock: ContinuousClock(),
            logger: logger
        )
        for _ in 0..<rounds {
            let slow = SlowDecisions()
            try await withThrowingTaskGroup { group in
                for _ in 0..<8 {
                    group.addTask {
                        while !slow.isEnding {
                            let start = ContinuousClock.now
                            _ = try await store.admit([RateLimitClaim("a", key: Int.random(in: 0..<1_000))])
                            slow.note(ContinuousClock.now - start)
                            try await Task.sleep(for: .microseconds(500))
                        }
                    }
                }
                try await Task.sleep(for: .seconds(1))
                let before = slow.take()
                kill(server, SIGSTOP)
                try await Task.sleep(for: .seconds(3))
                kill(server, SIGCONT)
                let resumed = ContinuousClock.now
                try await client.waitUntilReady(within: .seconds(5))
                let returned = ContinuousClock.now - resumed
                let during = slow.take()
                slow.end()
                try await group.waitForAll()
                print("running: \(before); stopped: \(during); used again after \(milliseconds(returned)) ms")
            }
        }
        await store.close()
    }

    fileprivate static func milliseconds(_ duration: Duration) -> String {
        String(format: "%.1f", duration / .milliseconds(1))
    }
}

private final class SlowDecisions: Sendable {
    private let waits = Mutex<[Duration]>([])
    private let hasEnded = Atomic(false)

    var isEnding: Bool { hasEnded.load(ordering: .relaxed) }

    func end() { hasEnded.store(true, ordering: .relaxed) }

    func note(_ wait: Duration) { waits.withLock { $0.append(wait) } }

    /// The number of decisions since the last call, and the longest ones.
    func take() -> String {
        let sorted = waits.withLock { waits in
            defer { waits = [] }
            return waits.sorted()
        }
        guard let longest = sorted.last else { return "no decisions" }
        let late = sorted[sorted.count * 999 / 1_000]
        return
            "\(sorted.count) decisions, 99.9 % within \(Faults.milliseconds(late)) ms, longest \(Faults.milliseconds(longest)) ms"
    }
}
