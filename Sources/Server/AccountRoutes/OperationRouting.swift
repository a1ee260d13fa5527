import AccountContract
import AccountCore
import ErrorContract
import HTTPTypes
import Hummingbird
import Idempotency
import Logging
import Observability
import OpenAPI
import ServerMiddleware

/// A handler of a route.
typealias Handler<Context> = @Sendable (Request, Context) async throws -> Response

extension RouterMethods where Context: LimitedRequestContext {
    /// Adds a route for each operation of a group of the API, with the operation's rate limits and idempotency keys.
    ///
    /// Method, path, limits and idempotency come from the description of the operation, so the routes and the OpenAPI document can't
    /// differ. The limits count a request when its handler calls `RateLimits.admit`. The handler decodes the body first, so a malformed
    /// request costs no quota. A route converts errors of `AccountCore` to ``ContractError``.
    /// - Parameters:
    ///   - operations: The group.
    ///   - environment: The limits, the store of responses by idempotency key, and the decoder of bodies.
    ///   - authentication: Identifies the account of an access token. Idempotency keys of requests with a token belong to this account.
    ///     With `nil`, all keys belong to client addresses.
    ///   - handler: Returns the handler of an operation.
    func add<Operations: AccountOperations>(
        _ operations: Operations.Type,
        in environment: RouteEnvironment,
        authentication: Authentication? = nil,
        handler: (Operations) -> Handler<Context>
    ) {
        for operation in Operations.allCases {
            let (row, handle) = (operation.row, handler(operation))
            limited(by: row.limits, environment.limits)
                .refusingForeignForms(of: row)
                .idempotent(row.idempotency, in: environment, authentication)
                .on(RouterPath(row.path), method: row.method.request) { request, context in
                    try await translatingDomainErrors { try await handle(request, context) }
                }
        }
    }

    /// Returns a group of routes with rate limits. The limits count a request when its handler calls `RateLimits.admit`.
    private func limited(by names: [AccountLimit], _ limits: RateLimits) -> RouterGroup<Context> {
        guard !names.isEmpty else { return group() }
        return group().add(middleware: AuditOriginMiddleware(limits: limits))
            .add(middleware: RateLimitMiddleware(limits, names.compactMap(RateLimitSource.init), decides: .inRoute))
    }

    /// Returns a group of routes that refuses forms of other sites. An operation that needs a session needs no such group, because a
    /// browser never adds an access token by itself. `PageResponder` refuses such forms for the operations of pages.
    private func refusingForeignForms(of operation: APIOperation) -> RouterGroup<Context> {
        guard let request = operation.request, !request.isForm, !operation.needsSession else { return group() }
        return group().add(middleware: ForeignFormMiddleware())
    }

    /// Returns a group of routes whose requests clients can repeat with idempotency keys. If the operation doesn't allow this, the group
    /// ignores the keys.
    private func idempotent(
        _ idempotency: APIOperation.Idempotency,
        in environment: RouteEnvironment,
        _ authentication: Authentication?
    ) -> RouterGroup<Context> {
        guard let keys = environment.idempotency else { return group() }
        let (limits, reader) = (environment.limits, environment.reader)
        return switch idempotency {
        case .none: group()
        case .byClient:
            idempotent(by: keys, reader: reader) { request, context in
                guard let authentication, request.headers[.authorization] != nil else {
                    return .client(limits.client(of: request, in: context))
                }
                return .account(try await authentication.signedIn(of: request).account.id.description)
            }
        case .byResetToken:
            idempotent(by: keys, reader: reader) { request, _ in
                .secret(try await reader.read(ConfirmPasswordResetRequest.self, from: request).token.rawValue)
            }
        }
    }
}

extension APIOperation.Method {
    /// The HTTP method of the operation.
    fileprivate var request: HTTPRequest.Method {
        switch self {
        case .get: .get
        case .post: .post
        case .patch: .patch
        case .delete: .delete
        }
    }
}

extension RateLimitSource {
    /// Creates the source of a limit whose key, such as the client's address, is known before the body is read. The result is `nil` if the
    /// handler itself counts the request, with a key from the body.
    fileprivate init?(_ limit: AccountLimit) {
        switch limit.key {
        case .client: self = .client(limit.rawValue)
        case .everyone: self = .everybody(limit.rawValue)
        case .body: return nil
        }
    }
}

/// Refuses a form that a page of another site sends to a route of the API. The refusal counts for no limit.
///
/// A browser sends a form to any site. It sends JSON to another site only if this site has responded to a CORS preflight request.
/// Therefore, the middleware accepts JSON from every site, and an app can allow other sites with `CORSMiddleware`.
struct ForeignFormMiddleware<Context: RequestContext>: RouterMiddleware {
    /// Calls the next handler, unless the request is a form of another site.
    /// - Throws: ``ContractError`` with `REQUEST_UNSUPPORTED_MEDIA_TYPE`.
    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        if request.isFromOtherSite, request.headers[.contentType]?.lowercased().hasPrefix("application/json") != true {
            throw ContractError(.requestUnsupportedMediaType)
        }
        return try await next(request, context)
    }
}

/// Sets the origin of a request as a task-local value: the client's network and the id of the request. `AccountCore` writes the origin into
/// audit events.
///
/// The network is a prefix and not the address, so that audit events disclose less about a user.
struct AuditOriginMiddleware<Context: LimitedRequestContext>: RouterMiddleware {
    /// Identifies the client of a request.
    let limits: RateLimits

    /// Calls the next handler with the origin.
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
