package import AccountContract
public import AccountCore
import ErrorContract
import HTTPTypes
public import Hummingbird
import Idempotency
import OpenAPI
public import ServerMiddleware

/// The routes of sessions: registration, sign-in, refresh, sign-out, and the account of the signed-in user.
///
/// ```swift
/// let sessions = SessionRoutes<AppContext>(
///     authentication: authentication,
///     registration: registration,
///     environment: RouteEnvironment(limits: limits, localization: localization)
/// )
/// sessions.add(to: router)
/// ```
///
/// The routes decode bodies, count requests and convert errors. `Authentication` and `Registration` of `AccountCore` do the rest.
public struct SessionRoutes<Context: LimitedRequestContext>: Sendable {
    /// Signs users in and out, and refreshes sessions.
    private let authentication: Authentication
    /// Creates accounts.
    private let registration: Registration
    private let environment: RouteEnvironment

    /// Creates the routes.
    /// - Parameters:
    ///   - authentication: The service behind the routes of sessions.
    ///   - registration: The service behind the routes of registration. Its mode (open, blind or closed) determines which routes exist.
    ///   - environment: The parts that the route types share.
    public init(authentication: Authentication, registration: Registration, environment: RouteEnvironment) {
        self.authentication = authentication
        self.registration = registration
        self.environment = environment
    }

    /// Adds the routes to a router or a group, which needs a middleware that renders errors, such as `ContractErrorMiddleware`.
    ///
    /// - Parameter router: The router or group.
    public func add(to router: some RouterMethods<Context>) {
        router.add(SessionOperation.self, in: environment) { operation in
            switch operation {
            case .login: login
            case .refresh: refresh
            case .logout: logout
            case .me: me
            }
        }
        addRegistration(to: router)
    }

    /// Adds the routes of registration, depending on its mode.
    private func addRegistration(to router: some RouterMethods<Context>) {
        switch registration.mode {
        case .open:
            router.add(OpenRegistrationOperation.self, in: environment) { operation in
                switch operation {
                case .register: register
                }
            }
        case .blind:
            router.add(BlindRegistrationOperation.self, in: environment) { operation in
                switch operation {
                case .register: requestAccount
                case .activate: activate
                }
            }
        case .closed:
            router.add(ClosedRegistrationOperation.self, in: environment) { operation in
                switch operation {
                case .register: { _, _ in throw ContractError(.authRegistrationClosed) }
                }
            }
        }
    }

    /// Creates an account and signs it in.
    ///
    /// If the body has no supported language, the account gets the language of the request.
    /// - Throws: The refusals of `Registration.register`, `RATE_LIMIT_EXCEEDED`, or an error of the store.
    @Sendable private func register(_ request: Request, _ context: Context) async throws -> Response {
        let body = try await environment.reader.read(OpenRegisterRequest.self, from: request)
        try await environment.limits.admit(in: context)
        let opened = try await registration.register(
            email: body.email,
            password: body.password,
            firstName: body.firstName,
            language: language(body.locale, request),
            on: ClientDevice(of: request)
        )
        return try .json(try SessionResponse(opened, rules: authentication.rules), status: .created)
    }

    /// Queues an email whose link creates an account. If the address already has an account, the email contains a reset link instead.
    ///
    /// The server does the same work for every address, so the response time doesn't reveal whether an address has an account. The server
    /// hashes no password here, because the user chooses the password after opening the link.
    ///
    /// If the stores share a database, one transaction stores the queued email, the usage of the rate limits that counted this request,
    /// and the response with its idempotency key.
    /// - Throws: `RATE_LIMIT_EXCEEDED`, or an error of the store.
    @Sendable private func requestAccount(_ request: Request, _ context: Context) async throws -> Response {
        let body = try await environment.reader.read(RegisterRequest.self, from: request)
        let admission = try await environment.admitMail(to: body.email, by: .registerEmail, request, in: context)
        let response = try Response.message(ContractText.nextStepSent, status: .accepted, to: request, environment.localization)
        try await admission.committing {
            try await IdempotentRequest.committing(response) {
                try await registration.request(
                    email: body.email,
                    firstName: body.firstName,
                    language: language(body.locale, request)
                )
            }
        }
        return response
    }

    /// Creates an account with the link of a blind registration, and signs it in.
    ///
    /// - Throws: The refusals of `Registration.activate`, `RATE_LIMIT_EXCEEDED`, or an error of the store.
    @Sendable private func activate(_ request: Request, _ context: Context) async throws -> Response {
        let body = try await environment.reader.read(ActivateRequest.self, from: request)
        let admission = try await environment.limits.admitLink(body.token, request, in: context)
        let opened = try await admission.usingLink {
            try await registration.activate(body.token, password: body.password, on: ClientDevice(of: request))
        }
        return try .json(try SessionResponse(opened, rules: authentication.rules), status: .created)
    }

