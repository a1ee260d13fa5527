import ErrorContract
import HTTPTypes
public import Hummingbird
import RateLimiting

/// Limits the requests of a router or a group.
///
/// ```swift
/// let limits = RateLimits([RateLimitRule(.requests(20, per: .seconds(60), name: "search-ip"))])
/// router.add(middleware: RateLimitFieldsMiddleware())
/// router.group("/search").add(middleware: RateLimitMiddleware(limits, .client("search-ip"))).get(use: search)
/// ```
///
/// All policies decide together: if one policy refuses a request, no policy counts it. The middleware throws refusals as ``ContractError``,
/// which ``ContractErrorMiddleware`` renders. Add ``RateLimitFieldsMiddleware`` outside of ``ContractErrorMiddleware``, so that all
/// responses have the header fields.
public struct RateLimitMiddleware<Context: LimitedRequestContext>: RouterMiddleware {
    /// The time at which the limits decide about a request.
    public enum Moment: Hashable, Sendable {
        /// Before the route. The server never reads the body of a refused request.
        case atOnce
        /// When the route calls `RateLimits.admit(_:in:sharing:refusing:)`. The route can then also count the request under keys from its
        /// body, such as an email address. If the route fails before this call, no policy counts the request, and the response reports the
        /// current state of the limits.
        case inRoute
    }

    private let limits: RateLimits
    private let sources: [RateLimitSource<Context>]
    /// The same sources; `nil` if one of them needs code of the app.
    private let commonSources: [CommonRateLimitSource]?
    private let moment: Moment

    /// Creates the middleware.
    /// - Parameters:
    ///   - limits: The rate limits of the server, which decide about each request.
    ///   - sources: The policies that limit the requests. Each ``RateLimitSource`` has the name of a policy and a rule that returns the key
    ///     under which the policy counts a request, such as the address of the client.
    ///   - moment: The time at which the limits decide about a request.
    public init(_ limits: RateLimits, _ sources: [RateLimitSource<Context>], decides moment: Moment = .atOnce) {
        (self.limits, self.sources, self.moment) = (limits, sources, moment)
        let common = sources.compactMap(\.common)
        commonSources = common.count == sources.count ? common : nil
    }

    /// Creates the middleware with its policies as arguments.
    /// - Parameters:
    ///   - limits: The rate limits of the server, which decide about each request.
    ///   - sources: The policies that limit the requests. Each ``RateLimitSource`` has the name of a policy and a rule that returns the key
    ///     under which the policy counts a request, such as the address of the client.
    ///   - moment: The time at which the limits decide about a request.
    public init(_ limits: RateLimits, _ sources: RateLimitSource<Context>..., decides moment: Moment = .atOnce) {
        self.init(limits, sources, decides: moment)
    }

    /// Counts the request, and passes it on if all enforced policies (policies that are not in shadow mode) admit it.
    ///
    /// With ``Moment/inRoute``, the route counts the request later, so this method refuses no request.
    /// - Throws: ``ContractError`` if an enforced policy refuses the request; errors of the sources and of the store.
    public func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        if try !countWithoutSuspension(request, in: context) { try await count(request, in: context) }
        return try await next(request, context)
    }

    /// Counts the request if this needs no suspension.
    /// - Returns: `false` if the app's code determines a key, or if the store counts outside this process. Then call
    ///   ``count(_:in:)``.
    /// - Throws: ``ContractError`` if an enforced policy refuses the request.
    func countWithoutSuspension(_ request: Request, in context: Context) throws -> Bool {
        guard let commonSources else { return false }
        switch moment {
        case .atOnce:
            guard limits.isLocal else { return false }
            _ = try limits.admitLocally(limits.claims(on: commonSources, of: request, in: context), in: context)
        case .inRoute:
            context.limits.expect(limits.claims(on: commonSources, of: request, in: context), by: limits)
        }
        return true
    }

    /// Counts the request.
    /// - Throws: ``ContractError`` if an enforced policy refuses the request; errors of the sources and of the store.
    func count(_ request: Request, in context: Context) async throws {
        var claims: [RateLimitClaim] = []
        claims.reserveCapacity(sources.count)
        for source in sources {
            if let claim = try await source.claim(of: request, in: context, by: limits) { claims.append(claim) }
        }
        switch moment {
        case .atOnce: try await limits.admit(claims, in: context)
        case .inRoute: context.limits.expect(claims, by: limits)
        }
    }
}

/// Adds the state of the request's limits to every response: `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-10).
///
/// Add this middleware outside of ``ContractErrorMiddleware``, so that error responses also get the fields. The fields omit policies whose
/// `RateLimitRule` has `isVisible: false`. If a request has no limits, its response is unchanged.
public struct RateLimitFieldsMiddleware<Context: LimitedRequestContext>: RouterMiddleware {
    /// Creates the middleware.
    public init() {}

    /// Passes the request on, and adds the fields to its response.
    public func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        let limits = context.limits
        if let result = limits.known {
            response.setFields(of: result)
        } else {
            response.setFields(of: await limits.result())
        }
        return response
    }
}

extension Response {
    /// Sets the header fields that report limits. If none of the limits is visible, the response is unchanged.
    mutating func setFields(of result: RateLimitResult) {
        guard let policies = RateLimitFields.policies(of: result), let limits = RateLimitFields.limits(of: result) else { return }
        // The array then doesn't grow again for the request id, the date and the name of the server.
        headers.reserveCapacity(headers.count + 5)
        headers[.rateLimitPolicy] = policies
        headers[.rateLimit] = limits
    }
}
