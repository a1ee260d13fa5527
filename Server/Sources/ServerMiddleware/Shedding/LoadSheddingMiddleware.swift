public import Hummingbird

/// Refuses requests that are too many for a server; see ``LoadShedding``.
///
/// ```swift
/// router.get("/health/live") { _, _ in "live" }  // Never refused: it is no member of the group.
/// let guarded = router.group().add(middleware: LoadSheddingMiddleware(LoadShedding(limit: 256)))
/// ```
/// On a group it stands within the deadline of its routes: the wait counts as theirs, and a route that goes on after its deadline
/// still counts as work. A body that the routes read is waited for outside: a client that sends it slowly holds no place.
public struct LoadSheddingMiddleware<Context: RequestContext>: RouterMiddleware {
    private let shedding: LoadShedding
    private let reader: RequestReader

    /// Creates the middleware.
    /// - Parameters:
    ///   - shedding: The limit, which several groups may share.
    ///   - reader: Bounds the size and time of bodies as the routes do.
    public init(_ shedding: LoadShedding, reader: RequestReader = RequestReader()) {
        self.shedding = shedding
        self.reader = reader
    }

    public func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        try await reader.gathering(request) { whole in
            try await shedding.run { try await next(whole, context) }
        }
    }
}
