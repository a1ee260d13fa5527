import HTTPTypes
import Hummingbird
import ServerMiddleware
import Testing

@Suite struct SecurityHeadersTests {
    private func response(isStrict: Bool, headers: HTTPFields = [:]) async throws -> CollectedResponse {
        let router = Router(context: MemoryContext.self)
        router.add(middleware: SecurityHeadersMiddleware(SecurityHeaders(isStrictTransport: isStrict)))
        router.get("/") { _, _ in Response(status: .ok, headers: headers) }
        return try await router.response(to: .make())
    }

    @Test("Every response forbids sniffing, framing, caching and referrers")
    func defaults() async throws {
        let response = try await response(isStrict: false)
        #expect(response[header: "X-Content-Type-Options"] == "nosniff")
        #expect(response[header: "X-Frame-Options"] == "DENY")
        #expect(response[header: "Referrer-Policy"] == "no-referrer")
        #expect(response[header: "Cache-Control"] == "no-store")
        #expect(response[header: "Content-Security-Policy"] == "default-src 'none'; base-uri 'none'; frame-ancestors 'none'")
        #expect(response[header: "Strict-Transport-Security"] == nil)
    }

    @Test("Behind TLS, sends Strict-Transport-Security")
    func strictTransport() async throws {
        let header = try await response(isStrict: true)[header: "Strict-Transport-Security"]
        #expect(header == "max-age=31536000; includeSubDomains")
    }

    @Test("Keeps headers that a route has set itself")
    func overrides() async throws {
        var headers: HTTPFields = [.cacheControl: "max-age=60"]
        headers[.contentSecurityPolicy] = "default-src 'self'"
        let response = try await response(isStrict: false, headers: headers)
        #expect(response.headers[values: .cacheControl] == ["max-age=60"])
        #expect(response.headers[values: .contentSecurityPolicy] == ["default-src 'self'"])
        #expect(response[header: "X-Frame-Options"] == "DENY")
    }

    @Test("Errors converted by inner middleware have the headers, too")
    func errors() async throws {
        let router = Router(context: MemoryContext.self)
        router.add(middleware: SecurityHeadersMiddleware(SecurityHeaders(isStrictTransport: true)))
        router.add(middleware: ContractErrorMiddleware())
        let response = try await router.response(to: .make(.get, "/unknown"))
        #expect(response.status == .notFound)
        #expect(response[header: "X-Content-Type-Options"] == "nosniff")
        #expect(response.headers[values: .cacheControl] == ["no-store"])
    }
}
