import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import Synchronization
import Testing
import Timekeeping

@testable import ResilientHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Requests of other code") struct ExchangeTests {
    private let clock = ManualClock()

    private func client(_ transport: some HTTPTransport, session: Session? = nil) throws -> APIClient {
        APIClient(
            baseURL: try #require(URL(string: "https://api.example.org/v1")),
            transport: transport,
            session: session,
            environment: ClientEnvironment(clock: MonotonicClock(clock), chance: { 0 })
        )
    }

    private var session: Session {
        Session(store: MemoryCredentialStore(Credentials(accessToken: "t", refreshToken: nil))) { _ in
            Credentials(accessToken: "u", refreshToken: nil)
        }
    }

    private func request(_ method: HTTPRequest.Method = .get, host: String = "api.example.org", _ path: String = "/v1/a")
        -> HTTPRequest
    {
        HTTPRequest(method: method, scheme: "https", authority: host, path: path)
    }

    @Test("Returns the last response whatever its status, after the permitted retries", arguments: [404, 500, 302])
    func statuses(status: Int) async throws {
        let long = String(repeating: "x", count: 100_000)
        let steps = Array(
            repeating: ScriptedTransport.Step.response(status: status, headers: [.eTag: "\"1\""], body: long),
            count: 4
        )
        let transport = ScriptedTransport(steps)
        let (response, body) = try await client(transport).exchange(request())
        #expect(response.status.code == status && response.headerFields[.eTag] == "\"1\"" && body.count == 100_000)
        #expect(transport.sent.count == (status == 500 ? 4 : 1))
    }

    @Test("Throws if a refusal after a lost response hides the outcome", arguments: [false, true])
    func unknownOutcome(hasOwnKey: Bool) async throws {
        let lost = ScriptedTransport.Step.failure(TransportError(.connectionLost, message: "", wasSent: true))
        let transport = ScriptedTransport([lost] + Array(repeating: .response(status: 500), count: 3))
        let api = try client(transport)
        let options = hasOwnKey ? CallOptions.idempotencyKey("k") : CallOptions.idempotent
        do throws(APIError) {
            let (response, _) = try await api.exchange(request(.post), options: options)
            #expect(hasOwnKey && response.status.code == 500)
        } catch {
            #expect(!hasOwnKey && error.kind == .unknownOutcome && (error.underlying as? APIError)?.status == 500)
        }
        #expect(transport.sent.count == 4)
    }

    @Test("Returns a success whatever its body", arguments: ["<html>", #"{"success":false,"error":"x"}"#, ""])
    func successes(body: String) async throws {
        let result = try await client(ScriptedTransport([.response(status: 200, body: body)])).exchange(request())
        #expect(result.response.status == .ok && result.body == Array(body.utf8))
    }

    @Test("Sends the session's token only to the origin of the base URL")
    func origins() async throws {
        let transport = ScriptedTransport(Array(repeating: .response(status: 200), count: 6))
        let api = try client(transport, session: session)
        let hosts = [
            "api.example.org", "API.example.org:443", "cdn.example.org", "api.example.org:8443", "api.example.org:80",
            "api.example.org.evil.example",
        ]
        for host in hosts { _ = try await api.exchange(request(host: host)) }
        #expect(transport.sent.map { $0.request.headerFields[.authorization] } == ["Bearer t", "Bearer t", nil, nil, nil, nil])
        #expect(transport.sent.map(\.request.authority).contains("cdn.example.org"))
    }

    @Test("Refuses a request without a URL", arguments: ["", "a b", "/"])
    func unaddressed(host: String) async throws {
        let transport = ScriptedTransport([.response(status: 200)])
        let api = try client(transport)
        let error = await failure { _ = try await api.exchange(request(host: host), context: "c") }
        #expect(error?.kind == .invalidRequest && transport.sent.isEmpty)
    }

    @Test("Refuses a request with an invalid path", arguments: ["a", "/a b", "/a#b", "/a\r\nX: y", "https://evil.example"])
    func badPath(path: String) async throws {
        let transport = ScriptedTransport([.response(status: 200)])
        let api = try client(transport)
        let error = await failure { _ = try await api.exchange(request(.get, path)) }
        #expect(error?.kind == .invalidRequest && transport.sent.isEmpty)
    }

    @Test("An operation's name is the endpoint of its calls")
    func operation() async throws {
        let endpoints = Mutex<[String]>([])
        var api = try client(ScriptedTransport([.response(status: 200), .response(status: 200)]))
        api.listeners = [ClosureListener { event in endpoints.withLock { $0.append("\(event.endpoint)") } }]
        api.policies.set(EndpointPolicy(sendsIdempotencyKey: true), for: "/createOrder", method: .post)
        _ = try await api.exchange(request(.post), operation: "createOrder")
        _ = try await api.exchange(request(.post))
        #expect(Set(endpoints.withLock(\.self)) == ["POST /createOrder", "POST /a"])
    }
}

@Suite("The middleware for swift-openapi-runtime") struct OpenAPIBridgeTests {
    private let clock = ManualClock()

    private func api() throws -> APIClient {
        let transport = ScriptedTransport([])
        return APIClient(
            baseURL: try #require(URL(string: "https://api.example.org/v1")),
            transport: transport,
            session: Session(store: MemoryCredentialStore(Credentials(accessToken: "t", refreshToken: nil))) { _ in
                Credentials(accessToken: "u", refreshToken: nil)
            },
            environment: ClientEnvironment(clock: MonotonicClock(clock), chance: { 0 })
        )
    }

    private func generated(
        _ api: APIClient,
        _ transport: @escaping @Sendable (HTTPRequest, [UInt8]?) async throws -> (HTTPResponse, [UInt8])
    ) -> GeneratedClient {
        GeneratedClient(baseURL: api.baseURL, middleware: HoldfastMiddleware(api: api), transport: transport)
    }

    private let request = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/orders")

    @Test("Retries and signs a generated client's call, and sends it by its transport")
    func retries() async throws {
        let sent = Mutex<[HTTPRequest]>([])
        let client = generated(try api()) { request, _ in
            let count = sent.withLock { sent in
                sent.append(request)
                return sent.count
            }
            return (HTTPResponse(status: count == 1 ? .badGateway : .ok), Array("ok".utf8))
        }
        let (response, body) = try await client.call("listOrders", request)
        let requests = sent.withLock(\.self)
        #expect(response.status == .ok && body == Array("ok".utf8) && requests.count == 2)
        #expect(
            requests.allSatisfy { $0.path == "/orders" && $0.authority == nil && $0.headerFields[.authorization] == "Bearer t" }
        )
    }

    @Test("A documented error response reaches the generated client")
    func refusal() async throws {
        let client = generated(try api()) { _, _ in (HTTPResponse(status: .conflict), Array("{}".utf8)) }
        let (response, body) = try await client.call("createOrder", request, body: [1])
        #expect(response.status == .conflict && body == Array("{}".utf8))
    }

    @Test("Sends a body with every attempt, and does not repeat a POST with a lost response")
    func bodies() async throws {
        let bodies = Mutex<[[UInt8]?]>([])
        let client = generated(try api()) { request, body in
            bodies.withLock { $0.append(body) }
            throw request.method == .put ? URLError(.cannotConnectToHost) : URLError(.networkConnectionLost)
        }
        var put = request
        put.method = .put
        await #expect(throws: APIError.self) { try await client.call("putOrder", put, body: [1, 2]) }
        let puts = bodies.withLock(\.count)
        #expect(puts > 1 && bodies.withLock { $0.allSatisfy { $0 == [1, 2] } })
        var post = request
        post.method = .post
        let error = await failure { _ = try await client.call("createOrder", post, body: [3]) }
        #expect(error?.kind == .unknownOutcome && bodies.withLock(\.count) == puts + 1)
    }

    @Test("Cancels an attempt that takes too long, and reports a timeout")
    func timeouts() async throws {
        var api = try api()
        api.timeout = .seconds(6)
        let cancellations = Mutex(0)
        let client = generated(api) { [clock] _, _ in
            do { try await clock.sleep(until: .init(offset: .seconds(600))) } catch { cancellations.withLock { $0 += 1 } }
            throw CancellationError()
        }
        async let error = failure { _ = try await client.call("listOrders", request) }
        // The call's deadline and the transport.
        await clock.waitForSleepers(2)
        clock.advance(by: .seconds(6))
        #expect(await error?.kind == .timeout && cancellations.withLock(\.self) >= 1)
    }
}
