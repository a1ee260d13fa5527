import AccountContract
import ErrorContract
import StrictJSON

/// The operations with which a signed-in user changes the account.
package enum AccountSettingsOperation: String, AccountOperations {
    /// The operations, in the order of the reference:
    ///
    /// - `updateMe` changes the name and the language.
    /// - `changeAccountPassword` sets a new password, ends all sessions and returns a new session.
    /// - `changeEmail` sends a link that confirms a new address.
    /// - `sessions` lists the sessions. `endSession` ends one session. `endOtherSessions` ends all sessions except the caller's.
    /// - `deleteAccount` deletes the account.
    /// - `exportAccount` returns everything that is stored about the account.
    case updateMe, changeAccountPassword, changeEmail, sessions, endSession, endOtherSessions, deleteAccount, exportAccount

    /// The description of the operation.
    package var row: APIOperation {
        switch self {
        case .updateMe:
            operation(
                AccountPath.me,
                "Change the name and the language",
                "Changes the given members. Others stay unchanged.",
                RequestContent(UpdateUserRequest.self, example: ["first_name": "Ana", "locale": "es"]),
                DescribedResponse(200, "The account.", .json(UserResponse.self, example: ["user": AccountExamples.user])),
                method: .patch,
                needsSession: true,
                limits: [.accountChange, .accountIP]
            )
        case .changeAccountPassword:
            operation(
                AccountPath.changePassword,
                "Change the password",
                """
                Ends all sessions of the account, revokes its device tokens, and returns a new session. An email reports the change and \
                lets the user lock the account.
                """,
                RequestContent(
                    ChangePasswordRequest.self,
                    example: ["current_password": "correct horse battery", "new_password": "another horse battery"]
                ),
                SessionOperation.session(200, "The account with a new session."),
                needsSession: true,
                parameters: [.deviceName],
                codes: [.authInvalidCredentials],
                limits: [.accountPassword, .accountIP]
            )
        case .changeEmail:
            operation(
                AccountPath.changeEmail,
                "Request a new address",
                """
                Sends an email to the new address, with a link that confirms it. The response is the same whether or not another account \
                has the address.
                """,
                RequestContent(
                    ChangeEmailRequest.self,
                    example: ["current_password": "correct horse battery", "new_email": "ana@example.org"]
                ),
                .message(200, "The server has accepted the request.", ContractText.nextStepSent),
                needsSession: true,
                codes: [.authInvalidCredentials],
                idempotency: .byClient,
                limits: [.accountPassword, .changeEmail, .verifyEmail, .accountIP]
            )
        case .sessions:
            operation(
                AccountPath.sessions,
                "The sessions of the account",
                "Lists the 100 sessions that were used last, newest use first.",
                nil,
                DescribedResponse(
                    200,
                    "The sessions.",
                    .json(
                        NamedSchema("SessionsResponse", .object(Field("sessions", .list(of: .named(Self.session))))),
                        example: ["sessions": [Self.sessionExample]]
                    )
                ),
                method: .get,
                needsSession: true,
                limits: [.accountChange, .accountIP]
            )
        case .endSession:
            operation(
                AccountPath.sessions + "/{id}",
                "End a session",
                "Ends a session of the account. An unknown id, or one of another account's session, is not an error.",
                nil,
                DescribedResponse(204, "The account has no session with this id any more."),
                method: .delete,
                needsSession: true,
                parameters: [
                    APIParameter(
                        name: "id",
                        place: .path,
                        schema: .text(TextRules(format: "uuid")),
                        about: "The id of the session, from the list of sessions.",
                        example: AccountExamples.sessionID
                    )
                ],
                limits: [.accountChange, .accountIP]
            )
        case .endOtherSessions:
            operation(
                AccountPath.sessions,
                "End all other sessions",
                "Ends all sessions of the account except that of the access token.",
                nil,
                DescribedResponse(204, "All other sessions have ended."),
                method: .delete,
                needsSession: true,
                limits: [.accountChange, .accountIP]
            )
        case .deleteAccount:
            operation(
                AccountPath.deleteAccount,
                "Delete the account",
                """
                Ends all sessions at once. The account and its data are removed after a period of grace. Until then, an emailed link \
                restores the account.
                """,
                Self.password,
                DescribedResponse(
                    202,
                    "The account is deleted.",
                    .json(
                        AccountDeletedResponse.self,
                        example: [
                            "message": .string(ContractText.accountDeleted.text(in: .english)),
                            "purge_at": "2026-11-28T10:30:00Z", "success": true,
                        ]
                    ),
                    isLocalized: true
                ),
                needsSession: true,
                codes: [.authInvalidCredentials],
                limits: [.accountPassword, .accountIP]
            )
        case .exportAccount:
            operation(
                AccountPath.export,
                "Export the account",
                "Returns everything that is stored about the account, without secrets.",
                Self.password,
                DescribedResponse(
                    200,
                    "The document.",
                    .json(Self.export, example: Self.exportExample),
                    headers: [
                        APIHeader(
                            name: "Content-Disposition",
                            schema: .text(),
                            about: "Makes browsers save the document as a file."
                        )
                    ]
                ),
                needsSession: true,
                codes: [.authInvalidCredentials],
                limits: [.accountPassword, .export, .accountIP]
            )
        }
    }
}

