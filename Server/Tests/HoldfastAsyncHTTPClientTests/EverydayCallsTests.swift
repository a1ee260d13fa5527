import HoldfastAsyncHTTPClient
import HoldfastTesting
import Testing

@Suite("What apps do every day, over AsyncHTTPClient", .timeLimit(.minutes(10))) struct EverydayCallsTests {
    @Test("Is done as the documentation says", arguments: EverydayTasks.calls)
    func does(_ task: TransportCheck) async throws {
        try await task.run(AsyncHTTPClientTransport())
    }
}
