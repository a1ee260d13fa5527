import HTTPTypes

/// The middleware of a client in its right order, the outermost first.
///
/// A call passes: idempotency key → retry( gate → throttle → breaker → authorise( transport → status → error decoding ) ).
/// The deadline stands around all of it.
public enum ClientPipeline {
    /// Returns the middleware of a client that configures none.
    public static func standard(
        retry: RetryMiddleware? = RetryMiddleware(),
        gate: GateMiddleware? = GateMiddleware(),
        throttle: ThrottleMiddleware? = nil,
        breaker: BreakerMiddleware? = BreakerMiddleware()
    ) -> [any ClientMiddleware] {
        let layers: [(any ClientMiddleware)?] = [IdempotencyKeyMiddleware(), retry, gate, throttle, breaker]
        return layers.compactMap { $0 }
    }
}

/// The way of a request through a client's middleware to its transport.
struct MiddlewareChain: Sendable {
    let middleware: [any ClientMiddleware]
    /// The layer behind all others, if the client stores responses.
    let storage: ResponseCacheMiddleware?
    let exchange: Exchange

    /// Hands a request on to the layer of an index, the first being the outermost, and to the transport behind the last.
    ///
    /// The closure that a layer gets doesn't escape: nothing is allocated for it.
    ///
    /// It stays on the executor of its caller, which is the right one already: asking for it at each layer takes time.
    nonisolated(nonsending) func pass(
        _ request: HTTPRequest,
        body: RequestBody?,
        context: CallContext,
        layer index: Int = 0
    ) async throws -> (HTTPResponse, ResponseBody) {
        guard index < middleware.count else {
            guard let storage else { return try await exchange.send(request, body: body, context: context) }
            return try await storage.intercept(request, body: body, context: context) { request, body in
                try await exchange.send(request, body: body, context: context)
            }
        }
        return try await middleware[index].intercept(request, body: body, context: context) { request, body in
            try await pass(request, body: body, context: context, layer: index + 1)
        }
    }
}

/// The gates and circuits of a client.
public struct ClientGates: Sendable {
    let tables: [GateTable]

    init(_ middleware: [any ClientMiddleware]) {
        tables = middleware.compactMap { ($0 as? GateMiddleware)?.table ?? ($0 as? BreakerMiddleware)?.table }
    }

    /// How many are not wide open.
    public var count: Int { tables.reduce(0) { $0 + $1.count } }

    /// Opens the gates and circuits of a host early: one call is let through as a probe at once, and its success lets the others follow.
    ///
    /// Call it when the app knows more than the client, such as after the user fixed the network.
    /// - Parameter host: The host, such as `api.example.com`, with its port if that is not the default; `nil` for all hosts.
    public func reopen(host: String? = nil) {
        for table in tables { table.reopen { origin in host.map { origin.hasSuffix("://\($0)") } ?? true } }
    }
}
