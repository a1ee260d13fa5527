import ErrorContract
import Foundation
import HTTPTypes
import Hummingbird
import Idempotency
import MetricsTestKit
import RateLimiting
import ServerMiddleware
import Synchronization
import Testing

/// A router with idempotent routes that accept and count orders. The header field `Client` contains the account of a request.
struct OrderServer: Sendable {
    typealias Route = @Sendable (Request, ReadingContext) async throws -> Response

    /// The number of executions of each order, by its body.
    final class Effects: Sendable {
        private let counts = Mutex<[String: Int]>([:])

        func note(_ order: String) { counts.withLock { $0[order, default: 0] += 1 } }
        subscript(order: String) -> Int { counts.withLock { $0[order] ?? 0 } }
        var all: Int { counts.withLock { $0.values.reduce(0, +) } }
    }

    /// A wall clock that a test moves.
    final class WallClock: Sendable {
        private let date = Mutex(Date(timeIntervalSince1970: 1_750_000_000))
        var now: Date { date.withLock { $0 } }
        func advance(by seconds: Double) { date.withLock { $0 += seconds } }
    }

    /// The secret that all servers share, so that servers with the same store find each other's keys.
    private static let secret = IdempotencySecret()

    let effects = Effects()
    let wall = WallClock()
    let metrics = TestMetrics()
    let store: any IdempotencyStore
    let keys: IdempotencyKeys
    private let responder: any HTTPResponder<ReadingContext>

    /// Creates a server.
    /// - Parameters:
    ///   - store: The store of the keys.
    ///   - isRequired: Whether requests without a key are refused.
    ///   - lease: The lease of a key, on the clock ``wall``.
    ///   - deadline: The deadline of the routes; none by default.
    ///   - order: Returns the response after the order was counted; 201 with the number and body of the order by default.
    init(
        store: any IdempotencyStore = MemoryIdempotencyStore(),
        isRequired: Bool = false,
        lease: Duration = .seconds(60),
        deadline: RequestDeadline? = nil,
        order: Route? = nil
    ) {
        self.store = store
        keys = IdempotencyKeys(store: store, secret: Self.secret, lease: lease, metrics: metrics) { [wall] in wall.now }
        let router = ContractRouter(context: ReadingContext.self, deadline: deadline)
        let route: Route = { [effects] request, context in
            let body = try await String(buffer: request.body.collect(upTo: 65_536))
            effects.note(body)
            if let order { return try await order(request, context) }
            return Response(
                status: .created,
                headers: [.contentType: "text/plain", .location: "/orders/\(effects.all)", .setCookie: "session=1"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: "order \(effects.all): \(body)"))
            )
        }
        let group = router.idempotent(by: keys, isRequired: isRequired) { request, _ in
            .account(HTTPField.Name("Client").flatMap { request.headers[$0] } ?? "ana")
        }
        group.post("/orders", use: route).post("/orders/:id/parts", use: route).post("/invoices", use: route)
        group.put("/orders", use: route).get("/orders", use: route)
        responder = router.buildResponder()
    }

    /// Sends an order, and returns its response.
    func order(
        _ body: String = "tea",
        key: String? = "k",
        method: HTTPRequest.Method = .post,
        path: String = "/orders",
        client: String = "ana"
    ) async throws -> CollectedResponse {
        var headers: HTTPFields = [:]
        if let name = HTTPField.Name("Client") { headers[name] = client }
        if let name = HTTPField.Name("Idempotency-Key") { headers[name] = key }
        return try await response(to: .make(method, path, headers: headers, body: RequestBody(buffer: ByteBuffer(string: body))))
    }

    func response(to request: Request) async throws -> CollectedResponse {
        try await CollectedResponse(try await responder.respond(to: request, context: .make()))
    }

    /// Returns the value of the counter `idempotency_requests` for an outcome.
    func count(_ outcome: String) throws -> Int64 {
        try metrics.expectCounter("idempotency_requests", [("outcome", outcome)]).totalValue
    }
}
