public import Hummingbird
import RateLimiting

/// Limits the requests of a router or a group.
///
/// All its policies decide together: a request that one refuses is counted by none. Refusals are thrown as ``ContractError`` for
/// ``ContractErrorMiddleware``, outside of which ``RateLimitFieldsMiddleware`` adds the fields to every answer.
public struct RateLimitMiddleware<Context: LimitedRequestContext>: RouterMiddleware {
    /// When it is decided.
    public enum Moment: Hashable, Sendable {
        /// Before the route; a refused request's body is never read.
        case atOnce
        /// When the route calls `RateLimits.admit(_:in:refusing:)`, with what it knows from the body. A route that fails before
        /// that counts nothing; its answer tells how the limits stand.
        case inRoute
    }

    private let limits: RateLimits
    private let sources: [RateLimitSource<Context>]
    private let moment: Moment

    /// Creates the middleware.
    /// - Parameters:
    ///   - limits: What decides.
    ///   - sources: The policies, and whom a request counts for under each.
    ///   - moment: When it is decided.
    public init(_ limits: RateLimits, _ sources: [RateLimitSource<Context>], decides moment: Moment = .atOnce) {
        (self.limits, self.sources, self.moment) = (limits, sources, moment)
    }

    /// Creates the middleware with its policies in a row.
    public init(_ limits: RateLimits, _ sources: RateLimitSource<Context>..., decides moment: Moment = .atOnce) {
        self.init(limits, sources, decides: moment)
    }

    public func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var claims: [RateLimitClaim] = []
        claims.reserveCapacity(sources.count)
        for source in sources {
            if let claim = try await source.claim(request, context, limits) { claims.append(claim) }
        }
        switch moment {
        case .atOnce: try await limits.admit(claims, in: context)
        case .inRoute: context.limits.expect(claims, by: limits)
        }
        return try await next(request, context)
    }
}
