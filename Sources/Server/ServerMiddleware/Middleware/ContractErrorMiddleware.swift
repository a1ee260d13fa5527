public import ErrorContract
import HTTPTypes
public import Hummingbird
import Logging
import Observability

/// Answers everything that is thrown below it in the contract: routes' own errors, the framework's (unknown route, wrong method,
/// body too large) and faults, of which the log gets the cause and the reader nothing.
public struct ContractErrorMiddleware<Context: RequestContext>: RouterMiddleware {
    private let renderer: ContractErrorRenderer
    private let routes: RouteIndex?

    /// Creates the middleware.
    /// - Parameters:
    ///   - renderer: What puts errors into answers.
    ///   - routes: The methods of each path; with it a wrong method is told apart from an unknown path.
    public init(renderer: ContractErrorRenderer = ContractErrorRenderer(), routes: RouteIndex? = nil) {
        self.renderer = renderer
        self.routes = routes
    }

    public func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch {
            var contractError = ContractError(thrown: error, answering: request, context: context)
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
}

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
