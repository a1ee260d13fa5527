import ErrorContract
import HTTPTypes
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

/// Adds to every answer, successes and errors alike, how the limits of the request stand: `RateLimit-Policy` and `RateLimit`
/// (draft-ietf-httpapi-ratelimit-headers-10).
///
/// It belongs outside of ``ContractErrorMiddleware``, so that it sees the answers to errors too. Policies that aren't visible are
/// left out; an answer about which no limit was asked stays as it is.
public struct RateLimitFieldsMiddleware<Context: LimitedRequestContext>: RouterMiddleware {
    /// Creates the middleware.
    public init() {}

    public func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        let answer = if let known = context.limits.known { known } else { await context.limits.answer() }
        guard let policies = RateLimitFields.policies(of: answer), let limits = RateLimitFields.limits(of: answer) else {
            return response
        }
        for (name, value) in [(HTTPField.Name.rateLimitPolicy, policies), (.rateLimit, limits)] {
            if response.headers.contains(name) {
                response.headers[name] = value
            } else {
                response.headers.append(HTTPField(name: name, value: value))
            }
        }
        return response
    }
}
