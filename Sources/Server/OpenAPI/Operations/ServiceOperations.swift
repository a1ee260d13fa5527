import ErrorContract
import StrictJSON

extension OperationGroup {
    /// Returns the operations that serve the API's description, which are the OpenAPI document and the reference pages, and the start page.
    /// - Parameter settings: The settings. If the API is a part of an app, there is no start page.
    static func reference(_ settings: APISettings) -> OperationGroup {
        OperationGroup(
            "Reference",
            "This description, as a page and as an OpenAPI document.",
            (settings.isPartOfApp ? [] : [home]) + referencePages
        )
    }

    /// The start page of a server that isn't a part of an app.
    private static let home = APIOperation(
        method: .get,
        path: "/",
        id: "home",
        summary: "The start page",
        about: "Shows the app name. In development, links to the reference, mailbox, error lab, error codes and health check.",
        responses: [.page(200, "The page, unless the client prefers JSON.")],
        ownCodes: [.resourceNotFound]
    )

    /// The OpenAPI document and the reference pages.
    private static let referencePages = [
        APIOperation(
            method: .get,
            path: "/openapi.json",
            id: "openAPI",
            summary: "This description as OpenAPI 3.1",
            about: "For generators, mock servers and tests.",
            responses: [
                DescribedResponse(
                    200,
                    "The document.",
                    .json(
                        NamedSchema(
                            "OpenAPIDocument",
                            .object(
                                Field("openapi", .constant(.string(APIDescription.openAPIVersion))),
                                Field("info", .object()),
                                Field("paths", .object()),
                                Field("components", .object())
                            )
                        ),
                        example: [
                            "openapi": .string(APIDescription.openAPIVersion), "info": [:], "paths": [:], "components": [:],
                        ]
                    )
                )
            ]
        ),
        APIOperation(
            method: .get,
            path: "/docs",
            id: "docs",
            summary: "This description as a page",
            about: "One file without third-party resources, which works without JavaScript.",
            responses: [DescribedResponse(200, "The page.", .page)]
        ),
        APIOperation(
            method: .get,
            path: "/errors",
            id: "errorCodes",
            summary: "All error codes as a page",
            about: "All codes by family, with links to their pages.",
            responses: [DescribedResponse(200, "The page.", .page)]
        ),
        APIOperation(
            method: .get,
            path: "/errors/{code}",
            id: "errorCode",
            summary: "One error code as a page",
            about: "The page to which the `type` of problem details links. An unknown code gets a page too.",
            parameters: [
                APIParameter(
                    name: "code",
                    place: .path,
                    schema: .text(),
                    about: "The code.",
                    example: ErrorCode.rateLimitExceeded.rawValue
                )
            ],
            responses: [
                DescribedResponse(200, "The page.", .page),
                DescribedResponse(404, "No such code; a page unless the client prefers JSON.", .page),
            ],
            ownCodes: [.resourceNotFound]
        ),
    ]
}

extension OperationGroup {
    /// Returns the operations of liveness, readiness and metrics.
    /// - Parameter settings: The settings. Liveness is always included.
    static func health(_ settings: APISettings) -> OperationGroup {
        OperationGroup(
            "Health",
            "For orchestration, monitoring and load balancers.",
            [live] + (settings.servesReadiness ? [ready] : []) + (settings.servesMetrics ? [metrics] : [])
        )
    }

    /// Liveness: whether the process responds. The check uses no store, so that an orchestrator doesn't restart servers because of a failed
    /// database.
    private static let live = APIOperation(
        method: .get,
        path: "/health/live",
        id: "live",
        summary: "The liveness of the server",
        about: "Checks no dependencies. Succeeds while the server handles requests.",
        responses: [status("live", named: "LiveResponse", "The server is running.")],
        isShed: false
    )

    /// Readiness: whether the server can process requests. Load balancers use it.
    private static let ready = APIOperation(
        method: .get,
        path: "/health/ready",
        id: "ready",
        summary: "The readiness of the server",
        about: "Checks all dependencies of the server. If one fails, `details.check` of the error contains its name.",
        responses: [status("ready", named: "ReadyResponse", "The server is ready for requests.")],
        ownCodes: [.serverServiceUnavailable],
        isShed: false
    )