extension AccountSettingsOperation {
    /// The body of an operation that the user confirms with the password.
    private static let password = RequestContent(PasswordRequest.self, example: ["password": "correct horse battery"])

    /// An example of a session with all members.
    private static let sessionExample: JSONValue = [
        "created_at": "2026-11-20T09:00:00Z", "current": true, "device_name": "Firefox on Linux",
        "id": .string(AccountExamples.sessionID), "last_used_at": "2026-11-21T10:00:00Z",
    ]
    /// The schema of a session. The name of the device is optional, because it can be unknown.
    private static let session = NamedSchema(recording: SessionDescription.self, example: sessionExample, optional: .optional)

    /// The schema of a time.
    private static let time = Schema.text(TextRules(format: "date-time"))

    /// The schema of the exported document, which `AccountExport` of `AccountRoutes` writes.
    private static let export = NamedSchema(
        "AccountExport",
        .object(
            Field("exported_at", time),
            Field(
                "account",
                .object(
                    Field("id", UserID.schema),
                    Field("email", .text()),
                    Field("email_verified", Schema(kind: .flag)),
                    Field("first_name", .text()),
                    Field("locale", Language.schema),
                    Field("state", .text()),
                    Field("created_at", time),
                    Field("last_active_at", time, .optional, "The last use while the address was not verified.")
                )
            ),
            Field(
                "former_addresses",
                .list(of: .object(Field("email", .text()), Field("replaced_at", time), Field("expires_at", time))),
                .required,
                "The earlier addresses that can still be restored."
            ),
            Field(
                "links",
                .list(
                    of: .object(
                        Field("purpose", .text()),
                        Field("recipient", .text()),
                        Field("created_at", time),
                        Field("expires_at", time)
                    )
                ),
                .required,
                "The emailed links that have not expired, without their tokens."
            ),
            Field(
                "reset_links",
                .list(of: .object(Field("recipient", .text()), Field("created_at", time), Field("expires_at", time))),
                .required,
                "The emailed reset links, without their tokens."
            ),
            Field(
                "lock_links",
                .list(of: .object(Field("expires_at", time))),
                .required,
                "The emailed links that lock the account, without their tokens."
            ),
            Field(
                "queued_emails",
                .list(of: .object(Field("kind", .text()), Field("created_at", time))),
                .required,
                "The emails to the address of the account that were not sent yet."
            ),
            Field(
                "sent_reset_emails",
                .list(of: .object(Field("sent_at", time))),
                .required,
                "The times at which reset emails were sent recently."
            ),
            Field(
                "sessions",
                .list(
                    of: .object(
                        Field("id", .text(TextRules(format: "uuid"))),
                        Field("created_at", time),
                        Field("last_used_at", time),
                        Field("device_name", .text(), .optional)
                    )
                )
            ),
            Field(
                "devices",
                .list(of: .object(Field("family", .text()), Field("first_seen_at", time))),
                .required,
                "The families of devices that have signed in."
            ),
            Field(
                "events",
                .list(
                    of: .object(
                        Field("kind", .text()),
                        Field("time", time),
                        Field("client", .text(), .optional, "The network of the client."),
                        Field("request_id", .text(), .optional)
                    )
                ),
                .required,
                "The audit events of the account, newest first."
            )
        )
    )

    /// An example of the exported document, which the schema accepts.
    private static let exportExample: JSONValue = [
        "exported_at": "2026-11-21T10:30:00Z",
        "account": [
            "id": "8c3e0b52-0e0b-4c62-9a4d-0c5a8e3b7f10", "email": "ana@example.com", "email_verified": true, "first_name": "Ana",
            "locale": "es", "state": "active", "created_at": "2026-11-20T09:00:00Z",
        ],
        "former_addresses": [], "links": [], "reset_links": [], "lock_links": [], "queued_emails": [], "sent_reset_emails": [],
        "sessions": [
            [
                "id": .string(AccountExamples.sessionID), "created_at": "2026-11-20T09:00:00Z",
                "last_used_at": "2026-11-21T10:00:00Z", "device_name": "Firefox on Linux",
            ]
        ],
        "devices": [["family": "Firefox on Linux", "first_seen_at": "2026-11-20T09:00:00Z"]],
        "events": [["kind": "signed_in", "time": "2026-11-20T09:00:00Z", "client": "198.51.100.0/24", "request_id": "4f6c1b"]],
    ]
}

extension DescribedResponse {
    /// Creates the description of a response that only has a text for the user.
    static func message(_ status: Int, _ about: Prose, _ text: LocalizedText) -> DescribedResponse {
        DescribedResponse(
            status,
            about,
            .json(MessageResponse.self, example: ["message": .string(text.text(in: .english)), "success": true]),
            isLocalized: true
        )
    }
}

extension OperationGroup {
    /// The operations with which a signed-in user changes the account.
    static let accountSettings = OperationGroup(
        "Account settings",
        """
        Changes by the signed-in user. Changes that could take the account away from its user also need the current password, because an \
        access token may be stolen.
        """,
        AccountSettingsOperation.allCases.map(\.row)
    )
}
