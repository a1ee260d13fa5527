import Foundation
import HTTPTypes
import RateLimiting
import ResilientHTTP
import Testing

@Suite struct ThrottleKillTests {
    private static let endpoint = Endpoint(.get, "/api/activities")

    /// A process that may make ten calls an hour, and records each as a file before the next.
    private static func throttler(_ folder: String) -> Throttler {
        let policy = ThrottlePolicy(others: .requests(10, per: .seconds(3_600)))
        return Throttler(policy: policy, store: ThrottleFile(folder: URL(fileURLWithPath: folder)))
    }

    private static func call(_ throttler: Throttler, notingIn folder: String) async throws {
        guard try await throttler.decide(endpoint).isAllowed else { return }
        _ = FileManager.default.createFile(atPath: folder + "/sent-\(UUID().uuidString)", contents: nil)
    }

    @Test("Processes killed at random moments make no more calls together than one may")
    func killed() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "killed-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for life in 0..<8 {
            await #expect(processExitsWith: .signal(SIGKILL)) { [folder = folder as String, life = life as Int] in
                let throttler = Self.throttler(folder)
                try await Self.call(throttler, notingIn: folder)
                Thread {
                    usleep(UInt32(100 * life))
                    kill(getpid(), SIGKILL)
                }.start()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<3 {
                        group.addTask { while true { try await Self.call(throttler, notingIn: folder) } }
                    }
                    try await group.waitForAll()
                }
            }
        }
        func sent() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: folder).count { $0.hasPrefix("sent-") }
        }
        #expect(try (1...10).contains(sent()))
        let last = Self.throttler(folder)
        for _ in 0..<12 { try await Self.call(last, notingIn: folder) }
        #expect(try sent() <= 10)
    }
}