    /// The metrics for Prometheus. If a token is configured, the server refuses requests without this token.
    private static let metrics = APIOperation(
        method: .get,
        path: "/metrics",
        id: "metrics",
        summary: "Metrics for Prometheus",
        about: """
            Counters, gauges and histograms in the text format 0.0.4. With `METRICS_TOKEN` the server requires the \
            token as `Authorization: Bearer …`; without one it serves the route in development on a loopback address only.
            """,
        responses: [
            DescribedResponse(
                200,
                "The metrics.",
                DescribedResponse.Content(mediaType: "text/plain", schema: .text(), example: nil)
            )
        ],
        ownCodes: [.authTokenMissing, .authTokenInvalid],
        isShed: false
    )

    /// Returns a response with a fixed status word.
    /// - Parameters:
    ///   - word: The only value of the member `status`.
    ///   - name: The name of the schema.
    ///   - about: The description for callers.
    private static func status(_ word: String, named name: String, _ about: Prose) -> DescribedResponse {
        let schema = NamedSchema(name, .object(Field("status", .constant(.string(word)))))
        return DescribedResponse(200, about, .json(schema, example: ["status": .string(word)]))
    }
}

extension OperationGroup {
    /// Returns the operations for development, which are only served on a loopback address.
    /// - Parameter settings: The settings. If the API is a part of an app, there is no error lab.
    static func development(_ settings: APISettings) -> OperationGroup {
        let about: Prose =
            "Routes that exist only in development and on a loopback address; a request with another host name gets 404."
        let lab: Prose = "The error lab at `/dev/lab` lists its scenarios at `/dev/lab/scenarios`."
        return OperationGroup("Development", settings.isPartOfApp ? about : about.followed(by: lab), [mailbox, mail])
    }

    /// The list of stored emails.
    private static let mailbox = APIOperation(
        method: .get,
        path: "/dev/mailbox",
        id: "mailbox",
        summary: "The emails in the local mailbox",
        about: "The newest 100 unsent emails, newest first: as a page, or as JSON for `Accept: application/json`.",
        responses: [
            DescribedResponse(
                200,
                "The emails.",
                .page,
                .json(
                    NamedSchema("Mailbox", .object(Field("messages", .list(of: .named(message))))),
                    example: ["messages": [example]]
                )
            )
        ],
        ownCodes: [.resourceNotFound]
    )

    /// One stored email as HTML.
    private static let mail = APIOperation(
        method: .get,
        path: "/dev/mailbox/{id}",
        id: "mail",
        summary: "The HTML of one email",
        about: "The HTML part of the email, as a page.",
        parameters: [APIParameter(name: "id", place: .path, schema: .text(), about: "The email's id.", example: mailID)],
        responses: [DescribedResponse(200, "The email.", .page)],
        ownCodes: [.resourceNotFound]
    )

    /// The schema of a stored email.
    private static let message = NamedSchema(
        "MailboxMessage",
        .object(
            Field("id", .text()),
            Field("date", .text(), .required, "The `Date` header of the email (RFC 5322 §3.3)."),
            Field("recipient", .text()),
            Field("subject", .text()),
            Field("text", .text(), .required, "The plain text part."),
            Field("link", .text(TextRules(format: "uri")), .optional, "The first link of the email.")
        )
    )

    /// The id of the example.
    private static let mailID = "000001795257000000-6f1e"

    /// An example of a stored email.
    private static let example: JSONValue = [
        "id": .string(mailID), "date": "Sat, 21 Nov 2026 10:30:00 +0000", "recipient": "ana@example.com",
        "subject": "Reset your password - Holdfast", "text": "Hello Ana, …",
        "link": .string("http://127.0.0.1:8080/reset-password?token=\(AccountExamples.token)&email=ana%40example.com"),
    ]
}
