public import Hummingbird

/// Does the work of four middlewares in one call: ``RequestIDMiddleware``, ``RateLimitFieldsMiddleware``, ``ContractErrorMiddleware`` and
/// ``RateLimitMiddleware``, in this order. The responses and log lines are the same.
///
/// Use this middleware instead of the four middlewares of a plain `Router`. Each middleware takes more than 2,000 instructions per request
/// for its asynchronous calls alone.
///
/// ```swift
/// let limits = RateLimits([RateLimitRule(.requests(100, per: .seconds(60), name: "ip"))])
/// let router = Router(context: AppContext.self)
/// router.add(middleware: ContractMiddleware(limit: RateLimitMiddleware(limits, .client("ip"))))
/// ```
///
/// ``ContractRouter`` and ``ContractGroup`` already contain the middleware for request ids and errors.
public struct ContractMiddleware<Context: RequestContext>: RouterMiddleware {
    private let ids: RequestIDMiddleware<Context>
    private let errors: ContractErrorMiddleware<Context>
    /// Returns the state of the limits of a request; `nil` if the contexts have no limits.
    private var limits: (@Sendable (Context) -> RequestLimits)?
    /// Counts a request if this needs no suspension, and returns whether it did.
    private var countWithoutSuspension: @Sendable (Request, Context) throws -> Bool = { _, _ in true }
    /// Counts a request that ``countWithoutSuspension`` did not count.
    private var count: @Sendable (Request, Context) async throws -> Void = { _, _ in }

    /// Creates the middleware for ids and errors.
    init(adoptsContextID: Bool = false, renderer: ContractErrorRenderer, routes: RouteIndex? = nil) {
        ids = RequestIDMiddleware(adoptsContextID: adoptsContextID)
        errors = ContractErrorMiddleware(renderer: renderer, routes: routes)
    }

    /// Passes the request on with its id in the metadata of the logger, if the limit admits the request. Converts errors to responses, and
    /// adds the header fields to the response.
    public func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let id = ids.id(of: request, in: context)
        var context = context
        context.setRequestID(id)
        var response: Response
        do {
            if try !countWithoutSuspension(request, context) { try await count(request, context) }
            response = try await next(request, context)
        } catch {
            response = errors.response(for: error, to: request, in: context)
        }
        if let limits {
            let limits = limits(context)
            if let result = limits.known {
                response.setFields(of: result)
            } else {
                response.setFields(of: await limits.result())
            }
        }
        response.setRequestID(id)
        return response
    }
}

extension ContractMiddleware where Context: LimitedRequestContext {
    /// Creates the middleware.
    /// - Parameters:
    ///   - renderer: Renders errors as responses.
    ///   - routes: An index of the methods of each path. With the index, a request with a wrong method gets 405 instead of 404.
    ///   - limit: Limits all requests of the router or the group. If `nil`, only other middleware and routes limit requests. All responses
    ///     have the header fields of the limits in both cases.
    public init(
        renderer: ContractErrorRenderer = ContractErrorRenderer(),
        routes: RouteIndex? = nil,
        limit: RateLimitMiddleware<Context>? = nil
    ) {
        self.init(adoptsContextID: false, renderer: renderer, routes: routes)
        limits = { $0.limits }
        guard let limit else { return }
        countWithoutSuspension = { try limit.countWithoutSuspension($0, in: $1) }
        count = { try await limit.count($0, in: $1) }
    }
}
