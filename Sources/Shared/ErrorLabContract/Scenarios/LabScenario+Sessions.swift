import ErrorContract

extension LabScenario {
    /// Tokens that are missing, expired or refused.
    static func sessions(root: String) -> [LabScenario] {
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
                path: root + LabPath.protected,
                credentials: credentials,
                expected: expected
            )
        }
        return [
            scenario("token-good", "The token is good.", "Goes on.", .valid, [.success(authorized: true)]),
            scenario(
                "token-missing",
                "No token is sent.",
                "Refreshes if it has a refresh token, else asks to sign in.",
                .none,
                [refused(.authTokenMissing)]
            ),
            scenario(
                "token-unknown",
                "The token is one that nobody gave out.",
                "Refreshes if it has a refresh token, else asks to sign in.",
                .unknown,
                [refused(.authTokenInvalid)]
            ),
            scenario(
                "token-expired",
                "The token has expired; the refresh token is good.",
                "Refreshes once, however many calls want it, and repeats each once. The person notices nothing.",
                .expired,
                [refused(.authTokenExpired), .success(authorized: true)]
            ),
            scenario(
                "session-over",
                "The token has expired, and the refresh is refused.",
                "Forgets the credentials and asks to sign in, once.",
                .revoked,
                [refused(.authTokenExpired), refused(.authRefreshFailed)]
            ),
        ]
    }

    /// Redirects.
    static func redirects(root: String) -> [LabScenario] {
        [
            LabScenario(
                "redirect-same-origin",
                .redirects,
                "302 to another path of the same origin.",
                advice: "Follows a GET, with its credentials.",
                LabResponse().with { $0.redirect = .same },
                root: root,
                credentials: .valid,
                expected: [.success(authorized: true)]
            ),
            LabScenario(
                "redirect-cross-origin",
                .redirects,
                "302 to another origin.",
                advice: "Follows a GET without its credentials: they are for the origin that they were sent to.",
                LabResponse().with { $0.redirect = .cross },
                root: root,
                credentials: .valid,
                expected: [.success(authorized: false)]
            ),
            LabScenario(
                "redirect-post",
                .redirects,
                "302 in answer to a POST.",
                advice: "Does not follow: the redirect is the answer.",
                method: "POST",
                LabResponse().with { $0.redirect = .same },
                root: root,
                expected: [.failure(LabFailure(.badRequest, .badRequest, status: 302))]
            ),
        ]
    }
}
