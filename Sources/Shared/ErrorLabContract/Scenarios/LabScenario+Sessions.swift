import ErrorContract

extension LabScenario {
    /// Scenarios for tokens that are missing, expired or refused. Each scenario calls ``LabPath/protected`` with the
    /// ``LabScenario/credentials`` of the scenario.
    static var sessions: [LabScenario] {
        func refused(_ code: ErrorCode) -> LabExpectation { .failure(LabFailure(.unauthorized, code, status: 401)) }
        func scenario(
            _ name: String,
            _ summary: String,
            _ advice: String,
            _ credentials: Authorization,
            _ expected: [LabExpectation]
        ) -> LabScenario {
            LabScenario(
                name,
                .sessions,
                summary,
                advice: advice,
                path: LabPath.protected,
                credentials: credentials,
                expected: expected
            )
        }
        return [
            scenario("token-good", "The access token is valid.", "Uses the response.", .valid, [.success(authorized: true)]),
            scenario(
                "token-missing",
                "The request has no access token.",
                "Refreshes if it has a refresh token, otherwise requests a sign-in.",
                .none,
                [refused(.authTokenMissing)]
            ),
            scenario(
                "token-unknown",
                "The access token was never issued.",
                "Refreshes if it has a refresh token, otherwise requests a sign-in.",
                .unknown,
                [refused(.authTokenInvalid)]
            ),
            scenario(
                "token-expired",
                "The access token has expired; the refresh token is valid.",
                "Refreshes once for all calls, and repeats each call once. The user notices nothing.",
                .expired,
                [refused(.authTokenExpired), .success(authorized: true)]
            ),
            scenario(
                "session-over",
                "The access token has expired, and the refresh is refused.",
                "Removes the credentials and requests a sign-in, once.",
                .revoked,
                [refused(.authTokenExpired), refused(.authRefreshFailed)]
            ),
        ]
    }

    /// Scenarios for redirects of a GET to the same and to another origin, and of a POST. A client must not send `Authorization` to
    /// another origin.
    static var redirects: [LabScenario] {
        [
            LabScenario(
                "redirect-same-origin",
                .redirects,
                "302 to another path of the same origin.",
                advice: "Follows the redirect of a GET, with the credentials.",
                LabResponse().with { $0.redirect = .same },
                credentials: .valid,
                expected: [.success(authorized: true)]
            ),
            LabScenario(
                "redirect-cross-origin",
                .redirects,
                "302 to another origin.",
                advice: "Follows the redirect of a GET without the credentials, which belong to the first origin only.",
                LabResponse().with { $0.redirect = .cross },
                credentials: .valid,
                expected: [.success(authorized: false)]
            ),
            LabScenario(
                "redirect-post",
                .redirects,
                "302 in response to a POST.",
                advice: "Does not follow the redirect, and treats it as an error.",
                method: "POST",
                LabResponse().with { $0.redirect = .same },
                expected: [.failure(LabFailure(.badRequest, .badRequest, status: 302))]
            ),
        ]
    }
}
