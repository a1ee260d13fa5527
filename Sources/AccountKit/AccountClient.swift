public import AccountContract
public import ErrorContract
import Foundation
import HTTPTypes
public import ResilientHTTP

/// The account API for an app: sessions and password reset.
///
/// Keeps the session's credentials in a ``ResilientHTTP/CredentialStore``. Every call throws ``ErrorContract/APIError``; failures of
/// the store are thrown as one with the kind `custom`.
public struct AccountClient: Sendable {
    /// The client that calls go through.
    public var api: APIClient
    /// The session; give it to the client of the app's own API.
    public let session: Session

    /// Creates a client.
    /// - Parameters:
    ///   - api: The client that calls go through, without a session of its own.
    ///   - store: Where the credentials are kept.
    ///   - prompt: Asks the person to sign in when a session has ended.
    public init(
        api: APIClient,
        store: any CredentialStore = MemoryCredentialStore(),
        prompt: Session.SignInPrompt? = nil
    ) {
        self.api = api
        var refreshing = api
        // The session repeats a failed refresh itself, and no call waits for more than one at a time.
        refreshing.policies.set(.sessionRefresh, for: "/api/auth/refresh", method: .post)
        session = Session(
            store: store,
            surroundings: api.surroundings,
            refresh: { [refreshing] token in
                let request = RefreshRequest(refreshToken: try RefreshToken(token))
                let answer: SessionAnswer = try await refreshing.post(AccountPath.refresh, request, context: "session_refresh")
                return Credentials(answer, now: api.surroundings.wallClock())
            },
            revoke: { credentials in
                guard let token = credentials.refreshToken.flatMap({ try? RefreshToken($0) }) else { return }
                try? await api.post(AccountPath.logout, RefreshRequest(refreshToken: token), context: "user_logout")
            },
            prompt: prompt
        )
    }

    /// Creates an account and signs in.
    public func register(
        email: EmailAddress,
        password: Password,
        firstName: FirstName
    ) async throws(APIError) -> AccountUser {
        let request = RegisterRequest(email: email, password: password, firstName: firstName, locale: api.language)
        return try await begin(AccountPath.register, request, email, context: "user_register")
    }

    /// Signs in.
    public func signIn(email: EmailAddress, password: Password) async throws(APIError) -> AccountUser {
        try await begin(AccountPath.login, LoginRequest(email: email, password: password), email, context: "user_login")
    }

    /// Continues the session with new credentials.
    /// - Throws: Code `AUTH_TOKEN_MISSING` if nobody is signed in.
    public func refresh() async throws(APIError) {
        do {
            try await session.refreshNow()
        } catch {
            throw APIError(accounts: error, context: "session_refresh")
        }
    }

    /// Ends the session here and on the server. The credentials are forgotten even if the server can't be reached, and the server is
    /// told even if they can't be forgotten.
    public func signOut() async throws(APIError) {
        let token = try await credentials(context: "user_logout").refreshToken
        var failure: APIError?
        do {
            try await session.hold(nil)
        } catch {
            failure = APIError(accounts: error, context: "user_logout")
        }
        if let token = token.flatMap({ try? RefreshToken($0) }) {
            try await api.post(AccountPath.logout, RefreshRequest(refreshToken: token), context: "user_logout")
        }
        if let failure { throw failure }
    }

    /// The signed-in account.
    /// - Throws: Code `AUTH_TOKEN_MISSING` if nobody is signed in.
    public func me() async throws(APIError) -> AccountUser {
        _ = try await credentials(context: "user_me")
        let answer: UserAnswer = try await api.authorised(by: session).get(AccountPath.me, context: "user_me")
        return answer.user
    }

    /// Asks for a reset link by mail. The answer does not tell whether there is an account.
    /// - Returns: The text for the person.
    public func requestPasswordReset(email: EmailAddress) async throws(APIError) -> String {
        let answer: MessageAnswer = try await api.post(
            AccountPath.requestPasswordReset,
            PasswordResetRequest(email: email),
            context: "password_reset_request"
        )
        return answer.message ?? api.catalogue.text(ContractText.resetRequested, in: api.language)
    }

    /// Looks whether a link may still be used; does not use it.
    public func validateReset(_ link: ResetLink) async throws(APIError) -> ValidTokenAnswer {
        let context = "password_reset_validate"
        let answer: ValidTokenAnswer = try await api.post(
            AccountPath.validateResetToken,
            ValidateResetTokenRequest(token: link.token, email: link.email),
            context: context
        )
        guard answer.valid else {
            throw APIError(kind: .badRequest, code: .authResetTokenInvalid, recovery: .requestNewLink, context: context)
        }
        return answer
    }

    /// Sets a new password by a link. A refused password leaves the link usable; success ends every session.
    /// - Returns: The text for the person.
    public func confirmReset(_ link: ResetLink, newPassword: Password) async throws(APIError) -> String {
        let answer: MessageAnswer = try await api.post(
            AccountPath.confirmPasswordReset,
            ConfirmPasswordResetRequest(token: link.token, email: link.email, newPassword: newPassword),
            context: "password_reset_confirm"
        )
        return answer.message ?? api.catalogue.text(ContractText.passwordChanged, in: api.language)
    }
}

extension AccountClient {
    private func begin(
        _ path: String,
        _ request: some Encodable,
        _ email: EmailAddress,
        context: String
    ) async throws(APIError) -> AccountUser {
        let answer: SessionAnswer = try await api.post(path, request, context: context)
        do {
            try await session.hold(Credentials(answer, now: api.surroundings.wallClock()))
        } catch {
            throw APIError(accounts: error, context: context)
        }
        var user = answer.user
        user.email = user.email ?? email
        return user
    }

    private func credentials(context: String) async throws(APIError) -> Credentials {
        do {
            if let held = try await session.credentials { return held }
        } catch {
            throw APIError(accounts: error, context: context)
        }
        throw APIError(
            kind: .unauthorized,
            code: .authTokenMissing,
            retry: .afterSignIn,
            recovery: .signIn,
            context: context,
            attempts: 0
        )
    }
}

extension APIError {
    /// The error for what a session threw: one of its own, or the store's.
    fileprivate init(accounts error: any Error, context: String) {
        if let error = error as? APIError {
            self = error
            self.context = context
        } else {
            self.init(kind: .custom, code: .unknown, context: context, attempts: 0, underlying: error)
        }
    }
}

extension Credentials {
    fileprivate init(_ answer: SessionAnswer, now: Date) {
        self.init(
            accessToken: answer.accessToken,
            refreshToken: answer.refreshToken?.rawValue,
            expiresAt: answer.expiresIn.map { now.addingTimeInterval(Double($0)) },
            userID: answer.user?.id?.rawValue
        )
    }
}
