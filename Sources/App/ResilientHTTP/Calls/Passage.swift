import HTTPTypes

/// The way of a request through a client's middleware to its transport.
struct Passage: Sendable {
    let middleware: [any ClientMiddleware]
    /// The layer behind all others, if the client stores responses.
    let storage: ResponseCacheMiddleware?
    let exchange: Exchange

    /// Hands a request on to the layer of an index, the first being the outermost, and to the transport behind the last.
    ///
    /// What is given to a layer as the rest of the way doesn't escape it: nothing is allocated for it.
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
