import ErrorContract
import HTTPTypes
import HoldfastTesting
import Hummingbird
import MetricsTestKit
import Testing

@testable import ServerMiddleware

@Suite(.timeLimit(.minutes(10))) struct RequestMetricsTests {
    @Test("A 504 at the client's own deadline does not count as an error of the server")
    func clientTimeout() async throws {
        let metrics = TestMetrics()
        let router = ContractRouter(
            context: ReadingContext.self,
            outermost: [RequestMetricsMiddleware<ReadingContext>(metrics: metrics)]
        )
        router.post("/hanging") { _, _ in
            try await ManualClock().sleep(until: .init(offset: .seconds(1)))
            return Response(status: .ok)
        }
        router.post("/failing") { _, _ in Response(status: .gatewayTimeout) }
        let responder = router.buildResponder()
        // The first request ends at its deadline. The deadline of the second request is an hour later than its response.
        for (path, milliseconds, status) in [("/hanging", "1", "client_timeout"), ("/failing", "3600000", "5xx")] {
            let request = Request.make(.post, path, headers: [.requestTimeout: milliseconds])
            let response = try await responder.respond(to: request, context: .make())
            #expect(response.status == .gatewayTimeout)
            let labels = [("method", "POST"), ("route", path), ("status", status)]
            #expect(try metrics.expectCounter("http_server_requests", labels).totalValue == 1)
        }
    }
}
