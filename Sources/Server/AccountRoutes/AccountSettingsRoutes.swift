import AccountContract
public import AccountCore
import ErrorContract
import Foundation
import HTTPTypes
public import Hummingbird
import Idempotency
import OpenAPI
public import ServerMiddleware

/// The routes with which a signed-in user manages the account: name, password, address, sessions, the deletion of the account, and the
/// export of its data.
///
/// ```swift
/// AccountSettingsRoutes<AppContext>(settings: settings, authentication: authentication, environment: environment)
///     .add(to: router)
/// ```
///
/// Each request needs an access token. The routes decode bodies, convert errors, and count requests by the client, and by the session or
/// the account of the token. `AccountSettings` of `AccountCore` makes the changes.
public struct AccountSettingsRoutes<Context: LimitedRequestContext>: Sendable {
    private let settings: AccountSettings
    private let authentication: Authentication
    private let environment: RouteEnvironment

    /// Creates the routes.
    /// - Parameters:
    ///   - settings: The service behind the routes.
    ///   - authentication: Identifies the caller by the access token.
    ///   - environment: The parts that the route types share.
    public init(settings: AccountSettings, authentication: Authentication, environment: RouteEnvironment) {
        self.settings = settings
        self.authentication = authentication
        self.environment = environment
    }

    /// Adds the routes to a router or a group, which needs a middleware that renders errors, such as `ContractErrorMiddleware`.
    ///
    /// - Parameter router: The router or group.
    public func add(to router: some RouterMethods<Context>) {
        router.add(AccountSettingsOperation.self, in: environment, authentication: authentication) { operation in
            switch operation {
            case .updateMe: update
            case .changeAccountPassword: changePassword
            case .changeEmail: changeEmail
            case .sessions: sessions
            case .endSession: endSession
            case .endOtherSessions: endOtherSessions
            case .deleteAccount: delete
            case .exportAccount: export
            }
        }
    }

    /// Changes the name and the language. If the server doesn't support the new language, the account keeps its language.
    @Sendable private func update(_ request: Request, _ context: Context) async throws -> Response {
        let caller = try await authentication.signedIn(of: request)
        let body = try await environment.reader.read(UpdateUserRequest.self, from: request)
        try await environment.limits.admitChange(by: caller, request, in: context)
        let language = body.locale.map { asked in
            LanguagePreference(acceptLanguage: asked.rawValue)
                .choose(from: environment.localization.supported, fallback: caller.account.language)
        }
        let account = try await settings.update(caller, firstName: body.firstName, language: language)
        return try .json(UserResponse(user: AccountUser(account)))
    }

    /// Sets a new password. All sessions of the account end, and the response contains a new session.
    @Sendable private func changePassword(_ request: Request, _ context: Context) async throws -> Response {
        let caller = try await authentication.signedIn(of: request)
        let body = try await environment.reader.read(ChangePasswordRequest.self, from: request)
        let admission = try await environment.limits.admitPassword(by: caller, request, in: context)
        let opened = try await settings.changePassword(
            of: caller,
            from: body.currentPassword,
            to: body.newPassword,
            on: ClientDevice(of: request)
        ) {
            await admission.settlePassword($0)
        }
        return try .json(try SessionResponse(opened, rules: authentication.rules))
    }

    /// Queues an email with a confirmation link to the new address. If the stores share a database, one transaction stores the queued
    /// email, the usage of the rate limits that counted this request, and the response with its idempotency key.
    @Sendable private func changeEmail(_ request: Request, _ context: Context) async throws -> Response {
        let caller = try await authentication.signedIn(of: request)
        let body = try await environment.reader.read(ChangeEmailRequest.self, from: request)
        let admission = try await environment.limits.admitPassword(
            by: caller,
            and: .changeEmail,
            emailing: body.newEmail,
            request,
            in: context
        )
        let response = try Response.message(ContractText.nextStepSent, to: request, environment.localization)
        try await admission.committing {
            try await IdempotentRequest.committing(response) {
                try await settings.requestEmailChange(of: caller, to: body.newEmail, password: body.currentPassword) {
                    await admission.settlePassword($0)
                }
            }
        }
        return response
    }

    /// Lists the sessions.
    @Sendable private func sessions(_ request: Request, _ context: Context) async throws -> Response {
        let caller = try await authentication.signedIn(of: request)
        try await environment.limits.admitChange(by: caller, request, in: context)
        let sessions = try await settings.sessions(of: caller).map { use in
            SessionDescription(
                id: UserID(use.session.id.rawValue),
                createdAt: use.session.createdAt,
                lastUsedAt: use.lastUsedAt,
                deviceName: use.session.deviceName,
                isCurrent: use.session.id == caller.session
            )
        }
        return try .json(SessionsResponse(sessions: sessions))
    }

    /// Ends one session. The response is the same for an unknown id and for a session of another account, so a caller can't find out
    /// whether a session exists.
    @Sendable private func endSession(_ request: Request, _ context: Context) async throws -> Response {
        let caller = try await authentication.signedIn(of: request)
        try await environment.limits.admitChange(by: caller, request, in: context)
        if let id = context.parameters.get("id").flatMap(UUID.init(uuidString:)) {
            try await settings.endSession(StoredSession.ID(rawValue: id), of: caller)
        }
        return Response(status: .noContent)
    }

    /// Ends all sessions of the account except the session of the caller.
    @Sendable private func endOtherSessions(_ request: Request, _ context: Context) async throws -> Response {
        let caller = try await authentication.signedIn(of: request)
        try await environment.limits.admitChange(by: caller, request, in: context)
        try await settings.endOtherSessions(of: caller)
        return Response(status: .noContent)
    }

    /// Deletes the account.
    @Sendable private func delete(_ request: Request, _ context: Context) async throws -> Response {
        let caller = try await authentication.signedIn(of: request)
        let body = try await environment.reader.read(PasswordRequest.self, from: request)
        let admission = try await environment.limits.admitPassword(by: caller, request, in: context)
        let language = environment.localization.language(of: request)
        let purgeAt = try await settings.delete(caller, password: body.password) { await admission.settlePassword($0) }
        let message = ContractText.accountDeleted.text(in: language)
        return try .json(
            AccountDeletedResponse(message: message, purgeAt: purgeAt),
            status: .accepted,
            language: language
        )
    }

    /// Returns everything that is stored about the account, except links that confirm a new address, as a file.
    @Sendable private func export(_ request: Request, _ context: Context) async throws -> Response {
        let caller = try await authentication.signedIn(of: request)
        let body = try await environment.reader.read(PasswordRequest.self, from: request)
        let admission = try await environment.limits.admitPassword(by: caller, and: .export, request, in: context)
        let export = try await settings.export(caller, password: body.password) { await admission.settlePassword($0) }
        var response = Response.json(export.json)
        response.headers[.contentDisposition] = "attachment; filename=\"account.json\""
        return response
    }
}

extension Authentication {
    /// Returns the account and the session of a request's access token.
    /// - Throws: `ContractError`: 401 with the reason, or an error of the store.
    func signedIn(of request: Request) async throws -> SignedIn {
        let token = try request.bearerToken()
        return try await translatingDomainErrors { try await signedIn(accessToken: token) }
    }
}

extension Response {
    /// Returns a response that only has a text for the user, in the language of the request.
    static func message(
        _ text: LocalizedText,
        status: HTTPResponse.Status = .ok,
        to request: Request,
        _ localization: Localization
    ) throws -> Response {
        let language = localization.language(of: request)
        return try .json(MessageResponse(message: text.text(in: language)), status: status, language: language)
    }
}
