import Benchmark
import Foundation
import HTTPTypes
import RateLimiting
import ResilientHTTP

/// Returns a response to every request immediately.
struct InMemoryTransport: HTTPTransport {
    private static let body = Array(#"{"id":17,"name":"Tehillim"}"#.utf8)

    func send(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
        (HTTPResponse(status: .ok, headerFields: [.contentType: "application/json"]), ResponseBody(Self.body))
    }
}

/// A throttler whose policy is large enough that it never refuses.
func makeThrottle() -> ThrottleMiddleware {
    ThrottleMiddleware(Throttler(policy: ThrottlePolicy(others: .requests(1_000_000_000, per: .seconds(1)))))
}

func makeSession() -> Session {
    let credentials = Credentials(accessToken: "at", refreshToken: "rt", expiresAt: Date.distantFuture)
    return Session(store: MemoryCredentialStore(credentials), refresh: { _ in credentials })
}

/// Measures whole calls over a transport in memory, with an increasing number of middlewares. Bodies are read but not decoded.
func measurePipeline(_ url: URL) {
    let transport = InMemoryTransport()
    let request = HTTPRequest(method: .get, scheme: "https", authority: "api.example.org", path: "/api/activities/17")
    Benchmark("call 0, bare transport") { benchmark in
        for _ in benchmark.scaledIterations { blackHole(try await transport.send(request, body: nil, timeout: .seconds(30))) }
    }
    let clients: [(String, APIClient)] = [
        ("call 1, no middleware", APIClient(baseURL: url, transport: transport, middleware: [])),
        ("call 2, all defaults", APIClient(baseURL: url, transport: transport)),
        (
            "call 3, defaults and throttler",
            APIClient(baseURL: url, transport: transport, middleware: ClientPipeline.standard(throttle: makeThrottle()))
        ),
        (
            "call 4, defaults, throttler and session",
            APIClient(
                baseURL: url,
                transport: transport,
                session: makeSession(),
                middleware: ClientPipeline.standard(throttle: makeThrottle())
            )
        ),
    ]
    for (name, client) in clients {
        Benchmark(name) { benchmark in
            for _ in benchmark.scaledIterations { blackHole(try await client.send(.get, "/api/activities/17")) }
        }
    }
}

/// Measures separately the middlewares that every call passes.
func measureParts(_ url: URL) {
    let request = HTTPRequest(method: .get, scheme: "https", authority: "api.example.org", path: "/api/activities/17")
    let routes = RouteTable(["/api/activities/{id}"])
    Benchmark("part endpoint of a registered route") { benchmark in
        for _ in benchmark.scaledIterations { blackHole(routes.endpoint(of: request)) }
    }
    let unknown = RouteTable()
    Benchmark("part endpoint of an unknown route") { benchmark in
        for _ in benchmark.scaledIterations { blackHole(unknown.endpoint(of: request)) }
    }
    let parts: [(String, any ClientMiddleware)] = [
        ("idempotency key", IdempotencyKeyMiddleware()), ("retry", RetryMiddleware()), ("gate", GateMiddleware()),
        ("throttler", makeThrottle()), ("breaker", BreakerMiddleware()), ("session", AuthorizeMiddleware(makeSession())),
    ]
    let endpoint = unknown.endpoint(of: request)
    let environment = ClientEnvironment()
    let context = CallContext(
        origin: "https://api.example.org",
        endpoint: endpoint,
        deadline: .seconds(1_000_000),
        attemptTimeout: .seconds(10),
        environment: environment,
        record: CallRecord(name: nil, endpoint: endpoint, environment: environment)
    )
    for (name, part) in parts {
        Benchmark("part \(name)") { benchmark in
            for _ in benchmark.scaledIterations {
                blackHole(
                    try await part.intercept(request, body: nil, context: context) { _, _ in
                        (HTTPResponse(status: .ok), ResponseBody())
                    }
                )
            }
        }
    }
}
