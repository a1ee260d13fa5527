import AccountCore
import Hummingbird
import Logging
import Observability
import ServerMiddleware

/// Lets the domain know where a request came from, for the audit.
struct AuditOriginMiddleware<Context: LimitedRequestContext>: RouterMiddleware {
    let limits: RateLimits

    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let origin = AuditOrigin(
            client: limits.client(of: request, in: context).network,
            requestID: context.logger[metadataKey: Logger.requestIDKey].map { "\($0)" }
        )
        return try await AuditOrigin.$current.withValue(origin) { try await next(request, context) }
    }
}
