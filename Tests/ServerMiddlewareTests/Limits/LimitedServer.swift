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

/// A context with a peer of the test's choice.
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

/// A router with limits on a clock of its own, without a connection.
struct LimitedServer {
    let clock = ManualClock()
    let metrics = TestMetrics()
    let logs = InMemoryLogHandler()
    let limits: RateLimits
    let router = Router(context: LimitedContext.self)

    /// - Parameter store: Where limits are counted; in memory if not given.
    init(_ rules: [RateLimitRule], identity: ClientIdentity = ClientIdentity(), store: (any RateLimitStore)? = nil) {
        limits = RateLimits(store: store ?? JointRateLimiter(rules, clock: clock), identity: identity, metrics: metrics)
        router.add(middleware: RequestIDMiddleware())
        router.add(middleware: RateLimitFieldsMiddleware())
        router.add(middleware: ContractErrorMiddleware())
    }

    /// A group that is limited before its routes.
    func group(_ sources: RateLimitSource<LimitedContext>...) -> RouterGroup<LimitedContext> {
        router.group().add(middleware: RateLimitMiddleware(limits, sources))
    }

    /// What answers requests, for any number of tasks at once.
    var responder: LimitedResponder { LimitedResponder(responder: router.buildResponder(), logs: logs) }

    /// The answer to a request from an address.
    func answer(_ request: Request, from peer: String? = "192.0.2.1") async throws -> Answer {
        try await responder.answer(request, from: peer)
    }

    /// The answer to a GET from an address.
    func get(_ path: String = "/", from peer: String? = "192.0.2.1") async throws -> Answer {
        try await answer(.make(.get, path), from: peer)
    }

    /// What a counter has counted.
    func count(_ label: String, _ policy: String, decision: String? = nil) -> Int64 {
        let dimensions = [("policy", policy)] + (decision.map { [("decision", $0)] } ?? [])
        return (try? metrics.expectCounter(label, dimensions).totalValue) ?? 0
    }
}

/// A router as it was when this was made.
struct LimitedResponder: Sendable {
    let responder: RouterResponder<LimitedContext>
    let logs: InMemoryLogHandler

    /// The answer to a request from an address.
    func answer(_ request: Request, from peer: String? = "192.0.2.1") async throws -> Answer {
        let logger = Logger(label: "test", factory: { _ in logs })
        let context = LimitedContext(
            source: .init(logger: logger, peer: try peer.map { try SocketAddress(ipAddress: $0, port: 4_711) })
        )
        return try await Answer(try await responder.respond(to: request, context: context))
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
