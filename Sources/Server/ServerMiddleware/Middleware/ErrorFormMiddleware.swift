public import ErrorContract
public import Hummingbird

/// Gives the errors of a group of routes a form of their own, whatever the server's is.
///
/// ```swift
/// router.group("/v1").add(middleware: ErrorFormMiddleware(.flat)).post("/orders", use: order)
/// ```
/// A group ends where no route was found: for unknown paths and wrong methods below a path see ``ErrorForms/below``.
public struct ErrorFormMiddleware<Context: RequestContext>: RouterMiddleware {
    private let form: ErrorForm

    /// Creates the middleware.
    public init(_ form: ErrorForm) {
        self.form = form
    }

    public func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch {
            var error = ContractError(thrown: error, answering: request, context: context)
            // What stands nearer to the route knows better.
            error.form = error.form ?? form
            throw error
        }
    }
}
