import AccountContract
import AccountKit
import ErrorContract
import HoldfastTesting
import ResilientHTTP
import Testing

/// A form of the account with valid input, and what it does.
struct FormCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// The path of its request.
    let path: String
    /// Whether it needs a signed-in user.
    var isSignedIn = false
    /// The input.
    let texts: [AccountField: String]
    /// The response that it accepts.
    var success = ScriptedTransport.Step.accepted
    /// Whether an emailed link opens it.
    var link: AccountLink.Purpose?
    let make: @MainActor @Sendable (AccountClient, AccountLink?, Language) -> FormModel

    static let all = forms + links

    static let forms = [
        FormCase(
            testDescription: "register",
            path: "/api/auth/register",
            texts: [.firstName: "Ana", .email: "ana@example.com", .password: "first password"],
            success: .session
        ) { client, _, language in RegisterModel(client: client, language: language) },
        FormCase(
            testDescription: "change password",
            path: "/api/auth/change-password",
            isSignedIn: true,
            texts: [.currentPassword: "first password", .password: "second password", .confirmation: "second password"],
            success: .session
        ) { client, _, language in ChangePasswordModel(client: client, language: language) },
        FormCase(
            testDescription: "change email",
            path: "/api/auth/change-email",
            isSignedIn: true,
            texts: [.email: "new@example.com", .currentPassword: "first password"]
        ) { client, _, language in ChangeEmailModel(client: client, language: language) },
        FormCase(
            testDescription: "delete account",
            path: "/api/auth/delete-account",
            isSignedIn: true,
            texts: [.currentPassword: "first password"]
        ) { client, _, language in DeleteAccountModel(client: client, language: language) },
    ]

    static let links = [
        FormCase(
            testDescription: "activate",
            path: "/api/auth/activate",
            texts: [.password: "first password", .confirmation: "first password"],
            success: .session,
            link: .activate
        ) { client, link, language in ActivateModel(link: link, client: client, language: language) },
        FormCase(
            testDescription: "verify with the session",
            path: "/api/auth/verify-email",
            isSignedIn: true,
            texts: [:],
            link: .verifyEmail
        ) { client, link, language in VerifyEmailModel(link: link, client: client, language: language) },
        FormCase(
            testDescription: "verify with the password",
            path: "/api/auth/verify-email",
            texts: [.currentPassword: "first password"],
            link: .verifyEmail
        ) { client, link, language in VerifyEmailModel(link: link, client: client, language: language) },
        FormCase(
            testDescription: "confirm email",
            path: "/api/auth/change-email/confirm",
            texts: [.currentPassword: "first password"],
            link: .confirmEmail
        ) { client, link, language in ConfirmEmailModel(link: link, client: client, language: language) },
        FormCase(
            testDescription: "undo email",
            path: "/api/auth/change-email/undo",
            texts: [:],
            link: .undoEmail
        ) { client, link, language in ConfirmEmailModel(link: link, client: client, language: language) },
        FormCase(
            testDescription: "keep account",
            path: "/api/auth/delete-account/undo",
            texts: [:],
            link: .keepAccount
        ) { client, link, language in KeepAccountModel(link: link, client: client, language: language) },
    ]

    /// Returns the opened form with its input.
    @MainActor func model(_ script: ScreenScript, _ language: Language = .english) async throws -> FormModel {
        if isSignedIn {
            try await script.client.session.setCredentials(Credentials(accessToken: "access", refreshToken: nil, expiresAt: nil))
        }
        let link = try link.map { AccountLink($0, token: try ResetToken("a-token"), email: try EmailAddress("ana@example.com")) }
        let model = make(script.client, link, language)
        await model.open()
        for (field, text) in texts { model[field] = text }
        return model
    }
}
