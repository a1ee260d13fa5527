import AccountContract
public import AccountCore
import ErrorContract
import HTTPTypes
public import Hummingbird
import Idempotency
import OpenAPI
public import ServerMiddleware

/// The routes with which apps reset a password. They request a link, validate the link's token and confirm the new password. A second route
/// for requesting a link serves older apps.
///
/// A request for a link receives the same response whether or not the address has an account. The server also does the same work in both
/// cases: it enqueues an email. Only the worker that sends emails reads the account. For users with a browser, also add
/// ``RecoveryPageRoutes``.
///
/// ```swift
/// RecoveryRoutes<AppContext>(recovery: recovery, environment: environment).add(to: router)
/// ```
public struct RecoveryRoutes<Context: LimitedRequestContext>: Sendable {
    /// Requests, validates and confirms password resets.
    private let recovery: PasswordRecovery
    private let environment: RouteEnvironment
    /// The formats of responses by path.
    private let forms: ErrorForms
    /// The lifetimes of links.
    private let rules: RecoveryRules

    /// Creates the routes.
    /// - Parameters:
    ///   - recovery: The service behind the routes.
    ///   - environment: The parts that the route types share.
    ///   - forms: The formats of responses by path. On a path where errors have the form `success`, the response to a reset request also
    ///     has this form.
    ///   - rules: The lifetimes of links.
    public init(
        recovery: PasswordRecovery,
        environment: RouteEnvironment,
        forms: ErrorForms = ErrorForms(),
        rules: RecoveryRules = RecoveryRules()
    ) {
        self.recovery = recovery
        self.environment = environment
        self.forms = forms
        self.rules = rules
    }

    /// Adds the routes to a router or a group, which needs a middleware that renders errors, such as `ContractErrorMiddleware`.
    ///
    /// Older apps request links at a separate path, and expect the errors of this path in the format `success`. Configure this format for
    /// the path in the middleware.
    /// - Parameter router: The router or group.
    public func add(to router: some RouterMethods<Context>) {
        router.add(RecoveryOperation.self, in: environment) { operation in
            switch operation {
            case .requestPasswordReset: request
            case .validateResetToken: validate
            case .confirmPasswordReset: confirm
            case .legacyPasswordReset: legacyRequest
            }
        }
    }

    /// Queues an email with a reset link. If errors on the path of the request have the form `success`, the response also has this form.
    @Sendable private func request(_ request: Request, _ context: Context) async throws -> Response {
        try await accept(request, context) { language in
            let message = ContractText.resetRequested.text(in: language)
            guard forms.form(for: request) == .success else {
                return try .json(MessageResponse(message: message), language: language)
            }
            return try .json(ResetLinkSentResponse(message: message, lifetime: rules.linkLifetime), language: language)
        }
    }

    /// Queues an email with a reset link, and returns the response that older apps expect.
    @Sendable private func legacyRequest(_ request: Request, _ context: Context) async throws -> Response {
        try await accept(request, context) { language in
            try .json(LegacyResetResponse(message: ContractText.resetRequested.text(in: language)), language: language)
        }
    }

    /// Validates a link without using it up.
    ///
    /// A rate limit restricts how many tokens a client can try. Guessing a token is impossible even without this limit, because a token has
    /// 256 random bits.
    /// - Throws: `AUTH_RESET_TOKEN_INVALID`, which doesn't distinguish unknown tokens from used ones.
    @Sendable private func validate(_ request: Request, _ context: Context) async throws -> Response {
        let body = try await environment.reader.read(ValidateResetTokenRequest.self, from: request)
        try await environment.limits.admit(in: context)
        let (account, expiresAt) = try await recovery.validate(body.token, email: body.email)
        return try .json(
            ValidTokenResponse(
                userID: UserID(account.id.rawValue),
                email: account.email,
                firstName: account.firstName.rawValue,
                expiresAt: expiresAt
            )
        )
    }

    /// Sets a new password. If the stores share a database, one transaction stores the change and the response with its idempotency key.
    ///
    /// - Throws: `AUTH_RESET_TOKEN_INVALID`, `AUTH_WEAK_PASSWORD`, or an error of the store. If the method throws, nothing is changed.
    @Sendable private func confirm(_ request: Request, _ context: Context) async throws -> Response {
        let body = try await environment.reader.read(ConfirmPasswordResetRequest.self, from: request)
        try await environment.limits.admit(in: context)
        let language = environment.localization.language(of: request)
        let message = ContractText.passwordChanged.text(in: language)
        var response = Response(status: .ok)
        try await recovery.confirm(body.token, email: body.email, newPassword: body.newPassword) { device, write in
            response = try .json(PasswordChangedResponse(message: message, deviceToken: device), language: language)
            return try await IdempotentRequest.committing(response, write)
        }
        return response
    }

    /// Queues the email of a reset request. The server does the same work for every address, so the response time doesn't reveal whether an
    /// address has an account.
    ///
    /// If the stores share a database, one transaction stores the queued email, the usage of the rate limits that counted this request, and
    /// the response with its idempotency key. Therefore, the method creates the response before the transaction.
    /// - Parameters:
    ///   - request: The request with the address.
    ///   - context: The context of the request.
    ///   - response: Creates the response in the language of the request.
    /// - Throws: `RATE_LIMIT_EXCEEDED`, or an error of the store.
    private func accept(
        _ request: Request,
        _ context: Context,
        responding response: (Language) throws -> Response
    ) async throws -> Response {
        let body = try await environment.reader.read(PasswordResetRequest.self, from: request)
        let language = environment.localization.language(of: request)
        let admission = try await environment.admitReset(of: body.email, request, in: context)
        let response = try response(language)
        try await admission.committing {
            try await IdempotentRequest.committing(response) {
                try await recovery.request(email: body.email, language: language)
            }
        }
        return response
    }
}