    /// Signs in. An overloaded server refuses the request before it reads the body. The route counts the attempt before it checks the
    /// password, so that concurrent attempts can't exceed the limits. Afterwards, it refunds some of the limits, depending on the result of
    /// the check.
    ///
    /// - Throws: The refusals of `Authentication.signIn`, `RATE_LIMIT_EXCEEDED`, or an error of the store.
    @Sendable private func login(_ request: Request, _ context: Context) async throws -> Response {
        try authentication.requireRoom()
        let body = try await environment.reader.read(LoginRequest.self, from: request)
        let tokens = [body.deviceToken, DeviceCookie.token(in: request)].compactMap { $0 }
        let device = try await authentication.device(provenBy: tokens, for: body.email)
        let admission = try await environment.limits.admitSignIn(with: body.email, device: device, request, in: context)
        let opened = try await authentication.signIn(
            email: body.email,
            password: body.password,
            on: ClientDevice(of: request)
        ) {
            await admission.settle($0)
        }
        return try .json(try SessionResponse(opened, rules: authentication.rules))
    }

    /// Refreshes a session.
    ///
    /// - Throws: The refusals of `Authentication.refresh`, `RATE_LIMIT_EXCEEDED`, or an error of the store.
    @Sendable private func refresh(_ request: Request, _ context: Context) async throws -> Response {
        let body = try await environment.reader.read(RefreshRequest.self, from: request)
        try await environment.limits.admit(in: context)
        return try .json(try SessionResponse(try await authentication.refresh(body.refreshToken), rules: authentication.rules))
    }

    /// Ends a session. If the stores share a database, one transaction ends the session and stores the response with its idempotency key.
    ///
    /// This route has no rate limit, so that a user can always sign out.
    @Sendable private func logout(_ request: Request, _ context: Context) async throws -> Response {
        let body = try await environment.reader.read(RefreshRequest.self, from: request)
        let response = Response(status: .noContent)
        try await IdempotentRequest.committing(response) { try await authentication.signOut(body.refreshToken) }
        return response
    }

    /// Returns the account of the access token.
    @Sendable private func me(_ request: Request, _ context: Context) async throws -> Response {
        try .json(UserResponse(user: try await authentication.user(of: request)))
    }

    /// Returns the given language if the server has texts in it; otherwise, returns the language of the request.
    private func language(_ asked: Language?, _ request: Request) -> Language {
        let preferred = environment.localization.language(of: request)
        guard let asked else { return preferred }
        return LanguagePreference(acceptLanguage: asked.rawValue).choose(
            from: environment.localization.supported,
            fallback: preferred
        )
    }
}

extension Authentication {
    /// Returns the user of a request's access token.
    /// - Parameter request: The request with `Authorization: Bearer`.
    /// - Throws: `ContractError`: 401 with the reason, or an error of the store.
    package func user(of request: Request) async throws -> AccountUser {
        let token = try request.bearerToken()
        return try await translatingDomainErrors { AccountUser(try await account(accessToken: token)) }
    }
}

extension AccountUser {
    /// Creates the public part of an account.
    init(_ account: Account) {
        self.init(
            id: UserID(account.id.rawValue),
            email: account.email,
            firstName: account.firstName.rawValue,
            emailVerified: account.isEmailVerified
        )
    }
}

extension SessionResponse {
    /// Creates the response with the tokens of a session.
    init(_ opened: Authentication.Opened, rules: SessionRules) throws {
        self.init(
            user: AccountUser(opened.account),
            accessToken: opened.accessToken,
            refreshToken: try RefreshToken(opened.refreshToken.text),
            expiresIn: Int(rules.accessTokenLifetime.components.seconds),
            deviceToken: opened.deviceToken
        )
    }
}

/// The body of an open registration. Unlike in `RegisterRequest`, the password is required, so that the decoder reports a missing password
/// together with all other problems.
private struct OpenRegisterRequest: Decodable {
    let email: EmailAddress
    let password: Password
    let firstName: FirstName
    let locale: Language?

    enum CodingKeys: String, CodingKey {
        case email, password, locale
        case firstName = "first_name"
    }
}

/// The cookie in which a browser stores its device token. The browser sends it only to this host and only over TLS, and scripts can't read
/// it. The cookie expires together with the token.
///
/// With this cookie, failed attempts of other devices don't count against a sign-in in the same browser.
enum DeviceCookie {
    /// The name. The prefix `__Host-` makes browsers enforce `Secure`, `Path=/` and no `Domain`.
    static let name = "__Host-device"

    /// Returns the device token of a request, if it has the cookie.
    static func token(in request: Request) -> DeviceToken? {
        request.cookies[name].flatMap { try? DeviceToken($0.value) }
    }

    /// Returns the value of `Set-Cookie` that stores a device token.
    static func field(_ token: DeviceToken) -> String {
        let seconds = DeviceTokens.lifetime.components.seconds
        return "\(name)=\(token.rawValue); Path=/; Max-Age=\(seconds); Secure; HttpOnly; SameSite=Strict"
    }
}
