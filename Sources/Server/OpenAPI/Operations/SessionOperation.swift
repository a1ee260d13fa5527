import AccountContract
import ErrorContract
import StrictJSON

/// A group of the account API's operations. Each case is an operation, and the raw value is its `operationId` in the document.
///
/// The router must have exactly one handler for each case. If a handler is missing, the router doesn't compile.
///
/// To add an operation, add a case with its description. If a request or a response has a new member, add its meaning to ``MemberNote``. If
/// a member has a new type with a grammar, conform the type to ``DescribedValue``.
package protocol AccountOperations: CaseIterable, RawRepresentable<String>, Sendable {
    /// The description of the operation.
    var row: APIOperation { get }
}

extension AccountOperations {
    /// Returns the description of the operation, which uses the stores of the server. Its id is the raw value.
    /// - Parameters:
    ///   - path: The path without the base path.
    ///   - summary: The summary, without a period.
    ///   - about: The description.
    ///   - request: The body of requests; `nil` if they have none.
    ///   - response: The response without an error code.
    ///   - method: The method.
    ///   - needsSession: Whether a request needs an access token. If so, the codes of refused access tokens are added to `codes`.
    ///   - parameters: The parameters, without those that all operations have.
    ///   - wrapped: The response if errors have the form `success`, unless it is the same.
    ///   - codes: The codes of the operation itself.
    ///   - idempotency: The policy for idempotency keys. With `byClient`, the response must not contain a secret, because the server stores
    ///     it with the key.
    ///   - limits: The limits that count requests.
    ///   - errorStyle: The form of errors.
    func operation(
        _ path: String,
        _ summary: String,
        _ about: Prose,
        _ request: RequestContent?,
        _ response: DescribedResponse,
        method: APIOperation.Method = .post,
        needsSession: Bool = false,
        parameters: [APIParameter] = [],
        wrapped: DescribedResponse? = nil,
        codes: [ErrorCode] = [],
        idempotency: APIOperation.Idempotency = .none,
        limits: [AccountLimit] = [],
        errorStyle: APIOperation.ErrorStyle = .configured
    ) -> APIOperation {
        APIOperation(
            method: method,
            path: path,
            id: rawValue,
            summary: summary,
            about: about,
            needsSession: needsSession,
            parameters: parameters,
            request: request,
            responses: [response],
            wrappedResponses: wrapped.map { [$0] } ?? [],
            ownCodes: (needsSession ? SessionOperation.tokenCodes : []) + codes,
            idempotency: idempotency,
            asksStore: true,
            limits: limits,
            errorStyle: errorStyle
        )
    }
}

