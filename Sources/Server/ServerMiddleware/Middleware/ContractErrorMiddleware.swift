public import ErrorContract
import HTTPTypes
public import Hummingbird
import Logging
import Observability

/// Converts the errors of routes and inner middleware to responses with a code, a text and a body in a standard format (see
/// ``ContractError``). The errors include errors of the framework (unknown path, wrong method, body too large) and internal errors. The
/// middleware logs the cause of an internal error, but the response doesn't contain it.
///
/// ``ContractRouter`` and ``ContractGroup`` already contain this middleware. Add it to a plain `Router` inside of ``RequestIDMiddleware``
/// and ``RateLimitFieldsMiddleware``.
///
/// Middleware inside of this one sees thrown errors. Middleware outside of it sees error responses.
public struct ContractErrorMiddleware<Context: RequestContext>: RouterMiddleware {
    private let renderer: ContractErrorRenderer
    private let routes: RouteIndex?

    /// Creates the middleware.
    /// - Parameters:
    ///   - renderer: Renders errors as responses.
    ///   - routes: An index of the methods of each path. With the index, a request with a wrong method gets 405 instead of 404.
    public init(renderer: ContractErrorRenderer = ContractErrorRenderer(), routes: RouteIndex? = nil) {
        self.renderer = renderer
        self.routes = routes
    }

    /// Calls the next handler and converts the error that it throws. The middleware logs an internal error with its cause as `Request
    /// failed`.
    public func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch {
            return response(for: error, to: request, in: context)
        }
    }

    /// Returns the response for an error, and logs an internal error.
    func response(for error: any Error, to request: Request, in context: Context) -> Response {
        var contractError = ContractError(thrown: error, respondingTo: request, context: context)
        if contractError.code == .resourceNotFound, contractError.underlying is any HTTPResponseError,
            let methods = routes?.methods(of: request.uri.path), !methods.contains(request.method)
        {
            let allowed = methods.map(\.rawValue).sorted().joined(separator: ", ")
            contractError.code = .requestMethodNotAllowed
            contractError.headers[.allow] = allowed
        }
        if renderer.catalogue.isFault(contractError.code) {
            let cause = contractError.underlying ?? error
            context.logger.error("Request failed", metadata: .failure(cause, ["error.code": "\(contractError.code)"]))
        }
        return renderer.response(for: contractError, to: request, requestID: context.requestID)
    }
}

/// Sets the format of errors for a group of routes.
///
/// ```swift
/// router.group("/v1").add(middleware: ErrorFormMiddleware(.flat)).post("/orders", use: order)
/// ```
/// The middleware of a group doesn't run if the router found no route. To set the format for unknown paths and wrong methods, use
/// ``ErrorForms/below``.
public struct ErrorFormMiddleware<Context: RequestContext>: RouterMiddleware {
    private let form: ErrorForm

    /// Creates the middleware.
    /// - Parameter form: The format of errors that the routes of the group throw.
    public init(_ form: ErrorForm) {
        self.form = form
    }

    /// Passes the request on. If the route throws an error without a format, the middleware sets the format of the group. It doesn't
    /// replace a format that the route or an inner middleware has set.
    /// - Throws: ``ContractError`` for every error of the route.
    public func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch {
            var error = ContractError(thrown: error, respondingTo: request, context: context)
            // A format that the route or an inner middleware has chosen takes precedence.
            error.form = error.form ?? form
            throw error
        }
    }
}
