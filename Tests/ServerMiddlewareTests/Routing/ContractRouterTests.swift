import ErrorContract
import HTTPTypes
import HoldfastTesting
import Hummingbird
import InMemoryLogging
import ServerMiddleware
import StrictJSON
import Testing

@Suite struct ContractRouterTests {
    private struct Order: Decodable {
        struct Item: Decodable {
            let name: String
            let tags: [String]
        }

        let customer: String
        let items: [Item]
    }

    private struct Sold: ContractErrorConvertible {
        var contractError: ContractError { ContractError(.resourceDeleted, details: ["by": "someone"]) }
    }

    private func makeRouter(
        options: RouterOptions = [.autoGenerateHeadEndpoints],
        outermost: [any MiddlewareProtocol<Request, Response, ReadingContext>] = []
    ) -> ContractRouter<ReadingContext> {
        let router = ContractRouter(context: ReadingContext.self, options: options, outermost: outermost)
        router.get("/orders") { _, _ in "orders" }
        router.post("/orders") { request, context in
            let order = try await request.decode(as: Order.self, context: context)
            return "\(order.customer): \(order.items.count)"
        }
        router.group("/things").delete("/:id") { _, _ -> Response in throw Sold() }
        return router
    }

    private func response(from router: ContractRouter<ReadingContext>, to request: Request) async throws -> CollectedResponse {
        try await CollectedResponse(try await router.buildResponder().respond(to: request, context: .make()))
    }

