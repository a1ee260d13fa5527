import ErrorContract

extension LabScenario {
    /// Bodies with unexpected content.
    static func bodies(root: String) -> [LabScenario] {
        replaced(root: root) + garbled(root: root) + shaped(root: root)
    }

    /// Bodies that another software sends in place of the server's.
    private static func replaced(root: String) -> [LabScenario] {
        [
            LabScenario(
                "captive-portal",
                .bodies,
                "200 with the page of a captive portal.",
                advice: "Does not take it for an answer: tells that the network wants something first.",
                LabResponse().with { $0.content = .html },
                root: root,
                expected: [.failure(LabFailure(.notAPI, .notAPIResponse, status: 200))]
            ),
            LabScenario(
                "proxy-page",
                .bodies,
                "503 with a page of HTML, and none of our headers.",
                advice: "Goes by the status, and shows nothing of the page.",
                LabResponse(.code(.serverServiceUnavailable)).with { $0.content = .html },
                root: root,
                expected: [.failure(LabFailure(.server, .serverError(503), status: 503))]
            ),
            LabScenario(
                "proxy-text",
                .bodies,
                "504 with a line of text in the place of the body.",
                advice: "Takes the code from X-Error-Code, and shows nothing of the text.",
                LabResponse(.code(.serverTimeout)).with { $0.content = .text },
                root: root,
                expected: [.failure(LabFailure(.server, .serverTimeout, status: 504))]
            ),
            LabScenario(
                "empty-error",
                .bodies,
                "404 without a body, and without X-Error-Code.",
                advice: "Goes by the status.",
                LabResponse(.code(.resourceNotFound)).with { ($0.content, $0.isBare) = (.empty, true) },
                root: root,
                expected: [.failure(LabFailure(.notFound, .notFound, status: 404))]
            ),
            LabScenario(
                "empty-success",
                .bodies,
                "200 without a body, where one was asked for.",
                advice: "Tells that the answer can't be read.",
                LabResponse().with { $0.content = .empty },
                root: root,
                expected: [.failure(LabFailure(.decoding, .decodingError, status: 200))]
            ),
        ]
    }

    /// Bodies in another encoding or with another content type than the header says.
    private static func garbled(root: String) -> [LabScenario] {
        let limited = [LabExpectation.failure(LabFailure(.rateLimited, .rateLimitExceeded, status: 429, retryAfter: 2...2))]
        let summaries: [(LabCharset, String)] = [
            (.latin1, "ISO 8859-1 that claims to be UTF-8"), (.utf16, "UTF-16 that claims to be UTF-8"),
            (.bom, "UTF-8 behind a byte order mark"),
        ]
        return summaries.map { charset, summary in
            LabScenario(
                "charset-\(charset.rawValue)",
                .bodies,
                "An error in Spanish, in \(summary).",
                advice: "Takes code and delay from the headers, and shows a text of its own.",
                LabResponse(.code(.rateLimitExceeded), retryAfter: .seconds(2)).with {
                    ($0.charset, $0.language) = (charset, .spanish)
                },
                root: root,
                expected: limited
            )
        } + [
            LabScenario(
                "wrong-type",
                .bodies,
                "An error in JSON that claims to be text/html.",
                advice: "Reads it: what parses is JSON, whatever it claims to be.",
                LabResponse(.code(.rateLimitExceeded), retryAfter: .seconds(2)).with {
                    ($0.contentType, $0.isBare) = ("text/html", true)
                },
                root: root,
                expected: limited
            )
        ]
    }

    /// Successes and errors in unusual but valid formats.
    private static func shaped(root: String) -> [LabScenario] {
        [
            LabScenario(
                "flat-success",
                .bodies,
                "200 with a flat body.",
                advice: "Reads it.",
                LabResponse(.ok),
                root: root,
                expected: [.success()]
            ),
            LabScenario(
                "wrapped-success",
                .bodies,
                "200 with a wrapped body.",
                advice: "Reads the same value from it.",
                LabResponse(.wrapped),
                root: root,
                expected: [.success()]
            ),
            LabScenario(
                "refused-under-200",
                .bodies,
                "200 whose body says success:false.",
                advice: "Takes it for the error that it is.",
                LabResponse(.code(.validationInvalidEmail)).with { ($0.form, $0.status) = (.success, 200) },
                root: root,
                expected: [.failure(LabFailure(.validation, .validationInvalidEmail, status: 400, fields: ["email"]))]
            ),
            LabScenario(
                "code-of-the-future",
                .bodies,
                "403 with a code that this version does not know.",
                advice: "Keeps the code, and goes by the status.",
                LabResponse(.code(ErrorCode("ACCOUNT_NEEDS_PASSKEY"))).with { $0.status = 403 },
                root: root,
                expected: [.failure(LabFailure(.forbidden, ErrorCode("ACCOUNT_NEEDS_PASSKEY"), status: 403))]
            ),
            LabScenario(
                "no-code-at-all",
                .bodies,
                "401 with a text and no code anywhere.",
                advice: "Refreshes if it has a refresh token, else asks to sign in; repeats once.",
                LabResponse(.code(.authTokenInvalid)).with { ($0.form, $0.isBare) = (.detail, true) },
                root: root,
                expected: [.failure(LabFailure(.unauthorized, .unauthorized, status: 401))]
            ),
        ]
    }
}
