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
        "Refusals of another origin delay no call to the origin of the request",
        arguments: [503, 429, 500],
        [
            GateMiddleware(), BreakerMiddleware(BreakerRules(failuresInARow: 2, patience: .zero)),
            ThrottleMiddleware(Throttler(clock: ManualClock())),
        ] as [any ClientMiddleware]
    )
    func refusals(status: Int, middleware: any ClientMiddleware) async throws {
        let count = Mutex(0)
        let headers: HTTPFields = [.retryAfter: "30", .rateLimit: "\"a\";r=0;t=30"]
        let transport = ClosureTransport.otherOrigin(status: status, headers: headers) { count.withLock { $0 += 1 } }
        let client = try makeClient(transport, middleware: [middleware])
        for _ in 0..<5 {
            let error = await failure { _ = try await client.send(.get, "/a") }
            #expect(error?.status == status && error?.isFromOtherOrigin == true && error?.hold == nil)
        }
        #expect(count.withLock(\.self) == 5)
    }

    @Test(
        "A redirect carries no condition, and no credentials to another origin",
        arguments: [("/b", true), ("https://cdn.example.org/b", false)]
    )
    func redirect(location: String, isSameOrigin: Bool) throws {
        let credentials: HTTPFields = [.authorization: "Bearer t", .cookie: "a=b"]
        let condition: HTTPFields = [.ifNoneMatch: "\"1\"", .ifModifiedSince: "Fri, 15 Jan 2027 08:00:00 GMT"]
        let others: HTTPFields = [.accept: "text/plain", .range: "bytes=5-", .ifRange: "\"1\""]
        var request = HTTPRequest(method: .get, scheme: "https", authority: "api.example.org", path: "/a")
        request.headerFields = credentials + condition + others
        let response = HTTPResponse(status: .found, headerFields: [.location: location])
        let next = try #require(Redirection.request(after: response, to: request))
        #expect(next.headerFields == (isSameOrigin ? credentials + others : others))
    }

    @Test("A 304 of another origin confirms no version", arguments: [true, false])
    func confirmation(isCached: Bool) async throws {
        let transport = ClosureTransport { request, _, _ in
            guard request.headerFields.contains(.ifNoneMatch) else {
                return (HTTPResponse(status: .ok, headerFields: [.eTag: "\"1\""]), ResponseBody(Array("1".utf8)))
            }
            var body = ResponseBody()
            body.isFromOtherOrigin = true
            return (HTTPResponse(status: .notModified, headerFields: [.eTag: "\"1\""]), body)
        }
        var client = try makeClient(transport)
        if isCached {
            client.cache = MemoryResponseCache()
            _ = try await client.send(.get, "/a")
        }
        let headers: HTTPFields = isCached ? [:] : [.ifNoneMatch: "\"1\""]
        let error = await failure { _ = try await client.send(.get, "/a", headers: headers) }
        #expect(error?.status == 304 && error?.isFromOtherOrigin == true)
    }

    @Test("Limits that another origin reports after a redirect don't apply to the endpoint")
    func limits() async throws {
        let count = Mutex(0)
        let transport = ClosureTransport.otherOrigin(status: 200, headers: [.rateLimit: "\"a\";r=0;t=30"]) {
            count.withLock { $0 += 1 }
        }
        let client = try makeClient(transport, middleware: [ThrottleMiddleware(Throttler(clock: ManualClock()))])
        for _ in 0..<3 { _ = try await client.send(.get, "/a") }
        #expect(count.withLock(\.self) == 3)
    }
}

extension ClosureTransport {
    /// Returns a transport that responds as if it had followed a redirect to another origin.
    static func otherOrigin(
        status: Int,
        headers: HTTPFields,
        _ received: @escaping @Sendable () -> Void = {}
    ) -> ClosureTransport {
        ClosureTransport { _, _, _ in
            received()
            var body = ResponseBody()
            body.isFromOtherOrigin = true
            return (HTTPResponse(status: .init(code: status), headerFields: headers), body)
        }
    }
}