    @Test(
        "Distinguishes unknown paths and wrong methods without configuration",
        arguments: [
            (HTTPRequest.Method.get, "/orders", 200, nil), (.head, "/orders", 200, nil), (.get, "/nothing", 404, nil),
            (.delete, "/orders", 405, "GET, HEAD, POST"), (.get, "/things/7", 405, "DELETE"), (.put, "/things", 404, nil),
            (.head, "/nothing", 404, nil), (.options, "/orders/", 405, "GET, HEAD, POST"),
        ] as [(HTTPRequest.Method, String, Int, String?)]
    )
    func routes(method: HTTPRequest.Method, path: String, status: Int, allowed: String?) async throws {
        let response = try await response(from: makeRouter(), to: .make(method, path))
        #expect(response.status.code == status)
        #expect(response.headers[.allow] == allowed)
        if status >= 400 { #expect(response[header: "X-Error-Code"] != nil && response[header: "X-Request-Id"] != nil) }
    }

    @Test("A case-insensitive router reports the wrong method in any case")
    func cases() async throws {
        let router = makeRouter(options: [.autoGenerateHeadEndpoints, .caseInsensitive])
        #expect(try await response(from: router, to: .make(.get, "/ORDERS")).status == .ok)
        #expect(try await response(from: router, to: .make(.put, "/ORDERS")).headers[.allow] == "GET, HEAD, POST")
        #expect(try await response(from: makeRouter(), to: .make(.put, "/ORDERS")).status == .notFound)
    }

    @Test("Reports all problems of a body that `decode` reads, also in nested lists")
    func decode() async throws {
        let body = #"{"items":[{"name":"a","tags":["x",7]},{"tags":"none"},null],"customer":""}"#
        let response = try await response(from: makeRouter(), to: .post(body, path: "/orders"))
        #expect(response.status == .badRequest)
        let problems = try response.error["details"]?.objectValue?["validation_errors"]?.arrayValue ?? []
        let told = problems.compactMap(\.objectValue).map {
            "\($0["pointer"]?.stringValue ?? "") \($0["code"]?.stringValue ?? "")"
        }
        #expect(
            Set(told) == [
                "#/items/0/tags/1 VALIDATION_INVALID_FORMAT", "#/items/1/name VALIDATION_MISSING_FIELD",
                "#/items/1/tags VALIDATION_INVALID_FORMAT", "#/items/2 VALIDATION_MISSING_FIELD",
            ]
        )
        let fine = try await self.response(from: makeRouter(), to: .post(#"{"items":[],"customer":"c"}"#, path: "/orders"))
        #expect(fine.text == "c: 0")
        let large = #"{"customer":""# + String(repeating: "a", count: 65_536) + #"","items":[]}"#
        let refused = try await self.response(from: makeRouter(), to: .post(large, path: "/orders"))
        #expect(refused[header: "X-Error-Code"] == "REQUEST_TOO_LARGE")
    }

    @Test("An app's own error defines its contract error")
    func ownError() async throws {
        let response = try await response(from: makeRouter(), to: .make(.delete, "/things/7"))
        #expect(response.status == .gone)
        #expect(try response.error["details"] == ["by": "someone"])
    }

    @Test("The outermost middleware sees errors as they are sent")
    func outermost() async throws {
        struct Stamp: RouterMiddleware {
            func handle(
                _ request: Request,
                context: ReadingContext,
                next: (Request, ReadingContext) async throws -> Response
            ) async throws -> Response {
                var response = try await next(request, context)
                response.headers[.server] = "\(response.status.code)"
                return response
            }
        }
        let router = makeRouter(outermost: [Stamp(), CORSMiddleware(allowOrigin: .all)])
        let response = try await response(from: router, to: .make(.get, "/nothing", headers: [.origin: "https://example.com"]))
        #expect(response.headers[.server] == "404")
        #expect(response.headers[.accessControlAllowOrigin] == "*")
        #expect(response[header: "X-Error-Code"] == "RESOURCE_NOT_FOUND")
    }

    @Test("The framework's own wrapping of errors, as for CORS, does not change them")
    func wrapped() async throws {
        let router = makeRouter()
        router.add(middleware: CORSMiddleware(allowOrigin: .all))
        router.get("/limited") { _, _ -> Response in throw ContractError(.rateLimitQuotaExceeded, retryAfter: .seconds(7)) }
        router.get("/taken") { _, _ -> Response in throw HTTPError(.unauthorized, headers: [.wwwAuthenticate: "Basic"]) }
        let origin: HTTPFields = [.origin: "https://example.com"]
        let limited = try await response(from: router, to: .make(.get, "/limited", headers: origin))
        #expect(limited.status == .tooManyRequests)
        #expect(limited[header: "X-Error-Code"] == "RATE_LIMIT_QUOTA_EXCEEDED")
        #expect(limited.headers[.retryAfter] == "7")
        #expect(limited.headers[.accessControlAllowOrigin] == "*")
        #expect(limited.headers[values: .contentType].count == 1)
        let unknown = try await response(from: router, to: .make(.put, "/orders", headers: origin))
        #expect(unknown.status == .methodNotAllowed)
        let taken = try await response(from: router, to: .make(.get, "/taken", headers: origin))
        #expect(taken.headers[.wwwAuthenticate] == "Basic")
        #expect(taken[header: "X-Error-Code"] == "AUTH_TOKEN_INVALID")
    }

    @Test("Without any middleware an error of the contract still has its form")
    func bare() async throws {
        let router = Router(context: MemoryContext.self)
        router.get("/") { _, _ -> Response in throw ContractError(.serverMaintenance, retryAfter: .seconds(60)) }
        let response = try await router.response(to: .make())
        #expect(response.status == .serviceUnavailable)
        #expect(try response.error["code"] == "SERVER_MAINTENANCE")
        #expect(response.headers[.retryAfter] == "60")
    }

    @Test("A contract group in another router leaves the router's own routes unchanged")
    func group() async throws {
        let router = Router(context: ReadingContext.self)
        let clock = ManualClock()
        router.get("/own") { _, _ -> Response in throw HTTPError(.badRequest) }
        let group = ContractGroup(in: router.group("/api"), deadline: RequestDeadline(.seconds(5), clock: clock)) {
            SecurityHeadersMiddleware(SecurityHeaders(isStrictTransport: false))
        }
        group.get("/sold") { _, _ -> Response in throw Sold() }
        group.get("/slow") { _, _ -> Response in
            try await Task.sleep(for: .seconds(86_400))
            return Response(status: .ok)
        }
        let responder = router.buildResponder()
        async let slow = responder.respond(to: .make(.get, "/api/slow"), context: .make())
        await clock.waitForSleepers()
        clock.advance(by: .seconds(5))
        #expect(try await slow.status == .gatewayTimeout)
        let sold = try await CollectedResponse(try await responder.respond(to: .make(.get, "/api/sold"), context: .make()))
        #expect(sold.status == .gone && sold[header: "X-Request-Id"] != nil && sold[header: "X-Frame-Options"] == "DENY")
        let own = try await CollectedResponse(try await responder.respond(to: .make(.get, "/own"), context: .make()))
        #expect(own.status == .badRequest && own[header: "X-Error-Code"] == nil && own[header: "X-Request-Id"] == nil)
    }
}
