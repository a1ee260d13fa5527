import HoldfastAsyncHTTPClient
import HoldfastTesting
import Testing

@Suite("Everyday calls over AsyncHTTPClient", .timeLimit(.minutes(10))) struct EverydayCallsTests {
    @Test("Calls", arguments: EverydayTasks.calls)
    func does(_ task: TransportCheck) async throws {
        try await task.run(AsyncHTTPClientTransport())
    }
}
