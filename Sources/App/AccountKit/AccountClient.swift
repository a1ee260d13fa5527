public import AccountContract
public import ErrorContract
import Foundation
import HTTPTypes
public import ResilientHTTP
import StrictJSON

/// The account API for an app: sign-in, sessions and password reset.
///
/// ```swift
/// let accounts = AccountClient(api: APIClient(baseURL: url), store: KeychainCredentialStore(service: "com.example.notes"))
/// let user = try await accounts.signIn(email: try EmailAddress(email), password: try Password(password))
/// ```
///
/// The credentials of the session are stored in a `CredentialStore`, together with the device tokens of the accounts that signed in on this
/// device. A device token stays stored after a sign-out. The client sends it with the next sign-in to the same account, so that failed
/// attempts of other devices don't block this sign-in.
///
/// Every call throws `APIError`. Failures of the store have the kind `custom`.
///
/// Every POST and PATCH carries an `Idempotency-Key`, so that the client can retry a request whose response was lost. If a method has a
/// ``Submission`` parameter, it sends the key of the submission. If the user tries again with the same content, pass the same submission.
public struct AccountClient: Sendable {
    /// The client that makes the calls.
    public var api: APIClient
    /// The session. Pass it to the client of the app's own API.
    public let session: Session
    let devices: DeviceTokenBook
    /// The name of the device in the list of sessions; `nil` if the server derives a name from the `User-Agent`.
    let deviceName: String?

    /// Creates a client.
    /// - Parameters:
    ///   - api: The client that makes the calls, without a session.
    ///   - store: The store of the credentials.
    ///   - deviceName: The name of the device in the user's list of sessions, such as `UIDevice.current.model`. Every request to the
    ///     account API contains it as `X-Device-Name`. If it is `nil`, the server derives a name from the `User-Agent`.
    ///   - prompt: Asks the user to sign in when the session has ended.
    public init(
        api: APIClient,
        store: any CredentialStore = MemoryCredentialStore(),
        deviceName: String? = nil,
        prompt: Session.SignInPrompt? = nil
    ) {
        self.api = api
        self.deviceName = deviceName
        let devices = DeviceTokenBook(store: store.secretStore(named: "device-tokens"), server: api.baseURL)
        self.devices = devices
        var refreshing = api
        // The session itself retries a failed refresh, so the retry policy of other calls doesn't apply to a refresh. Concurrent calls
        // share a refresh.
        refreshing.policies.set(.sessionRefresh, for: "/api/auth/refresh", method: .post)
        session = Session(
            store: store,
            environment: api.environment,
            refresh: { [refreshing] token in
                let request = RefreshRequest(refreshToken: try RefreshToken(token))
                // The session retries a refresh whose response was lost. The server accepts the same refresh token again for a short time.
                let answer: SessionResponse = try await refreshing.post(
                    AccountPath.refresh,
                    request,
                    headers: [.idempotencyKey: "\"\(IdempotencyKeyMiddleware.randomKey())\""],
                    context: "session_refresh"
                )
                if let email = answer.user.email { await devices.keep(answer.deviceToken, for: email) }
                return Credentials(answer, now: api.environment.wallClock())
            },
            revoke: { credentials in
                guard let token = credentials.refreshToken.flatMap({ try? RefreshToken($0) }) else { return }
                try? await api.post(
                    AccountPath.logout,
                    RefreshRequest(refreshToken: token),
                    headers: [.idempotencyKey: "\"\(IdempotencyKeyMiddleware.randomKey())\""],
                    context: "user_logout"
                )
            },
            prompt: prompt
        )
    }

