import Hummingbird
import ServerMiddleware

/// Answers requests for known names of the machine only: a web page whose name was made to point here must not use the lab
/// (DNS rebinding).
struct HostGuardMiddleware<Context: RequestContext>: RouterMiddleware {
    /// The names in lowercase; any if `nil`.
    let hosts: Set<String>?

    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        if let hosts { try request.requireHost { hosts.contains($0.name) } }
        return try await next(request, context)
    }
}
