import HoldfastAsyncHTTPClient
import HoldfastTesting
import Testing

/// Uses real sockets, and a clock that runs four times as fast as real time.
@Suite("A failing refresh endpoint over AsyncHTTPClient", .timeLimit(.minutes(10))) struct RefreshStormTests {
    @Test(
        "Fails no call whose deadline allows a retry, and refreshes one at a time",
        arguments: RefreshStorm.Failure.allCases,
        [(1, 20), (3, 20), (2, 200)]
    )
    func recovers(failure: RefreshStorm.Failure, size: (failures: Int, calls: Int)) async throws {
        // 150 s of real time for busy machines. Another test covers the deadline of 30 s in simulated time.
        let report = try await RefreshStorm(failure, failures: size.failures, calls: size.calls)
            .run(over: AsyncHTTPClientTransport(), timeout: .seconds(600))
        #expect(report.errors.isEmpty, "\(report.errors.first.map { "\($0)" } ?? "")")
        #expect(report.refreshesAtOnce == 1 && report.refreshes > size.failures)
    }
}
