import ErrorContract
import HTTPTypes
import HoldfastTesting
import RateLimiting
import ResilientHTTP
import Synchronization
import Testing
import Timekeeping

@Suite struct OtherOriginTests {
    @Test(
        "Refusals of another origin after a redirect delay no call to the origin of the request",
        arguments: [503, 429, 500],
        [
            GateMiddleware(), BreakerMiddleware(BreakerRules(failuresInARow: 2, patience: .zero)),
            ThrottleMiddleware(Throttler(clock: ManualClock())),
        ] as [any ClientMiddleware]
    )
    func refusals(status: Int, middleware: any ClientMiddleware) async throws {
        let transport = OtherOriginTransport(status: status, headers: [.retryAfter: "30", .rateLimit: "\"a\";r=0;t=30"])
        let client = try makeClient(transport, middleware: [middleware])
        for _ in 0..<5 {
            let error = await failure { _ = try await client.send(.get, "/a") }
            #expect(error?.status == status && error?.isFromOtherOrigin == true && error?.hold == nil)
        }
        #expect(transport.count.withLock(\.self) == 5)
    }

    @Test("Limits that another origin reports after a redirect don't apply to the endpoint")
    func limits() async throws {
        let transport = OtherOriginTransport(status: 200, headers: [.rateLimit: "\"a\";r=0;t=30"])
        let client = try makeClient(transport, middleware: [ThrottleMiddleware(Throttler(clock: ManualClock()))])
        for _ in 0..<3 { _ = try await client.send(.get, "/a") }
        #expect(transport.count.withLock(\.self) == 3)
    }
}

/// Responds like a transport that followed a redirect to another origin.
final class OtherOriginTransport: HTTPTransport {
    let count = Mutex(0)
    private let response: HTTPResponse

    init(status: Int, headers: HTTPFields) {
        response = HTTPResponse(status: .init(code: status), headerFields: headers)
    }

    func send(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
        count.withLock { $0 += 1 }
        var body = ResponseBody()
        body.isFromOtherOrigin = true
        return (response, body)
    }
}
