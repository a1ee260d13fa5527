import ErrorContract
import HTTPTypes
public import Hummingbird
import RateLimiting

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
