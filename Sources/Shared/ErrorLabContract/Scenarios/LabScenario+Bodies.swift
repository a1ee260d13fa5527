import ErrorContract

extension LabScenario {
    /// Scenarios for bodies with unexpected content.
    static var bodies: [LabScenario] {
        replaced + garbled + shaped
    }

    /// Scenarios for bodies that another system, such as a captive portal or a proxy, sends instead of the server. The client can
    /// read only the status. If the proxy forwards `X-Error-Code`, the client can also read the code.
    private static var replaced: [LabScenario] {
        [
            LabScenario(
                "captive-portal",
                .bodies,
                "200 with the page of a captive portal.",
                advice: "Does not decode the page as a response; reports that the network requires a sign-in first.",
                LabResponse().with { $0.content = .html },
                expected: [.failure(LabFailure(.notAPI, .notAPIResponse, status: 200))]
            ),
            LabScenario(
                "proxy-page",
                .bodies,
                "503 with an HTML page, without the server's headers.",
                advice: "Uses the status, and shows no text of the page.",
                LabResponse(.code(.serverServiceUnavailable)).with { $0.content = .html },
                expected: [.failure(LabFailure(.server, .serverError(503), status: 503))]
            ),
            LabScenario(
                "proxy-text",
                .bodies,
                "504 with a line of text instead of the body.",
                advice: "Reads the code from X-Error-Code, and does not show the text.",
                LabResponse(.code(.serverTimeout)).with { $0.content = .text },
                expected: [.failure(LabFailure(.server, .serverTimeout, status: 504))]
            ),
            LabScenario(
                "empty-error",
                .bodies,
                "404 without a body, and without X-Error-Code.",
                advice: "Uses the status.",
                LabResponse(.code(.resourceNotFound)).with { ($0.content, $0.isBare) = (.empty, true) },
                expected: [.failure(LabFailure(.notFound, .notFound, status: 404))]
            ),
            LabScenario(
                "empty-success",
                .bodies,
                "200 without a body, although the client expects one.",
                advice: "Reports that the response can't be decoded.",
                LabResponse().with { $0.content = .empty },
                expected: [.failure(LabFailure(.decoding, .decodingError, status: 200))]
            ),
        ]
    }

    /// Scenarios for bodies in another encoding, or with a wrong `Content-Type`. The expected error is the same as for a correct
    /// body: the client reads the code and the delay from the header fields, or parses the body despite its `Content-Type`.
    private static var garbled: [LabScenario] {
        let limited = [LabExpectation.failure(LabFailure(.rateLimited, .rateLimitExceeded, status: 429, retryAfter: 2...2))]
        let summaries: [(LabCharset, String)] = [
            (.latin1, "ISO 8859-1, labeled as UTF-8"), (.utf16, "UTF-16, labeled as UTF-8"),
            (.bom, "UTF-8 with a byte order mark"),
        ]
        return summaries.map { charset, summary in
            LabScenario(
                "charset-\(charset.rawValue)",
                .bodies,
                "An error in Spanish, in \(summary).",
                advice: "Reads the code and the delay from the headers, and shows its own text.",
                LabResponse(.code(.rateLimitExceeded), retryAfter: .seconds(2)).with {
                    ($0.charset, $0.language) = (charset, .spanish)
                },
                expected: limited
            )
        } + [
            LabScenario(
                "wrong-type",
                .bodies,
                "A JSON error with the Content-Type text/html.",
                advice: "Decodes it: a body that parses as JSON is JSON, regardless of its Content-Type.",
                LabResponse(.code(.rateLimitExceeded), retryAfter: .seconds(2)).with {
                    ($0.contentType, $0.isBare) = ("text/html", true)
                },
                expected: limited
            )
        ]
    }

    /// Scenarios for successes and errors in unusual but valid formats: successes with and without an outer object, an error with
    /// the status 200, an unknown code, and an error without a code.
    private static var shaped: [LabScenario] {
        [
            LabScenario(
                "flat-success",
                .bodies,
                "200 with a flat body.",
                advice: "Decodes it.",
                LabResponse(.ok),
                expected: [.success()]
            ),
            LabScenario(
                "wrapped-success",
                .bodies,
                "200 with a wrapped body.",
                advice: "Decodes the same value as from a flat body.",
                LabResponse(.wrapped),
                expected: [.success()]
            ),
            LabScenario(
                "refused-under-200",
                .bodies,
                "200 with success:false in the body.",
                advice: "Treats it as an error.",
                LabResponse(.code(.validationInvalidEmail)).with { ($0.form, $0.status) = (.success, 200) },
                expected: [.failure(LabFailure(.validation, .validationInvalidEmail, status: 400, fields: ["email"]))]
            ),
            LabScenario(
                "code-of-the-future",
                .bodies,
                "403 with a code that this version doesn't define.",
                advice: "Stores the code, and uses the status.",
                LabResponse(.code(ErrorCode("ACCOUNT_NEEDS_PASSKEY"))).with { $0.status = 403 },
                expected: [.failure(LabFailure(.forbidden, ErrorCode("ACCOUNT_NEEDS_PASSKEY"), status: 403))]
            ),
            LabScenario(
                "no-code-at-all",
                .bodies,
                "401 with a text, without a code in the body or the headers.",
                advice: "Refreshes if it has a refresh token, otherwise requests a sign-in; repeats the call once.",
                LabResponse(.code(.authTokenInvalid)).with { ($0.form, $0.isBare) = (.detail, true) },
                expected: [.failure(LabFailure(.unauthorized, .unauthorized, status: 401))]
            ),
        ]
    }
}
