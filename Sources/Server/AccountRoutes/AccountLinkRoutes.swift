import AccountContract
public import AccountCore
import ErrorContract
import HTTPTypes
public import Hummingbird
import Idempotency
import OpenAPI
public import ServerMiddleware

/// The routes behind emailed links, except the links that reset a password. With these routes, an app requests a verification link,
/// verifies an address, confirms a new address, restores a former address, or restores a deleted account.
///
/// For users with a browser, also add ``AccountPageRoutes``.
///
/// ```swift
/// AccountLinkRoutes<AppContext>(links: links, authentication: authentication, environment: environment).add(to: router)
/// ```
public struct AccountLinkRoutes<Context: LimitedRequestContext>: Sendable {
    private let links: AccountLinks
    private let authentication: Authentication
    private let environment: RouteEnvironment

    /// Creates the routes.
    /// - Parameters:
    ///   - links: The service behind the routes.
    ///   - authentication: Identifies the caller of a request with an access token.
    ///   - environment: The parts that the route types share.
    public init(links: AccountLinks, authentication: Authentication, environment: RouteEnvironment) {
        self.links = links
        self.authentication = authentication
        self.environment = environment
    }

    /// Adds the routes to a router or a group, which needs a middleware that renders errors, such as `ContractErrorMiddleware`.
    ///
    /// - Parameter router: The router or group.
    public func add(to router: some RouterMethods<Context>) {
        router.add(AccountLinkOperation.self, in: environment, authentication: authentication) { operation in
            switch operation {
            case .requestVerification: requestVerification
            case .verifyEmail: verifyEmail
            case .confirmEmail: confirmEmail
            case .undoEmail: undoEmail
            case .keepAccount: keepAccount
            }
        }
    }

    /// Queues an email with a verification link to the address of the caller's account, or to the address in the body. The server does the
    /// same work for every address, so the response time doesn't reveal whether an address has an account.
    ///
    /// If the stores share a database, one transaction stores the queued email, the usage of the rate limits that counted this request, and
    /// the response with its idempotency key.
    @Sendable private func requestVerification(_ request: Request, _ context: Context) async throws -> Response {
        let (email, owner, language) = try await recipient(request)
        let admission = try await environment.admitMail(to: email, by: .verifyEmail, of: owner, request, in: context)
        let response = try Response.message(ContractText.nextStepSent, to: request, environment.localization)
        try await admission.committing {
            try await IdempotentRequest.committing(response) {
                try await links.requestVerification(of: email, language: language)
            }
        }
        return response
    }

    /// Returns the address to verify and the language of the email. If the request has an access token, and the address belongs to the
    /// caller's account, the method also returns the id of this account. An invalid access token is an error, even if the body contains an
    /// address.
    private func recipient(_ request: Request) async throws -> (email: EmailAddress, owner: Account.ID?, Language) {
        guard request.headers[.authorization] != nil else {
            let body = try await environment.reader.read(PasswordResetRequest.self, from: request)
            return (body.email, nil, environment.localization.language(of: request))
        }
        let account = try await authentication.signedIn(of: request).account
        let body = try await environment.reader.read(VerificationRequest.self, from: request)
        let email = body.email ?? account.email
        return (email, email == account.email ? account.id : nil, account.language)
    }

    /// Verifies the address of an account. No session ends.
    @Sendable private func verifyEmail(_ request: Request, _ context: Context) async throws -> Response {
        let (token, proof) = try await provenLink(request)
        return try await use(token, request, context, ContractText.emailVerified) { try await links.verify(token, by: proof) }
    }

    /// Changes the address of an account. All sessions end, except the caller's session if the request has an access token.
    @Sendable private func confirmEmail(_ request: Request, _ context: Context) async throws -> Response {
        let (token, proof) = try await provenLink(request)
        return try await use(token, request, context, ContractText.emailChanged) {
            try await links.confirmEmail(token, by: proof)
        }
    }

    /// Restores a former address.
    @Sendable private func undoEmail(_ request: Request, _ context: Context) async throws -> Response {
        let token = try await environment.reader.read(LinkRequest.self, from: request).token
        return try await use(token, request, context, ContractText.emailRestored) { try await links.undoEmail(token) }
    }

    /// Restores a deleted account.
    @Sendable private func keepAccount(_ request: Request, _ context: Context) async throws -> Response {
        let token = try await environment.reader.read(LinkRequest.self, from: request).token
        return try await use(token, request, context, ContractText.accountRestored) { try await links.keepAccount(token) }
    }

    /// Makes the change of a link. If the stores share a database, one transaction stores the change and the response with its idempotency
    /// key.
    ///
    /// A check of the password counts against the limit of the link and not against the limits of sign-ins. An attacker with a stolen link
    /// therefore can't prevent the user from signing in.
    private func use(
        _ token: ResetToken,
        _ request: Request,
        _ context: Context,
        _ text: LocalizedText,
        _ change: () async throws -> Void
    ) async throws -> Response {
        let admission = try await environment.limits.admitLink(token, request, in: context)
        let response = try Response.message(text, to: request, environment.localization)
        try await admission.usingLink {
            try await IdempotentRequest.committing(response) { try await change() }
        }
        return response
    }

    /// Returns the token of the link, and the proof that the caller owns the account. The proof is the access token, or the current
    /// password if the request has no access token.
    private func provenLink(_ request: Request) async throws -> (ResetToken, AccountProof) {
        guard request.headers[.authorization] != nil else {
            let body = try await environment.reader.read(PasswordLink.self, from: request)
            return (body.token, .password(body.currentPassword))
        }
        let accessToken = try request.bearerToken()
        let body = try await environment.reader.read(ConfirmLinkRequest.self, from: request)
        return (body.token, .session(accessToken: accessToken))
    }
}

/// The body of a request without an access token. Unlike in `ConfirmLinkRequest`, the password is required, so that the decoder reports a
/// missing password together with all other problems.
private struct PasswordLink: Decodable {
    let token: ResetToken
    let currentPassword: Password

    enum CodingKeys: String, CodingKey {
        case token
        case currentPassword = "current_password"
    }
}
