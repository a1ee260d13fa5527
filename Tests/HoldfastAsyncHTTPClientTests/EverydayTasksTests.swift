import Foundation
import HoldfastAsyncHTTPClient
import HoldfastTesting
import Testing

@Suite("Everyday tasks over AsyncHTTPClient", .timeLimit(.minutes(10))) struct EverydayTasksTests {
    @Test("Streaming", arguments: EverydayTasks.streaming)
    func streaming(_ task: TransportCheck) async throws {
        try await task.run(AsyncHTTPClientTransport())
    }
}

/// `MEASURE_MEMORY=1 swift test --traits Server --filter HoldfastAsyncHTTPClientTests.StreamingMemoryTests`; no other test may run in the
/// process.
@Suite(
    "Memory in use while 200 MB are transferred over AsyncHTTPClient",
    .enabled(if: ProcessInfo.processInfo.environment["MEASURE_MEMORY"] != nil)
) struct StreamingMemoryTests {
    @Test("Grows by at most 8 MB")
    func flat() async throws {
        let growth = try #require(try await EverydayTasks.memoryGrowth(AsyncHTTPClientTransport()))
        print("upload: \(growth.upload / 1_024) KB, download: \(growth.download / 1_024) KB")
        #expect(growth.upload <= 8 * 1_024 * 1_024 && growth.download <= 8 * 1_024 * 1_024, "\(growth)")
    }
}