    /// Creates an account and signs in. With blind registration, requests an email with a link that creates the account.
    ///
    /// With blind registration (`REGISTRATION=blind`), the server ignores the password and sends an email with a link. The user opens the
    /// link and chooses a password, with which the app calls ``activate(token:password:email:submission:)``.
    ///
    /// If the response to an earlier attempt of the submission was lost, that attempt may have created the account. If the server then
    /// responds with `AUTH_EMAIL_EXISTS`, the client signs in with the same password. If the server refuses this password too, the method
    /// throws `AUTH_EMAIL_EXISTS`.
    /// - Parameters:
    ///   - email: The address of the account.
    ///   - password: The password as the user typed it; `nil` for a server with blind registration.
    ///   - firstName: The name by which emails and screens greet the user.
    ///   - submission: The submission of the form. If the user tries again with the same content, pass the same submission.
    public func register(
        email: EmailAddress,
        password: Password?,
        firstName: FirstName,
        submission: Submission = Submission()
    ) async throws(APIError) -> RegistrationResult {
        let request = RegisterRequest(email: email, password: password, firstName: firstName, locale: api.language)
        let context = "user_register"
        let refusal: APIError
        do throws(APIError) {
            switch try await requestAccount(request, submission, context: context) {
            case .session(let response): return .signedIn(try await begin(response, email, context: context))
            case .message(let message): return .checkEmail(message: message ?? text(ContractText.nextStepSent))
            }
        } catch {
            guard error.code == .authEmailExists, submission.mayHaveTakenEffect else { throw error }
            refusal = error
        }
        guard let password else { throw refusal }
        do throws(APIError) {
            return .signedIn(try await signIn(email: email, password: password))
        } catch {
            // The password of this submission is wrong, so the account existed before the submission.
            throw [.unauthorized, .badRequest, .validation].contains(error.kind) ? refusal : error
        }
    }

    /// Signs in.
    ///
    /// - Throws: An error with the code `AUTH_INVALID_CREDENTIALS` for wrong credentials. If the server uses another code,
    ///   `APIError.refusingSignIn()` replaces it.
    /// - Parameters:
    ///   - email: The address of the account.
    ///   - password: The password as the user typed it.
    ///   - submission: The submission of the form. If the user tries again with the same content, pass the same submission.
    public func signIn(
        email: EmailAddress,
        password: Password,
        submission: Submission = Submission()
    ) async throws(APIError) -> AccountUser {
        let request = LoginRequest(email: email, password: password, deviceToken: await devices.token(for: email))
        do throws(APIError) {
            let context = "user_login"
            let response: SessionResponse = try await post(AccountPath.login, request, submission, context: context)
            return try await begin(response, email, context: context)
        } catch {
            var refusal = error.refusingSignIn()
            if refusal.kind == .rateLimited, refusal.details["reset_password"] == true {
                refusal.presentationText = ContractText.signInLimited(wait: refusal.retryAfter)
            }
            throw refusal
        }
    }

    /// Refreshes the session.
    ///
    /// - Throws: An error with the code `AUTH_TOKEN_MISSING` if no user is signed in. An error of the kind `throttled` if 5 refreshes
    ///   succeeded within 30 s.
    public func refresh() async throws(APIError) {
        do {
            try await session.refreshNow(timeout: api.timeout)
        } catch {
            throw APIError(accounts: error, context: "session_refresh")
        }
    }

    /// Ends the session on the device and on the server. The client removes the credentials even if the server can't be reached.
    ///
    /// If the client can't remove the credentials, it still ends the session on the server. It then throws the error of the store, which
    /// has the kind `custom`. In this case, call the method again. Otherwise, the user could be signed in again after a restart of the app.
    public func signOut() async throws(APIError) {
        let context = "user_logout"
        var token: String?
        do throws(APIError) {
            token = try await credentials(context: context).refreshToken
        } catch {
            // After a sign-out that failed, the store may still contain the credentials.
            if try await storeAgain() { return }
            throw error
        }
        var failure: APIError?
        do {
            // A refresh may have replaced the token in the meantime.
            if let replaced = try await session.setCredentials(nil) { token = replaced.refreshToken }
        } catch {
            failure = APIError(accounts: error, context: context)
        }
        if let token = token.flatMap({ try? RefreshToken($0) }) {
            let request = RefreshRequest(refreshToken: token)
            do throws(APIError) {
                try await sending(Submission(), with: nil) { api, headers throws(APIError) -> Void in
                    try await api.post(AccountPath.logout, request, headers: headers, context: context)
                }
            } catch {
                throw failure ?? error
            }
        }
        if let failure { throw failure }
    }

