import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import HoldfastURLSession
import RateLimiting
import ResilientHTTP
import Testing

@Suite(.timeLimit(.minutes(10))) struct DefaultClientTests {
    private func url(_ server: LoopbackServer, _ path: String = "") throws -> URL {
        try #require(URL(string: server.origin + path))
    }

    /// Sets long timeouts, because hundreds of tests share the machine.
    private func patient(_ api: inout APIClient) {
        (api.timeout, api.attemptTimeout) = (.seconds(600), .seconds(600))
    }

    @Test("A client created with only a base URL retries, waits and gives up by default")
    func retries() async throws {
        try await withServer(response("502 X"), response("200 OK", body: "{}")) { server in
            let environment = ClientEnvironment(chance: { 0 })
            var api = APIClient(baseURL: try url(server), environment: environment)
            #expect(api.timeout == .seconds(30) && api.attemptTimeout == .seconds(10))
            patient(&api)
            #expect(try await api.send(.get, "/a").body == Array("{}".utf8))
            #expect(server.received.count == 2)
        }
    }

    @Test("With existing apps' quotas at most 30 of 40 calls to an endpoint leave a minute")
    func throttles() async throws {
        let responses = (0..<40).map { _ in [response("200 OK", body: "{}")] }
        let server = try LoopbackServer(connections: responses)
        let url = try url(server, "/v2")
        // snippet: throttle-argument
        let api = APIClient(baseURL: url, throttle: .appsInTheField)
        // snippet end
        var unhurried = api
        patient(&unhurried)
        let begin = ContinuousClock.now
        var refusals: [APIError] = []
        for number in 0..<40 {
            do throws(APIError) {
                _ = try await unhurried.send(.get, "/lessons/\(number)")
            } catch {
                refusals.append(error)
            }
        }
        // On a very busy machine the minute may pass meanwhile.
        if begin.duration(to: .now) < .seconds(60) {
            #expect(server.received.count <= 30 && refusals.count >= 10)
        }
        #expect(refusals.allSatisfy { $0.kind == .throttled && $0.retryAt != nil })
        #expect(server.received.count + refusals.count == 40)
        await server.close()
    }

    @Test("Custom quotas are relative to the base URL; by default there are none")
    func quotas() async throws {
        let responses = (0..<40).map { _ in [response("200 OK", body: "{}")] }
        let server = try LoopbackServer(connections: responses)
        var policy = ThrottlePolicy.appsInTheField
        policy.limit("/lessons/{number}", to: .requests(1, per: .seconds(3_600), name: "hour"))
        var strict = APIClient(baseURL: try url(server, "/v2/"), throttle: policy)
        patient(&strict)
        _ = try await strict.send(.get, "/lessons/one")
        await #expect(throws: APIError.self) { try await strict.send(.get, "/lessons/two") }
        var free = APIClient(baseURL: try url(server))
        patient(&free)
        for _ in 0..<35 { _ = try await free.send(.get, "/a") }
        #expect(server.received.count == 36)
        await server.close()
    }

    @Test("Policies, a session and a language take one argument each")
    func example() async throws {
        let session = Session(store: MemoryCredentialStore(Credentials(accessToken: "t", refreshToken: nil))) { _ in
            Credentials(accessToken: "u", refreshToken: nil)
        }
        try await withServer(response("200 OK", body: "{}")) { server in
            let url = try url(server)
            // snippet: client-defaults
            var policies = EndpointPolicies()
            policies.set(EndpointPolicy(sendsIdempotencyKey: true), for: "/api/orders", method: .post)
            policies.set(EndpointPolicy(timeout: .seconds(120)), for: "/api/exports/{id}")
            let api = APIClient(baseURL: url, language: .spanish, session: session, policies: policies)
            // snippet end
            var unhurried = api
            patient(&unhurried)
            _ = try await unhurried.send(.post, "/api/orders")
            #expect(server.received.first?.header("Idempotency-Key")?.count == 34)
            #expect(server.received.first?.header("Authorization") == "Bearer t")
            #expect(server.received.first?.header("Accept-Language") == "es")
        }
    }
}
