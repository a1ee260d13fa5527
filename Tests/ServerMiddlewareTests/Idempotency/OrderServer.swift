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

/// A router that accepts and counts orders. The field `Client` names the client of a request.
struct OrderServer: Sendable {
    typealias Route = @Sendable (Request, ReadingContext) async throws -> Response

    /// The number of times that each order was executed, by its body.
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

    /// The secret that all servers on one store share.
    private static let secret = IdempotencySecret()

    let effects = Effects()
    let wall = WallClock()
    let metrics = TestMetrics()
    let store: any IdempotencyStore
    let keys: IdempotencyKeys
    private let responder: any HTTPResponder<ReadingContext>

    /// - Parameter order: The result of the routes after the order was counted; 201 by default.
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

    /// Returns the response to an order.
    func order(
        _ body: String = "tea",
        key: String? = "k",
        method: HTTPRequest.Method = .post,
        path: String = "/orders",
        client: String = "ana"
    ) async throws -> Answer {
        var headers: HTTPFields = [:]
        if let name = HTTPField.Name("Client") { headers[name] = client }
        if let name = HTTPField.Name("Idempotency-Key") { headers[name] = key }
        return try await answer(.make(method, path, headers: headers, body: RequestBody(buffer: ByteBuffer(string: body))))
    }

    func answer(_ request: Request) async throws -> Answer {
        try await Answer(try await responder.respond(to: request, context: .make()))
    }

    /// Returns the number of requests with a key that had an outcome.
    func count(_ outcome: String) throws -> Int64 {
        try metrics.expectCounter("idempotency_requests", [("outcome", outcome)]).totalValue
    }
}
