import ClientMetrics
import Foundation
import HTTPTypes
import HoldfastTesting
import MetricsTestKit
import OfflineQueue
import ResilientHTTP
import Testing
import Timekeeping

@Suite(.timeLimit(.minutes(5))) struct QueueMetricsTests {
    private let metrics = TestMetrics()

    /// Opens a queue whose server responds from a script, runs a closure, and reports its events until one is counted.
    private func report(
        _ steps: [ScriptedTransport.Step],
        until last: (event: String, reason: String),
        _ body: (OfflineQueue) async throws -> Void
    ) async throws {
        let folder = URL.temporaryDirectory.appending(path: "m\(UInt32.random(in: 0 ... .max))")
        defer { try? FileManager.default.removeItem(at: folder) }
        let client = APIClient(
            baseURL: try #require(URL(string: "https://api.example.org")),
            transport: ScriptedTransport(steps),
            middleware: [RetryMiddleware(.never)],
            environment: ClientEnvironment(clock: MonotonicClock(ManualClock()), chance: { 1 })
        )
        var options = OfflineQueue.Options()
        // The role of the sender must not end on a busy machine: it is renewed on the clock of the test.
        options.lease = .seconds(3_600)
        let queue = try await OfflineQueue.open(folder, client: client, options: options)
        let reporter = QueueMetrics(queue, factory: metrics)
        try await body(queue)
        let run = Task { await reporter.run() }
        for _ in 0..<60_000 where (try? count(last.event, last.reason)) == nil { try await Task.sleep(for: .milliseconds(1)) }
        run.cancel()
        await run.value
    }

    private func count(_ event: String, _ reason: String = "none") throws -> Int64 {
        try metrics.expectCounter("offline_queue_events", [("event", event), ("reason", reason)]).totalValue
    }

    @Test("Counts the events of a queue, and reports its size")
    func counts() async throws {
        let lost = ScriptedTransport.Step.failure(TransportError(.connectionLost, message: "", wasSent: true))
        try await report([.response(status: 200), .response(status: 404), lost], until: ("failed", "network")) { queue in
            for number in 1...3 { try await queue.enqueue(.post, "/secret/\(number)", ["a": "b"]) }
            await queue.drain()
        }
        #expect(try count("queued") == 3 && count("sending") == 3 && count("delivered") == 1)
        #expect(try count("dead_lettered", "refused") == 1 && count("failed", "network") == 1)
        #expect(try metrics.expectMeter("offline_queue_pending").lastValue == 1)
        #expect(try metrics.expectMeter("offline_queue_dead_letters").lastValue == 1)
        #expect(try (metrics.expectMeter("offline_queue_bytes").lastValue ?? 0) > 0)
        let labels = metrics.counters.flatMap { $0.dimensions.map(\.1) }
        #expect(!labels.contains { $0.contains("secret") || $0.contains("example") })
    }

    @Test("Counts the events that a slow reader missed")
    func missed() async throws {
        try await report([], until: ("missed", "none")) { queue in
            for number in 1...300 { try await queue.enqueue(.post, "/a/\(number)", ["a": "b"]) }
        }
        #expect(try count("queued") == 256 && count("missed") == 44)
        #expect(try metrics.expectMeter("offline_queue_pending").lastValue == 300)
    }
}
