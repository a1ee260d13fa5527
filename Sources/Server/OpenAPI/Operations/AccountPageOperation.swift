import AccountContract
import ErrorContract
import StrictJSON

/// The pages behind the emailed links that don't reset a password, and the forms of these pages.
package enum AccountPageOperation: String, AccountOperations {
    /// The operations, in the order of the reference. Each link has a page, which changes nothing, and a form:
    ///
    /// - `openVerifyPage`, `sendVerifyForm` and `sendVerifyPasswordForm` verify an address, with the current or with a new password.
    /// - `openActivatePage` and `sendActivateForm` create the account of a registration.
    /// - `openConfirmPage` and `sendConfirmForm` confirm a new address.
    /// - `openUndoPage` and `sendUndoForm` restore a former address.
    /// - `openKeepPage` and `sendKeepForm` restore a deleted account.
    case openVerifyPage, sendVerifyForm, sendVerifyPasswordForm, openActivatePage, sendActivateForm, openConfirmPage,
        sendConfirmForm, openUndoPage, sendUndoForm, openKeepPage, sendKeepForm

    /// The description of the operation. Its errors are pages, so it has a response for each status, with a description of the page.
    package var row: APIOperation {
        switch self {
        case .openVerifyPage:
            page(
                .verifyEmail,
                "The page that verifies an address",
                """
                Asks for the current password, because access to the mailbox alone doesn't prove that the account belongs to the user. \
                Without the current password, the user can choose a new one.
                """
            )
        case .sendVerifyForm:
            form(
                AccountPath.page(.verifyEmail),
                "Send the form that verifies an address",
                "Has the same effect as verifying the address through the API. Sessions continue.",
                Self.currentPassword,
                done: "The address is verified."
            )
        case .sendVerifyPasswordForm:
            form(
                AccountPath.verifyPasswordPage,
                "Verify an address with a new password",
                "Sets a new password and verifies the address. The earlier password and all sessions become invalid.",
                Self.newPassword,
                done: "The address is verified, and the password has been changed."
            )
        case .openActivatePage:
            page(.activate, "The page that creates an account", "Asks for the password of the new account.")
        case .sendActivateForm:
            form(
                AccountPath.page(.activate),
                "Send the form that creates an account",
                "Creates the account of the link. Its address is verified.",
                Self.newPassword,
                done: "The account was created. The user signs in in the app."
            )
        case .openConfirmPage:
            page(.confirmEmail, "The page that confirms a new address", "Asks for the current password of the account.")
        case .sendConfirmForm:
            form(
                AccountPath.page(.confirmEmail),
                "Send the form that confirms a new address",
                "Changes the address of the account. All sessions end, and the former address gets a notice.",
                Self.currentPassword,
                done: "The address has been changed."
            )
        case .openUndoPage:
            page(.undoEmail, "The page that restores a former address", "Asks whether to restore the address of the link.")
        case .sendUndoForm:
            form(
                AccountPath.page(.undoEmail),
                "Restore a former address",
                "Undoes everything that came after the change of the address. All sessions end, and the next sign-in needs a reset.",
                Self.link,
                done: "The address is restored. The page offers to send a reset link."
            )
        case .openKeepPage:
            page(.keepAccount, "The page that restores a deleted account", "Asks whether to restore the account.")
        case .sendKeepForm:
            form(
                AccountPath.page(.keepAccount),
                "Restore a deleted account",
                "The password is unchanged, and the sessions stay ended.",
                Self.link,
                done: "The account is restored."
            )
        }
    }

    /// Returns the page of a link, which changes nothing.
    private func page(_ purpose: AccountLink.Purpose, _ summary: String, _ about: Prose) -> APIOperation {
        let responses = [DescribedResponse.page(200, "The form."), RecoveryPageOperation.malformed, Self.expired]
        return page(AccountPath.page(purpose), summary, about, responses)
    }

    /// Returns the form of a page.
    private func form(
        _ path: String,
        _ summary: String,
        _ about: Prose,
        _ request: RequestContent,
        done: Prose
    ) -> APIOperation {
        let hasInput = request.schema.schema.fields.count > 1
        let problem = hasInput ? RecoveryPageOperation.invalidInput : RecoveryPageOperation.malformed
        return form(path, summary, about, request, [.page(200, done), problem, Self.expired], limits: [.linkAttempts, .tokenIP])
    }

    /// The page for a link that is unknown, expired or used. Its status is 410 (Gone).
    private static let expired = DescribedResponse.page(410, "The link is unknown, expired or used.")

    /// The form of a page that asks for the current password.
    private static let currentPassword = RequestContent(
        ConfirmLinkForm.self,
        named: "ConfirmPage",
        example: ["token": .string(AccountExamples.token), "current_password": "correct horse battery"],
        isForm: true
    )
    /// The form of a page that asks twice for a new password.
    private static let newPassword = RequestContent(
        NewPasswordForm.self,
        named: "NewPasswordPage",
        example: [
            "token": .string(AccountExamples.token), "new_password": "another horse battery",
            "confirm_password": "another horse battery",
        ],
        isForm: true
    )
    /// The form of a page with only a button. The page contains the token in a hidden field.
    private static let link = RequestContent(
        LinkForm.self,
        named: "LinkPage",
        example: ["token": .string(AccountExamples.token)],
        isForm: true
    )
}
