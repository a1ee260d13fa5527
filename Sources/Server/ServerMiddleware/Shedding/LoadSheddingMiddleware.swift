public import Hummingbird

/// Refuses requests that are too many for a server; see ``LoadShedding``.
///
/// ```swift
/// router.get("/health/live") { _, _ in "live" }  // Never refused: it is no member of the group.
/// let guarded = router.group().add(middleware: LoadSheddingMiddleware(LoadShedding(limit: 256)))
/// ```
/// On a group it stands within the deadline of its routes: the wait counts as theirs, and a route that goes on after its deadline
/// still counts as work. The middleware waits for a body that the routes read before it takes a place: a client that sends its body slowly holds none.
public struct LoadSheddingMiddleware<Context: RequestContext>: RouterMiddleware {
    private let shedding: LoadShedding
    private let reader: RequestReader
    private let priority: @Sendable (Request, Context) -> RequestPriority
    private let client: @Sendable (Request, Context) -> String?

    /// Creates the middleware.
    /// - Parameters:
    ///   - shedding: The limit, which several groups may share.
    ///   - reader: Bounds the size and time of bodies as the routes do.
    ///   - priority: Returns which requests are refused first. By default all are equal.
    ///   - client: Identifies the client of a request, such as by its network, so that a client that repeats refused requests at once delays only itself.
    ///     By default all clients share one line.
    public init(
        _ shedding: LoadShedding,
        reader: RequestReader = RequestReader(),
        priority: @escaping @Sendable (Request, Context) -> RequestPriority = { _, _ in .essential },
        client: @escaping @Sendable (Request, Context) -> String? = { _, _ in nil }
    ) {
        (self.shedding, self.reader, self.priority, self.client) = (shedding, reader, priority, client)
    }

    public func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let (priority, client) = (priority(request, context), client)
        return try await reader.gathering(request) { whole in
            try await shedding.run(
                priority,
                from: { client(request, context) },
                isServed: { $0.status != .serviceUnavailable },
                { try await next(whole, context) }
            )
        }
    }
}
