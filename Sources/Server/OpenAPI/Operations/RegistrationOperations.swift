import AccountContract
import ErrorContract
import StrictJSON

/// The operation of open registration, which creates an account immediately.
package enum OpenRegistrationOperation: String, AccountOperations {
    /// Creates an account and signs it in.
    case register

    /// The description of the operation.
    package var row: APIOperation {
        operation(
            AccountPath.register,
            "Create an account",
            "Creates an account and signs it in. An email has a link that verifies the address.",
            RegistrationRequests.open,
            SessionOperation.session(201, "The account, signed in."),
            parameters: [.deviceName],
            codes: [.authEmailExists],
            limits: [.registerIP]
        )
    }
}

/// The operations of blind registration, which creates an account after its user has opened an emailed link.
package enum BlindRegistrationOperation: String, AccountOperations {
    /// The operations, in the order of the reference:
    ///
    /// - `register` sends an email with a link.
    /// - `activate` creates the account of a link and signs it in.
    case register, activate

    /// The description of the operation.
    package var row: APIOperation {
        switch self {
        case .register:
            operation(
                AccountPath.register,
                "Request an account",
                """
                Sends an email with a link that creates the account. If the address has an account, the email offers a reset of the \
                password. The response is the same in both cases, in status, bytes and time.
                """,
                RegistrationRequests.blind,
                .message(202, "The server has accepted the request.", ContractText.nextStepSent),
                idempotency: .byClient,
                limits: [.registerEmail, .registerIP, .resetGlobal]
            )
        case .activate:
            operation(
                AccountPath.activate,
                "Create the account of a registration",
                """
                Creates the account of a link, with a verified address, and signs it in. If the password is too weak, the link stays \
                valid.
                """,
                RequestContent(
                    ActivateRequest.self,
                    example: ["token": .string(AccountExamples.token), "password": "correct horse battery"]
                ),
                SessionOperation.session(201, "The account, signed in."),
                parameters: [.deviceName],
                codes: [.authResetTokenInvalid],
                limits: [.linkAttempts, .tokenIP]
            )
        }
    }
}

/// The operation of a server whose operator adds all accounts.
package enum ClosedRegistrationOperation: String, AccountOperations {
    /// Refuses every registration.
    case register

    /// The description of the operation.
    package var row: APIOperation {
        APIOperation(
            method: .post,
            path: AccountPath.register,
            id: rawValue,
            summary: "Create an account",
            about: "The operator adds the accounts of this server, so every registration is refused.",
            responses: [],
            ownCodes: [.authRegistrationClosed]
        )
    }
}

/// The bodies of registrations.
private enum RegistrationRequests {
    /// The body of an open registration, which needs a password.
    static let open = content.describing("password", .required)
    /// The body of a blind registration. An app can send the same body to servers with open and with blind registration. The server
    /// therefore accepts a password here, but ignores it.
    static let blind = content.describing("password", as: Password.schema, .nullable, "Ignored. The link asks for the password.")

    private static let content = RequestContent(
        RegisterRequest.self,
        example: ["email": "ana@example.com", "password": "correct horse battery", "first_name": "Ana", "locale": "es"]
    )
}

extension APIParameter {
    /// The header with the name of the device.
    static let deviceName = APIParameter(
        name: AccountHeader.deviceName,
        place: .header,
        schema: .text(),
        about: """
            The name of the device, which the list of sessions shows, at most 100 characters. Without this header, the server uses the \
            family of the `User-Agent`, such as `Firefox on Linux`.
            """
    )
}