    /// Removes the credentials from the store if an earlier sign-out could not remove them.
    /// - Returns: Whether there were such credentials.
    private func storeAgain() async throws(APIError) -> Bool {
        do {
            return try await session.storeAgain()
        } catch {
            throw APIError(accounts: error, context: "user_logout")
        }
    }

    /// Returns the signed-in account.
    ///
    /// - Throws: An error with the code `AUTH_TOKEN_MISSING` if no user is signed in.
    public func me() async throws(APIError) -> AccountUser {
        let answer: UserResponse = try await signedIn(context: "user_me").get(AccountPath.me, context: "user_me")
        return answer.user
    }

    /// Requests a reset link by email. The response doesn't depend on whether the account exists.
    /// - Parameters:
    ///   - email: The address of the account.
    ///   - submission: The submission of the form. If the user tries again with the same address, pass the same submission. After a
    ///     success, create a new submission for the next request. Otherwise, the server repeats its response and sends no further email.
    /// - Returns: The text for the user.
    public func requestPasswordReset(
        email: EmailAddress,
        submission: Submission = Submission()
    ) async throws(APIError) -> String {
        do throws(APIError) {
            return try await message(
                AccountPath.requestPasswordReset,
                PasswordResetRequest(email: email),
                submission,
                context: "password_reset_request",
                default: ContractText.resetRequested
            )
        } catch {
            guard error.kind == .rateLimited else { throw error }
            var limited = error
            limited.presentationText = ContractText.resetLimited(wait: error.retryAfter)
            throw limited
        }
    }

    /// Validates a link without using it up. Call this method when a reset link opens the app, before the app shows the form.
    /// - Parameter link: The reset link that the user opened.
    /// - Returns: The response of the server for a valid link.
    /// - Throws: An error with the code `AUTH_RESET_TOKEN_INVALID` for an expired, used or unknown link, and for a response with only
    ///   `valid: false`. If another backend sends an error without a code, the client derives the code from the status.
    public func validateReset(_ link: ResetLink) async throws(APIError) -> ValidTokenResponse {
        let request = ValidateResetTokenRequest(token: link.token, email: link.email)
        let context = "password_reset_validate"
        let answer: ValidTokenResponse = try await post(AccountPath.validateResetToken, request, Submission(), context: context)
        guard answer.valid else {
            throw APIError(kind: .badRequest, code: .authResetTokenInvalid, recovery: .requestNewLink, context: context)
        }
        return answer
    }

    /// Sets a new password by a link. If the server refuses the password, the link stays valid. A success ends all sessions of the account.
    ///
    /// If the response was lost and the user tries again, a server with support for idempotency keys repeats the response. A server without
    /// this support refuses the used link. In this case, ``Submission/mayHaveTakenEffect`` is `true`, and the password has probably been
    /// changed.
    /// - Parameters:
    ///   - link: The reset link that the user opened.
    ///   - newPassword: The new password.
    ///   - submission: The submission of the form. If the user tries again with the same password, pass the same submission.
    /// - Returns: The text for the user.
    public func confirmReset(
        _ link: ResetLink,
        newPassword: Password,
        submission: Submission = Submission()
    ) async throws(APIError) -> String {
        let response: PasswordChangedResponse = try await post(
            AccountPath.confirmPasswordReset,
            ConfirmPasswordResetRequest(token: link.token, email: link.email, newPassword: newPassword),
            submission,
            context: "password_reset_confirm"
        )
        await devices.keep(response.deviceToken, for: link.email)
        return response.message ?? text(ContractText.passwordChanged)
    }
}

