import AccountContract
import ErrorContract

extension PageWriter {
    /// Returns the title of a page.
    func title(of page: AccountPage) -> String {
        switch page {
        case .form(let change, _, _, _), .undecided(let change): say(change.texts.heading)
        case .done: say(PageTexts.successHeading)
        case .deadLink: say(ContractText.linkExpiredTitle)
        case .invalidLink: say(ContractText.linkInvalidTitle)
        }
    }

    /// Adds the notice and the forms of a page.
    func fill(_ content: inout TemplateValues, with page: AccountPage) {
        switch page {
        case .form(let change, let token, let address, let problem):
            fill(&content, with: change, token: token, address: address, problem: problem)
        case .undecided(let change):
            // If the script finds a token after `#`, it hides this notice.
            content["notice"] = notice("bad", ContractText.linkInvalidTitle, PageTexts.linkIncomplete, isUndecided: true)
            fill(&content, with: change, token: nil, address: nil, problem: nil)
        case .done(let outcome):
            content["notice"] = notice("good", PageTexts.successHeading, outcome.text)
            if case .emailRestored(let email) = outcome {
                content["request"] = requestForm(heading: ContractText.resetTitle, email: email.text)
            }
        case .deadLink(let change):
            content["notice"] = notice("bad", ContractText.linkExpiredTitle, PageTexts.linkUsed, change.texts.expired)
            // Even if a link is no longer valid, its address can be the current address of an account. The page therefore offers a reset
            // link.
            if change == .undoEmail { content["request"] = requestForm(heading: ContractText.resetTitle) }
        case .invalidLink:
            content["notice"] = notice("bad", ContractText.linkInvalidTitle, PageTexts.linkIncomplete)
        }
    }

    /// Adds the forms of a change. If the request has no token, the forms are hidden until the script has found a token after `#`.
    private func fill(
        _ content: inout TemplateValues,
        with change: AccountPage.Change,
        token: ResetToken?,
        address: EmailAddress?,
        problem: AccountPage.Problem?
    ) {
        let purpose = change.purpose
        let link = token.map { AccountLink(purpose, token: $0, email: address) }
        content["pageOpener"] = opener(purpose, link?.url(scheme:))
        let newProblem = problem.flatMap { $0.isOfNewPassword ? $0.text : nil }
        let currentProblem = problem.flatMap { $0.isOfNewPassword ? nil : $0.text }
        switch change {
        case .verifyEmail:
            var confirm = confirmForm(change, token: token, address: address, problem: currentProblem)
            confirm["isFocused"] = newProblem == nil
            content["confirm"] = confirm
            var form = passwordForm(token: token, email: address, problem: newProblem)
            form["isSecond"] = true
            form["isFocused"] = newProblem != nil
            fill(&form, PageTexts.chooseInstead, address: nil, isHidden: token == nil)
            form["action"] = settings.basePath + AccountPath.verifyPasswordPage
            content["reset"] = form
        case .activate:
            var form = passwordForm(token: token, email: address, problem: newProblem)
            fill(&form, change.texts, address: address, isHidden: token == nil)
            form["action"] = settings.basePath + AccountPath.page(purpose)
            content["reset"] = form
        case .confirmEmail:
            content["confirm"] = confirmForm(change, token: token, address: address, problem: currentProblem)
        case .undoEmail, .keepAccount:
            var form: TemplateValues = [
                "id": change == .undoEmail ? "undo" : "keep", "action": settings.basePath + AccountPath.page(purpose),
                "token": token?.rawValue ?? "",
            ]
            fill(&form, change.texts, address: address, isHidden: token == nil)
            content["question"] = form
        }
    }

    /// Returns the values of the form with the current password.
    private func confirmForm(
        _ change: AccountPage.Change,
        token: ResetToken?,
        address: EmailAddress?,
        problem: LocalizedText?
    ) -> TemplateValues {
        var form: TemplateValues = [
            "action": settings.basePath + AccountPath.page(change.purpose),
            "token": token?.rawValue ?? "",
            "email": address?.text ?? "",
            "problem": problem.map(say),
            "isFocused": true,
            "passwordLabel": say(ContractText.currentPassword),
            "show": say(PageTexts.show),
            "hide": say(PageTexts.hide),
        ]
        fill(&form, change.texts, address: address, isHidden: token == nil)
        // The introduction of this form has no placeholders.
        form["lead"] = say(change.texts.lead)
        return form
    }

    /// Adds the texts of a form.
    private func fill(_ form: inout TemplateValues, _ texts: AccountFormTexts, address: EmailAddress?, isHidden: Bool) {
        form["hidden"] = isHidden
        form["heading"] = say(texts.heading)
        form["lead"] = texts.lead.runs(in: language).map(\.values)
        form["address"] = address?.text
        form["submit"] = say(texts.submit)
    }
}

/// The texts of a form that changes an account.
struct AccountFormTexts {
    /// The heading.
    let heading: LocalizedText
    /// The sentence that describes the change.
    let lead: LocalizedText
    /// The label of the button.
    let submit: LocalizedText
    /// The advice if the link is expired or used.
    let expired: LocalizedText
}

extension AccountPage.Change {
    /// The texts of the form that makes the change.
    var texts: AccountFormTexts {
        switch self {
        case .verifyEmail: PageTexts.verify
        case .activate: PageTexts.activate
        case .confirmEmail: PageTexts.confirm
        case .undoEmail: PageTexts.undo
        case .keepAccount: PageTexts.keep
        }
    }
}

extension AccountPage.Outcome {
    /// The text of the page after the change.
    var text: LocalizedText {
        switch self {
        case .verified: PageTexts.verified
        case .verifiedWithNewPassword: PageTexts.verifiedWithNewPassword
        case .activated: PageTexts.activated
        case .emailConfirmed: PageTexts.emailConfirmed
        case .emailRestored: PageTexts.emailRestored
        case .accountKept: PageTexts.accountKept
        }
    }
}
