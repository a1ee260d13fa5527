import AccountContract
import ErrorContract
import StrictJSON

extension OperationGroup {
    /// Register, sign in, continue, sign out, and who is calling.
    static func sessions(_ settings: APISettings) -> OperationGroup {
        OperationGroup(
            "Accounts and sessions",
            """
            An access token lasts 15 minutes and is sent as `Authorization: Bearer`. A refresh token lasts 30 days unused and 90 days \
            in all; each use gives a new pair, and a second use of the old one ends the session, except within ten seconds, for \
            answers that were lost.
            """,
            [register(settings), login, refresh, logout, me]
        )
    }

    private static func register(_ settings: APISettings) -> APIOperation {
        APIOperation(
            .post,
            AccountPath.register,
            id: "register",
            "Create an account",
            "Creates an account and signs it in.",
            answers: [session(201, "The account, signed in.")]
        ).with {
            $0.request = RequestContent(AccountRequests.register(settings), example: AccountExamples.register)
            $0.ownCodes = [.authEmailExists]
            $0.asksStore = true
            $0.limits = ["register-ip"]
        }
    }

    private static let login = APIOperation(
        .post,
        AccountPath.login,
        id: "login",
        "Sign in",
        """
        A wrong password and a missing account are answered alike, in the same time. That an account is inactive or suspended is told \
        only after the right password. An attempt counts for the account only if its password is checked, and as a failure only if it \
        is wrong. With a valid `device_token` of the account, the failures of other devices don't count.
        """,
        answers: [session(200, "The account, signed in.")]
    ).with {
        $0.request = RequestContent(AccountRequests.login, example: AccountExamples.login)
        $0.ownCodes = [.authInvalidCredentials, .authUserInactive, .authUserSuspended]
        $0.asksStore = true
        $0.limits = ["login-account", "login-failures", "login-device", "login-ip"]
        $0.parameters = [deviceCookie]
    }

    private static let deviceCookie = APIParameter(
        name: "__Host-device",
        place: .cookie,
        schema: .text(),
        about: "The device token of a browser, which the page for a new password sets. Any other text counts as none."
    )

    private static let refresh = APIOperation(
        .post,
        AccountPath.refresh,
        id: "refresh",
        "Continue a session",
        "Gives a new pair of tokens for a refresh token.",
        answers: [session(200, "The account with new tokens.")]
    ).with {
        $0.request = RequestContent(AccountRequests.refresh, example: AccountExamples.refresh)
        $0.ownCodes = [.authRefreshFailed, .authSessionExpired]
        $0.asksStore = true
        $0.limits = ["refresh-ip"]
    }

    private static let logout = APIOperation(
        .post,
        AccountPath.logout,
        id: "logout",
        "Sign out",
        "Ends the session of a refresh token. A token that is unknown or ended already is no error.",
        answers: [APIAnswer(204, "The session has ended.")]
    ).with {
        $0.isRepeatable = true
        $0.request = RequestContent(AccountRequests.refresh, example: AccountExamples.refresh)
        $0.asksStore = true
    }

    private static let me = APIOperation(
        .get,
        AccountPath.me,
        id: "me",
        "Who is calling",
        "The account that the access token speaks for.",
        answers: [APIAnswer(200, "The account.", .json(AccountAnswers.user, example: ["user": AccountExamples.user]))]
    ).with {
        $0.needsSession = true
        $0.ownCodes = [.authTokenMissing, .authTokenInvalid, .authTokenExpired, .authSessionExpired]
        $0.asksStore = true
    }

    /// An answer with a pair of tokens, and what can be done with them.
    private static func session(_ status: Int, _ about: Prose) -> APIAnswer {
        let token: JSONObject = ["refresh_token": "$response.body#/refresh_token"]
        return APIAnswer(status, about, .json(AccountAnswers.session, example: AccountExamples.session)).with {
            $0.links = [
                .init(name: "refresh", operationID: "refresh", request: token, about: "Continues the session."),
                .init(name: "logout", operationID: "logout", request: token, about: "Ends the session."),
            ]
        }
    }
}
