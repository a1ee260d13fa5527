import HTTPTypes

/// Creates the default middleware of a client, with its layers in the required order.
///
/// The order of the layers is: idempotency key → retry( gate → throttle → breaker → authorization( transport → status → error decoding ) ).
/// The first layer receives a request first and its response last. The call's deadline applies to all layers together.
///
/// ```swift
/// let middleware = ClientPipeline.standard(breaker: nil)
/// ```
///
/// To add a layer, insert it into the array. A layer before ``RetryMiddleware`` runs once per call, and a layer after it runs once per
/// attempt.
public enum ClientPipeline {
    /// Returns the default middleware.
    ///
    /// - Parameters:
    ///   - retry: Retries failed calls; `nil` for no retries.
    ///   - gate: Delays calls after a 503 or a 429; `nil` for none.
    ///   - throttle: Applies the app's own limits; `nil` for none.
    ///   - breaker: Stops calls to failing endpoints; `nil` for none.
    /// - Returns: The layers, the outermost first. ``IdempotencyKeyMiddleware`` is always the first one.
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

/// The chain of a client's middleware, with the transport at its end.
struct MiddlewareChain: Sendable {
    let middleware: [any ClientMiddleware]
    /// The first layer if it adds idempotency keys; `nil` otherwise.
    let keys: IdempotencyKeyMiddleware?
    /// The layer that caches responses, after all other layers; `nil` if the client has no cache.
    let storage: ResponseCacheMiddleware?
    let exchange: Exchange

    /// Passes a request to the first layer. If this layer would only pass the request on, the function omits it, because each layer takes
    /// time.
    nonisolated(nonsending) func start(
        _ request: HTTPRequest,
        body: RequestBody?,
        context: CallContext
    ) async throws -> (HTTPResponse, ResponseBody) {
        let first = keys.map { $0.addsKey(to: request, context) ? 0 : 1 } ?? 0
        return try await pass(request, body: body, context: context, layer: first)
    }

    /// Passes a request to the layer at an index, and after the last layer to the transport. The layer at index 0 is the outermost.
    ///
    /// The closure that a layer receives doesn't escape, so the closure needs no allocation. The function runs on the caller's executor,
    /// because a switch of the executor at each layer would take time.
    /// - Parameters:
    ///   - request: The request without its body.
    ///   - body: The body, if there is one.
    ///   - context: The call.
    ///   - index: The index of the layer. If it equals the number of layers, the request goes to the cache, if there is one, and then to
    ///     the transport.
    /// - Returns: The response of the layer.
    /// - Throws: The error of the layer.
    private nonisolated(nonsending) func pass(
        _ request: HTTPRequest,
        body: RequestBody?,
        context: CallContext,
        layer index: Int
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

/// The gates and circuits of a client. A gate delays calls while a server requests a delay. A circuit stops calls to a failing endpoint.
public struct ClientGates: Sendable {
    let tables: [GateTable]

    /// Finds the gates and the circuits in the middleware of a client.
    init(_ middleware: [any ClientMiddleware]) {
        tables = middleware.compactMap { ($0 as? GateMiddleware)?.table ?? ($0 as? BreakerMiddleware)?.table }
    }

    /// The number of gates and circuits that currently delay or limit calls.
    public var count: Int { tables.reduce(0) { $0 + $1.count } }

    /// Lets calls to a host continue before the delay of its gates and circuits has passed. Each gate and each circuit of the host then
    /// admits one call at once, as a probe. If the probe succeeds, the waiting calls follow gradually.
    ///
    /// Call this method if the app knows that the host works again, for example after the user has fixed the network.
    ///
    /// - Parameter host: The host as in the base URL, such as `api.example.com`; `nil` for all hosts. If the base URL contains a port,
    ///   append it: `api.example.com:8443`.
    public func reopen(host: String? = nil) {
        for table in tables { table.reopen { origin in host.map { origin.hasSuffix("://\($0)") } ?? true } }
    }
}
