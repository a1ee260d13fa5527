public import AccountContract
public import ErrorContract
import HTTPTypes
public import ResilientHTTP

/// The account API for an app: sessions and password reset.
///
/// Keeps the session's credentials in a ``CredentialStore``. Every call throws ``ErrorContract/APIError``; failures of the
/// store are thrown as one with the kind `custom`.
public struct AccountClient: Sendable {
    /// The client that calls go through.
    public var api: APIClient
    private let store: any CredentialStore

    /// Creates a client.
    public init(api: APIClient, store: any CredentialStore = MemoryCredentialStore()) {
        self.api = api
        self.store = store
    }

    /// Creates an account and signs in.
    public func register(
        email: EmailAddress,
        password: Password,
        firstName: FirstName
    ) async throws(APIError) -> AccountUser {
        let request = RegisterRequest(email: email, password: password, firstName: firstName, locale: api.language)
        return try await begin(AccountPath.register, request, context: "user_register")
    }

    /// Signs in.
    public func signIn(email: EmailAddress, password: Password) async throws(APIError) -> AccountUser {
        try await begin(AccountPath.login, LoginRequest(email: email, password: password), context: "user_login")
    }

    /// Continues the session with new credentials.
    /// - Throws: Code `AUTH_TOKEN_MISSING` if nobody is signed in.
    public func refresh() async throws(APIError) -> AccountUser {
        let token = try await credentials(context: "session_refresh").refreshToken
        return try await begin(AccountPath.refresh, RefreshRequest(refreshToken: token), context: "session_refresh")
    }

    /// Ends the session here and on the server. The credentials are forgotten even if the server can't be reached.
    public func signOut() async throws(APIError) {
        let token = try await credentials(context: "user_logout").refreshToken
        try await save(nil, context: "user_logout")
        try await api.post(AccountPath.logout, RefreshRequest(refreshToken: token), context: "user_logout")
    }

    /// The signed-in account.
    /// - Throws: Code `AUTH_TOKEN_MISSING` if nobody is signed in.
    public func me() async throws(APIError) -> AccountUser {
        let token = try await credentials(context: "user_me").accessToken
        let answer: UserAnswer = try await api.get(
            AccountPath.me,
            headers: [.authorization: "Bearer \(token)"],
            context: "user_me"
        )
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
        return answer.message
    }

    /// Looks whether a link may still be used; does not use it.
    public func validateReset(_ link: ResetLink) async throws(APIError) -> ValidTokenAnswer {
        try await api.post(
            AccountPath.validateResetToken,
            ValidateResetTokenRequest(token: link.token, email: link.email),
            context: "password_reset_validate"
        )
    }

    /// Sets a new password by a link. A refused password leaves the link usable; success ends every session.
    /// - Returns: The text for the person.
    public func confirmReset(_ link: ResetLink, newPassword: Password) async throws(APIError) -> String {
        let answer: MessageAnswer = try await api.post(
            AccountPath.confirmPasswordReset,
            ConfirmPasswordResetRequest(token: link.token, email: link.email, newPassword: newPassword),
            context: "password_reset_confirm"
        )
        return answer.message
    }
}

extension AccountClient {
    private func begin(
        _ path: String,
        _ request: some Encodable,
        context: String
    ) async throws(APIError) -> AccountUser {
        let answer: SessionAnswer = try await api.post(path, request, context: context)
        try await save(Credentials(accessToken: answer.accessToken, refreshToken: answer.refreshToken), context: context)
        return answer.user
    }

    private func credentials(context: String) async throws(APIError) -> Credentials {
        let loaded: Credentials?
        do {
            loaded = try await store.load()
        } catch {
            throw APIError(kind: .custom, code: .unknown, context: context, attempts: 0, underlying: error)
        }
        guard let loaded else {
            throw APIError(
                kind: .unauthorized,
                code: .authTokenMissing,
                retry: .afterSignIn,
                recovery: .signIn,
                context: context,
                attempts: 0
            )
        }
        return loaded
    }

    private func save(_ credentials: Credentials?, context: String) async throws(APIError) {
        do {
            try await store.save(credentials)
        } catch {
            throw APIError(kind: .custom, code: .unknown, context: context, attempts: 0, underlying: error)
        }
    }
}