extension AccountClient {
    /// Stores the session of a response.
    /// - Parameters:
    ///   - response: The response with the tokens.
    ///   - email: The address of the account; `nil` if the caller doesn't know it. In this case, the method uses the address in the
    ///     response, if there is one.
    ///   - known: The credentials of the session that the response continues; `nil` if the response begins a session.
    ///   - context: The operation of the app.
    /// - Returns: The account, with its address if it is known.
    func begin(
        _ response: SessionResponse,
        _ email: EmailAddress?,
        continuing known: Credentials? = nil,
        context: String
    ) async throws(APIError) -> AccountUser {
        var user = response.user
        user.email = user.email ?? email
        await devices.keep(response.deviceToken, for: email ?? user.email)
        let credentials = Credentials(response, now: api.environment.wallClock())
        do {
            if let known {
                try await session.continueSession(of: known, with: credentials)
            } else {
                try await session.setCredentials(credentials)
            }
        } catch {
            throw APIError(accounts: error, context: context)
        }
        return user
    }

    /// Returns the credentials of the session.
    ///
    /// - Throws: An error with the code `AUTH_TOKEN_MISSING` if no user is signed in.
    func credentials(context: String) async throws(APIError) -> Credentials {
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

    /// Returns a client whose calls belong to the session that is present now.
    /// - Throws: An error with the code `AUTH_TOKEN_MISSING` if no user is signed in.
    func signedIn(context: String) async throws(APIError) -> APIClient {
        api.authorized(by: session, with: try await credentials(context: context))
    }
}

/// The result of a registration.
public enum RegistrationResult: Hashable, Sendable {
    /// The account exists, and its user is signed in.
    case signedIn(AccountUser)
    /// The server has sent an email, and the user must open the link in this email. The message is the text for the user.
    case checkEmail(message: String)

    /// The account; `nil` if the user has to open the link in the email first.
    public var user: AccountUser? {
        if case .signedIn(let user) = self { user } else { nil }
    }
}

/// The body of a response to a registration. Its meaning depends on the status.
private struct RegistrationResponse: Decodable {
    /// The meaning of the body.
    enum Content {
        case session(SessionResponse)
        case message(String?)
    }

    let session: Result<SessionResponse, any Error>
    let message: String?

    init(from decoder: any Decoder) throws {
        session = Result { try SessionResponse(from: decoder) }
        message = try? MessageResponse(from: decoder).message
    }

    /// Returns the text of a response with the status 202. For any other status, returns the session.
    func content(status: HTTPResponse.Status) throws -> Content {
        status == .accepted ? .message(message) : .session(try session.get())
    }
}

extension AccountClient {
    /// Posts a registration.
    private func requestAccount(
        _ request: RegisterRequest,
        _ submission: Submission,
        context: String
    ) async throws(APIError) -> RegistrationResponse.Content {
        let body = try api.json(request, context: context)
        return try await sending(submission, with: nil) { api, headers throws(APIError) in
            let response: APIResponse<RegistrationResponse> = try await api.response(
                .post,
                AccountPath.register,
                body: body,
                headers: headers,
                context: context
            )
            do {
                return try response.value.content(status: response.head.status)
            } catch {
                throw APIError(error, context: context)
            }
        }
    }
}

extension APIError {
    /// Converts an error of the session or of the credential store.
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
    fileprivate init(_ answer: SessionResponse, now: Date) {
        self.init(
            accessToken: answer.accessToken,
            refreshToken: answer.refreshToken?.rawValue,
            expiresAt: answer.expiresIn.map { now.addingTimeInterval(Double($0)) },
            userID: answer.user.id?.rawValue
        )
    }
}

extension AccountClient {
    /// Returns a copy of the client whose texts are in another language. The copy shares the session.
    func speaking(_ language: Language) -> AccountClient {
        var client = self
        client.api.language = language
        return client
    }
}
