import CoreMetrics
import HTTPTypes
import HoldfastTesting
import Hummingbird
import InMemoryLogging
import Logging
import MetricsTestKit
import NIOCore
import RateLimiting
import ServerMiddleware
import Testing

/// A context with a peer that the test chooses.
struct LimitedContext: LimitedRequestContext {
    struct Source: RequestContextSource {
        let logger: Logger
        let peer: SocketAddress?
    }

    var coreContext: CoreRequestContextStorage
    let remoteAddress: SocketAddress?
    let limits = RequestLimits()

    init(source: Source) {
        coreContext = .init(source: source)
        remoteAddress = source.peer
    }
}

/// A router with limits and a manual clock, without a connection.
struct LimitedServer {
    let clock = ManualClock()
    let metrics = TestMetrics()
    let logs = InMemoryLogHandler()
    let limits: RateLimits
    let router = Router(context: LimitedContext.self)

    /// - Parameter store: The store of the limits; in memory by default.
    init(_ rules: [RateLimitRule], identity: ClientIdentity = ClientIdentity(), store: (any RateLimitStore)? = nil) {
        limits = RateLimits(store: store ?? JointRateLimiter(rules, clock: clock), identity: identity, metrics: metrics)
        router.add(middleware: RequestIDMiddleware())
        router.add(middleware: RateLimitFieldsMiddleware())
        router.add(middleware: ContractErrorMiddleware())
    }

    /// Returns a group that is limited before its routes.
    func group(_ sources: RateLimitSource<LimitedContext>...) -> RouterGroup<LimitedContext> {
        router.group().add(middleware: RateLimitMiddleware(limits, sources))
    }

    /// The responder for requests, which many tasks can use concurrently.
    var responder: LimitedResponder { LimitedResponder(responder: router.buildResponder(), logs: logs) }

    /// Returns the response to a request from an address.
    func response(to request: Request, from peer: String? = "192.0.2.1") async throws -> CollectedResponse {
        try await responder.response(to: request, from: peer)
    }

    /// Returns the response to a GET from an address.
    func get(_ path: String = "/", from peer: String? = "192.0.2.1") async throws -> CollectedResponse {
        try await response(to: .make(.get, path), from: peer)
    }

    /// Returns the value of a counter.
    func count(_ label: String, _ policy: String, decision: String? = nil) -> Int64 {
        let dimensions = [("policy", policy)] + (decision.map { [("decision", $0)] } ?? [])
        return (try? metrics.expectCounter(label, dimensions).totalValue) ?? 0
    }
}

/// A snapshot of a router, which responds to requests.
struct LimitedResponder: Sendable {
    let responder: RouterResponder<LimitedContext>
    let logs: InMemoryLogHandler

    /// Returns the response to a request from an address.
    func response(to request: Request, from peer: String? = "192.0.2.1") async throws -> CollectedResponse {
        let logger = Logger(label: "test", factory: { _ in logs })
        let context = LimitedContext(
            source: .init(logger: logger, peer: try peer.map { try SocketAddress(ipAddress: $0, port: 4_711) })
        )
        return try await CollectedResponse(try await responder.respond(to: request, context: context))
    }
}

extension RateLimitRule {
    static func rule(
        _ name: String,
        _ quota: Int,
        per seconds: Int = 60,
        mode: Mode = .enforce,
        isVisible: Bool = true
    ) -> RateLimitRule {
        RateLimitRule(.requests(quota, per: .seconds(seconds), name: name), mode: mode, isVisible: isVisible)
    }
}
