import HTTPTypes
import Hummingbird
import ServerMiddleware
import Testing

@Suite struct SecurityHeadersTests {
    private func answer(isStrict: Bool, headers: HTTPFields = [:]) async throws -> Answer {
        let router = Router(context: MemoryContext.self)
        router.add(middleware: SecurityHeadersMiddleware(SecurityHeaders(isStrictTransport: isStrict)))
        router.get("/") { _, _ in Response(status: .ok, headers: headers) }
        return try await router.answer(.make())
    }

    @Test("Every response forbids sniffing, framing, caching and referrers")
    func defaults() async throws {
        let answer = try await answer(isStrict: false)
        #expect(answer[header: "X-Content-Type-Options"] == "nosniff")
        #expect(answer[header: "X-Frame-Options"] == "DENY")
        #expect(answer[header: "Referrer-Policy"] == "no-referrer")
        #expect(answer[header: "Cache-Control"] == "no-store")
        #expect(answer[header: "Content-Security-Policy"] == "default-src 'none'; base-uri 'none'; frame-ancestors 'none'")
        #expect(answer[header: "Strict-Transport-Security"] == nil)
    }

    @Test("Behind TLS, sends Strict-Transport-Security")
    func strictTransport() async throws {
        let header = try await answer(isStrict: true)[header: "Strict-Transport-Security"]
        #expect(header == "max-age=31536000; includeSubDomains")
    }

    @Test("Keeps headers that a route has set itself")
    func overrides() async throws {
        var headers: HTTPFields = [.cacheControl: "max-age=60"]
        headers[.contentSecurityPolicy] = "default-src 'self'"
        let answer = try await answer(isStrict: false, headers: headers)
        #expect(answer.headers[values: .cacheControl] == ["max-age=60"])
        #expect(answer.headers[values: .contentSecurityPolicy] == ["default-src 'self'"])
        #expect(answer[header: "X-Frame-Options"] == "DENY")
    }

    @Test("Errors converted by inner middleware have the headers, too")
    func errors() async throws {
        let router = Router(context: MemoryContext.self)
        router.add(middleware: SecurityHeadersMiddleware(SecurityHeaders(isStrictTransport: true)))
        router.add(middleware: ContractErrorMiddleware())
        let answer = try await router.answer(.make(.get, "/unknown"))
        #expect(answer.status == .notFound)
        #expect(answer[header: "X-Content-Type-Options"] == "nosniff")
        #expect(answer.headers[values: .cacheControl] == ["no-store"])
    }
}