/// The operations of sessions: sign in, refresh, sign out, and the signed-in account. The operations of registration depend on the
/// settings; see ``OpenRegistrationOperation``, ``BlindRegistrationOperation`` and ``ClosedRegistrationOperation``.
package enum SessionOperation: String, AccountOperations {
    /// The operations, in the order of the reference:
    ///
    /// - `login` signs in with an address and a password.
    /// - `refresh` returns a new pair of tokens for a refresh token.
    /// - `logout` ends the session of a refresh token. It accepts an idempotency key, because its response contains no secrets.
    /// - `me` returns the account of the access token.
    case login, refresh, logout, me

    /// The description of the operation.
    package var row: APIOperation {
        switch self {
        case .login:
            operation(
                AccountPath.login,
                "Sign in",
                """
                A wrong password and a missing account get the same response in the same time. The server reports an inactive, \
                suspended, deleted or unverified account only after the correct password. An attempt counts against the account only if the server checks its \
                password, and as a failure only if the password is wrong. With a valid `device_token` of the account, the failures \
                of other devices don't count.
                """,
                RequestContent(
                    LoginRequest.self,
                    example: ["email": "ana@example.com", "password": "correct horse battery"]
                ),
                Self.session(200, "The account, signed in."),
                parameters: [.deviceName, Self.deviceCookie],
                codes: [
                    .authInvalidCredentials, .authUserInactive, .authUserSuspended, .authEmailNotVerified, .authAccountDeleted,
                ],
                limits: [.loginAccount, .loginFailures, .loginDevice, .loginIP]
            )
        case .refresh:
            operation(
                AccountPath.refresh,
                "Refresh a session",
                "Returns a new pair of tokens for a refresh token.",
                Self.refreshToken,
                Self.session(200, "The account with new tokens."),
                codes: [.authRefreshFailed, .authSessionExpired],
                limits: [.refreshIP]
            )
        case .logout:
            operation(
                AccountPath.logout,
                "Sign out",
                "Ends the session of a refresh token. An unknown token, or one of an ended session, is not an error.",
                Self.refreshToken,
                DescribedResponse(204, "The session has ended."),
                idempotency: .byClient
            )
        case .me:
            operation(
                AccountPath.me,
                "The signed-in account",
                "Returns the account of the access token.",
                nil,
                DescribedResponse(200, "The account.", .json(UserResponse.self, example: ["user": AccountExamples.user])),
                method: .get,
                needsSession: true
            )
        }
    }

    /// The codes of operations that need an access token.
    static let tokenCodes: [ErrorCode] = [.authTokenMissing, .authTokenInvalid, .authTokenExpired, .authSessionExpired]

    /// The body of `refresh` and `logout`. Both take the refresh token from the body, not from a header.
    private static let refreshToken = RequestContent(
        RefreshRequest.self,
        example: ["refresh_token": AccountExamples.refreshToken]
    )

    /// The cookie with the device token of a browser.
    private static let deviceCookie = APIParameter(
        name: "__Host-device",
        place: .cookie,
        schema: .text(),
        about: "The device token of a browser, which the page for a new password sets. The server ignores any other text."
    )

    /// Returns a response with a pair of tokens. The response links to the operations that accept its refresh token.
    /// - Parameters:
    ///   - status: The HTTP status: 201 for a new account, otherwise 200.
    ///   - about: The description for callers.
    static func session(_ status: Int, _ about: Prose) -> DescribedResponse {
        let token: JSONObject = ["refresh_token": "$response.body#/refresh_token"]
        let example: JSONValue = [
            "access_token": "eyJhbGciOiJFUzI1NiIsImtpZCI6ImsxIiwidHlwIjoiYXQrand0In0.eyJzdWIiOiI4QzNFMEI1MiJ9.Zm9yLXNob3ctb25seQ",
            "device_token": AccountExamples.deviceToken, "expires_in": 900, "refresh_token": AccountExamples.refreshToken,
            "token_type": "Bearer", "user": AccountExamples.user,
        ]
        return DescribedResponse(
            status,
            about,
            .json(SessionResponse.self, example: example),
            links: [
                .init(name: "refresh", operationID: Self.refresh.rawValue, request: token, about: "Refreshes the session."),
                .init(name: "logout", operationID: Self.logout.rawValue, request: token, about: "Ends the session."),
            ]
        )
    }
}

extension OperationGroup {
    /// Returns the operations of registration and sessions.
    /// - Parameter settings: The settings, which determine the operations of registration.
    static func sessions(_ settings: APISettings) -> OperationGroup {
        let registration =
            switch settings.registration {
            case .open: OpenRegistrationOperation.allCases.map(\.row)
            case .blind: BlindRegistrationOperation.allCases.map(\.row)
            case .closed: ClosedRegistrationOperation.allCases.map(\.row)
            }
        return OperationGroup(
            "Accounts and sessions",
            """
            An access token is valid for 15 minutes and is sent as `Authorization: Bearer`. Each use of a refresh token returns a new \
            pair of tokens. A refresh token expires after 30 days; a session ends after 90 days. A second use of a refresh token ends \
            the session, except within ten seconds, because the response to the first use may have been lost.
            """,
            registration + SessionOperation.allCases.map(\.row)
        )
    }
}

/// The values in the examples of the reference page: the account and the tokens of the user Ana. The tokens have a valid form, but no
/// server accepts them.
package enum AccountExamples {
    /// A reset token.
    package static let token = "3f0vJ8mQ2cT9xL5rN7bW1yH6dK4sG0pZaEiUoXqVtRg"
    /// A refresh token.
    static let refreshToken: JSONValue = "Zc1o3mJ6Xb0uV4kQ9tR2sY7wE5nH8gLd0aPfKiBxMvA"
    /// The id of a session.
    static let sessionID = "5d1f9a34-7c0e-4b8e-8f2b-2f6f1f0a9c11"
    /// A device token, which has 96 characters.
    static let deviceToken = JSONValue.string(
        "jD4LUg4LTGKaTQxajjt_EMqM" + String(repeating: "Zm9yLXNob3ctb25seS4u", count: 3) + "Zm9yLXNob3cu"
    )
    /// The account of Ana, as its owner sees it.
    static let user: JSONValue = [
        "id": "8c3e0b52-0e0b-4c62-9a4d-0c5a8e3b7f10", "email": "ana@example.com", "first_name": "Ana",
        "email_verified": true,
    ]
}
