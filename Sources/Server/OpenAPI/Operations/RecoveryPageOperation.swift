import AccountContract
import ErrorContract
import StrictJSON

/// The pages behind the emailed links that reset a password or lock an account, and the forms of these pages. The raw values are part of
/// the API and can't change. The names of the operations that lock an account therefore still contain the older word `Freeze`.
package enum RecoveryPageOperation: String, AccountOperations {
    /// The operations, in the order of the reference:
    ///
    /// - `openResetPage` shows the form for a new password.
    /// - `sendResetForm` sets the new password.
    /// - `sendRequestForm` requests a new link.
    /// - `openFreezePage` shows the question whether to lock the account. The page itself doesn't lock the account, because email scanners
    ///   open links, too.
    /// - `sendFreezeForm` locks the account.
    case openResetPage, sendResetForm, sendRequestForm, openFreezePage, sendFreezeForm

    /// The description of the operation. Its errors are pages, so it has a response for each status, with a description of the page.
    package var row: APIOperation {
        switch self {
        case .openResetPage:
            page(
                AccountPath.resetPage,
                "The page for a new password",
                """
                With the query of a link, the page shows the form, or reports that the link has expired. Without a query, its script \
                reads the token from the fragment, validates it through the API, and then shows one of the two. Without a token, the \
                page offers to send a link.
                """,
                [
                    .page(200, "The form for a new password, or the one that requests a link."),
                    .page(400, "The address is not a valid link: its token is missing, occurs twice or is malformed."),
                    Self.expired,
                ]
            )
        case .sendResetForm:
            form(
                AccountPath.resetPage,
                "Send the form for a new password",
                "Has the same effect as setting the password through the API.",
                RequestContent(
                    ResetForm.self,
                    named: "ResetPage",
                    example: [
                        "token": .string(AccountExamples.token), "new_password": "another horse battery",
                        "confirm_password": "another horse battery",
                    ],
                    isForm: true
                ),
                [
                    .page(200, "The password has been changed.", headers: [Self.deviceCookie]), Self.invalidInput, Self.expired,
                ],
                limits: [.tokenIP]
            )
        case .sendRequestForm:
            form(
                AccountPath.resetRequestPage,
                "Send the form that requests a link",
                "Requests a link, as through the API. The response is the same with and without an account.",
                RequestContent(
                    ResetRequestForm.self,
                    named: "RequestPage",
                    example: ["email": "ana@example.com"],
                    isForm: true
                ),
                [
                    .page(200, "The server has accepted the request. If the account exists, it sends the email."),
                    .page(400, "The form with the problem: the address is missing or malformed."),
                ],
                limits: RecoveryOperation.limits
            )
        case .openFreezePage:
            page(
                AccountPath.accountLockPage,
                "The page that asks whether to lock an account",
                "The email that confirms a new password links to this page. Only its form locks the account.",
                [.page(200, "The form that locks the account of the link."), Self.malformed, Self.expired]
            )
        case .sendFreezeForm:
            form(
                AccountPath.accountLockPage,
                "Lock an account",
                "Ends all sessions of the account. No sign-in succeeds until the password is reset.",
                RequestContent(
                    AccountLockForm.self,
                    named: "FreezePage",
                    example: ["token": .string(AccountExamples.token)],
                    isForm: true
                ),
                [.page(200, "The account is locked."), Self.malformed, Self.expired],
                limits: [.tokenIP]
            )
        }
    }

    /// The page for a token that is missing, given twice or malformed.
    static let malformed = DescribedResponse.page(400, "The token is missing, occurs twice or is malformed.")
    /// The response to a form with input that has a problem.
    static let invalidInput = DescribedResponse.page(
        400,
        "The form with the problems of the input; or a page that reports a malformed token."
    )
    /// The page for a link that is unknown, expired or used. Its status is 410 (Gone).
    static let expired = DescribedResponse.page(
        410,
        "The link is unknown, expired or used. The page offers to send a new one."
    )

    /// The cookie that stores the device token in the browser. Its name begins with `__Host-`, so browsers only accept it with `Secure`,
    /// without a domain and for all paths.
    static let deviceCookie = APIHeader(
        name: "Set-Cookie",
        schema: .text(TextRules(pattern: "^__Host-device=")),
        isRequired: false,
        about: "The device token of the browser, as the cookie `__Host-device`."
    )

    /// The query parameters of an emailed link. Both parameters are optional, because the link can contain them in its fragment instead.
    static let link = [
        APIParameter(
            name: "token",
            place: .query,
            schema: .text(TextRules(length: 1...512, pattern: "^[!-$&-~]+$")),
            about: "The token of the link."
        ),
        APIParameter(
            name: "email",
            place: .query,
            schema: EmailAddress.schema,
            about: "The address that the link was sent to. The token must belong to it."
        ),
    ]
}

extension AccountOperations {
    /// Returns the page of a link, which changes nothing.
    func page(_ path: String, _ summary: String, _ about: Prose, _ responses: [DescribedResponse]) -> APIOperation {
        APIOperation(
            method: .get,
            path: path,
            id: rawValue,
            summary: summary,
            about: about,
            parameters: RecoveryPageOperation.link,
            responses: responses,
            asksStore: true,
            errorStyle: .page
        )
    }

    /// Returns the form of a page. The server refuses a form from another origin.
    func form(
        _ path: String,
        _ summary: String,
        _ about: Prose,
        _ request: RequestContent,
        _ responses: [DescribedResponse],
        limits: [AccountLimit]
    ) -> APIOperation {
        APIOperation(
            method: .post,
            path: path,
            id: rawValue,
            summary: summary,
            about: about,
            request: request,
            responses: responses,
            ownCodes: [.resourceForbidden],
            asksStore: true,
            limits: limits,
            errorStyle: .page
        )
    }
}

extension OperationGroup {
    /// The operations of the pages behind all emailed links.
    static let recoveryPages = OperationGroup(
        "Pages for emailed links",
        """
        Pages for users with a browser. A GET changes nothing, so email scanners can open a link any number of times. The server \
        accepts forms only from its own pages (`Origin`, `Sec-Fetch-Site`). Errors are pages too, with their code in `X-Error-Code`.
        """,
        RecoveryPageOperation.allCases.map(\.row) + AccountPageOperation.allCases.map(\.row)
    )
}
