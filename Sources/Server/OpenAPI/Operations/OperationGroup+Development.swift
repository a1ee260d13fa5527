import ErrorContract
import StrictJSON

extension OperationGroup {
    /// What is served in development only, on a loopback address.
    static let development = OperationGroup(
        "Development",
        """
        Served in development and on a loopback address only; a request by another host name gets 404. The error lab at `/dev/lab` describes \
        itself, at `/dev/lab/scenarios`.
        """,
        [mailbox, mail]
    )

    private static let mailbox = APIOperation(
        .get,
        "/dev/mailbox",
        id: "mailbox",
        "The mails that would have been sent",
        "As a page, or as JSON for who asks with `Accept: application/json`; newest first, at most 100.",
        answers: [
            APIAnswer(
                200,
                "The mails.",
                .page,
                .json(
                    NamedSchema("Mailbox", .object(Field("messages", .list(of: .named(message))))),
                    example: ["messages": [example]]
                )
            )
        ]
    ).with { $0.ownCodes = [.resourceNotFound] }

    private static let mail = APIOperation(
        .get,
        "/dev/mailbox/{id}",
        id: "mail",
        "One mail as it looks",
        "The HTML of the mail.",
        answers: [APIAnswer(200, "The mail.", .page)]
    ).with {
        $0.parameters = [
            APIParameter(name: "id", place: .path, schema: .text(), about: "The mail's id.")
        ]
        $0.ownCodes = [.resourceNotFound]
    }

    private static let message = NamedSchema(
        "MailboxMessage",
        .object(
            Field("id", .text()),
            Field("date", .text(), .required, "As the mail says it (RFC 5322 §3.3)."),
            Field("recipient", .text()),
            Field("subject", .text()),
            Field("text", .text(), .required, "The plain text part."),
            Field("link", .text(TextRules(format: "uri")), .optional, "The first link in it.")
        )
    )

    private static let example: JSONValue = [
        "id": "000001795257000000-6f1e", "date": "Sat, 21 Nov 2026 10:30:00 +0000", "recipient": "ana@example.com",
        "subject": "Reset your password - Holdfast", "text": "Hello Ana, …",
        "link": .string("http://127.0.0.1:8080/reset-password?token=\(AccountExamples.token)&email=ana%40example.com"),
    ]
}
