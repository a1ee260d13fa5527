public import Hummingbird

/// Refuses requests that are too many for a server; see ``LoadShedding``.
///
/// ```swift
/// router.get("/health/live") { _, _ in "live" }  // Never refused: it is no member of the group.
/// let guarded = router.group().add(middleware: LoadSheddingMiddleware(LoadShedding(limit: 256)))
/// ```
/// On a group it stands within the deadline of its routes: the wait counts as theirs, and a route that goes on after its deadline
/// still counts as work.
public struct LoadSheddingMiddleware<Context: RequestContext>: RouterMiddleware {
    private let shedding: LoadShedding

    /// Creates the middleware.
    /// - Parameter shedding: The limit, which several groups may share.
    public init(_ shedding: LoadShedding) {
        self.shedding = shedding
    }

    public func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        try await shedding.run { try await next(request, context) }
    }
}
