import AccountContract
import ErrorContract
import Foundation

/// Fills the page template in one language.
///
/// The template has one section for a notice and one section for each form. A section is rendered only if it has values.
///
/// The writer only creates values, and the template escapes them. Names and addresses of users therefore can't add markup to a page.
struct PageWriter {
    /// The texts and addresses of all pages.
    let settings: PageTemplates.Settings
    /// The language of the page.
    let language: Language

    /// Returns the title of a page.
    func title(of kind: RecoveryPage.Kind) -> String {
        switch kind {
        case .reset, .undecided, .requested, .requestProblem: say(ContractText.resetTitle)
        case .changed: say(PageTexts.successHeading)
        case .deadLink: say(ContractText.linkExpiredTitle)
        case .invalidLink: say(ContractText.linkInvalidTitle)
        case .lock, .lockUndecided: say(PageTexts.lockHeading)
        case .locked: say(PageTexts.lockedHeading)
        case .account(let page): title(of: page)
        case .failure(let title, _): say(title)
        }
    }

    /// Adds the notice and the forms of a page.
    /// - Parameters:
    ///   - content: The values of the template. The method adds the values of the page.
    ///   - kind: The content of the page.
    func fill(_ content: inout TemplateValues, with kind: RecoveryPage.Kind) {
        switch kind {
        case .reset(let link, let name, let problem):
            content["reset"] = resetForm(link: link, name: name, problem: problem)
        case .undecided:
            // If the token after `#` is expired or used, the script shows this notice.
            content["notice"] = notice("bad", ContractText.linkExpiredTitle, ContractText.linkExpired, hidden: true)
            content["reset"] = resetForm(link: nil, name: nil, problem: nil)
            content["request"] = requestForm(heading: ContractText.resetTitle, lead: PageTexts.requestLead, isUndecided: true)
        case .changed:
            content["notice"] = notice("good", PageTexts.successHeading, PageTexts.success)
        case .deadLink(let email):
            content["notice"] = notice("bad", ContractText.linkExpiredTitle, ContractText.linkExpired)
            content["request"] = requestForm(heading: ContractText.requestNewLink, email: email)
        case .invalidLink:
            content["notice"] = notice("bad", ContractText.linkInvalidTitle, ContractText.linkInvalid)
            content["request"] = requestForm(heading: ContractText.requestNewLink)
        case .requested:
            content["notice"] = notice("plain", PageTexts.sentHeading, ContractText.resetRequested)
        case .requestProblem(let email, let problem):
            content["request"] = requestForm(
                heading: ContractText.resetTitle,
                lead: PageTexts.requestLead,
                email: email,
                problem: problem
            )
        case .lock(let token, let name):
            content["question"] = lockForm(token: token, name: name)
        case .lockUndecided:
            content["notice"] = notice("bad", ContractText.linkInvalidTitle, ContractText.linkInvalid)
            content["question"] = lockForm(token: nil, name: nil)
        case .locked:
            content["notice"] = notice("plain", PageTexts.lockedHeading, PageTexts.locked)
            content["request"] = requestForm(heading: ContractText.resetTitle)
        case .account(let page):
            fill(&content, with: page)
        case .failure(let title, let text):
            content["notice"] = notice("bad", title, text, alert: true)
        }
    }

    /// Returns a text in the language of the page.
    func say(_ text: LocalizedText) -> String { text.text(in: language) }

    /// Returns the values of a notice.
    /// - Parameters:
    ///   - kind: The style: `good`, `bad` or `plain`.
    ///   - texts: The paragraphs.
    ///   - alert: Whether screen readers announce the notice immediately.
    ///   - hidden: Whether the notice is hidden until the script shows it.
    ///   - isUndecided: Whether the link that opened the page may have a token after `#`. Only JavaScript can read this token, so browsers
    ///     without JavaScript show a hint.
    func notice(
        _ kind: String,
        _ heading: LocalizedText,
        _ texts: LocalizedText...,
        alert: Bool = false,
        hidden: Bool = false,
        isUndecided: Bool = false
    ) -> TemplateValues {
        [
            "kind": kind,
            "heading": say(heading),
            "paragraphs": texts.map(say),
            "alert": alert,
            "hidden": hidden,
            "noscript": isUndecided ? say(PageTexts.noscript) : nil,
        ]
    }

    /// Returns the values of the form for a new password. Without a link, the form is hidden until the script has validated the token after
    /// `#`.
    /// - Parameters:
    ///   - link: The link that opened the page; `nil` if its token may be after `#`.
    ///   - name: The first name of the account; `nil` if it is unknown.
    ///   - problem: The problem of the previous attempt.
    private func resetForm(link: ResetLink?, name: String?, problem: LocalizedText?) -> TemplateValues {
        var form = passwordForm(token: link?.token, email: link?.email, problem: problem)
        form["hidden"] = link == nil
        form["heading"] = say(ContractText.resetTitle)
        form["lead"] = ContractText.resetGreeting(name: name).runs(in: language).map(\.values)
        form["action"] = settings.basePath + AccountPath.resetPage
        form["submit"] = say(ContractText.confirm)
        form["opener"] = opener(.resetPassword, link?.url(scheme:))
        if link == nil {
            // The address at which the script validates a token after `#`.
            form["validate"] = settings.basePath + AccountPath.validateResetToken
            // If the token after `#` is expired or used, the form that requests another link has this heading.
            form["again"] = say(ContractText.requestNewLink)
        }
        return form
    }

    /// Returns the values that all forms for a new password have.
    /// - Parameters:
    ///   - token: The token of the link; `nil` if it may be after `#`.
    ///   - email: The address of the account, for password managers.
    ///   - problem: The problem of the previous attempt.
    func passwordForm(token: ResetToken?, email: EmailAddress?, problem: LocalizedText?) -> TemplateValues {
        let minimum = settings.minimumPasswordLength
        let texts: [String: LocalizedText] = [
            "passwordLabel": ContractText.newPassword,
            "confirmLabel": ContractText.confirmPassword,
            "show": PageTexts.show,
            "hide": PageTexts.hide,
            "rule": PageTexts.rule.counting(minimum),
            "weak": ContractText.strengthWeak,
            "medium": ContractText.strengthMedium,
            "strong": ContractText.strengthStrong,
            "match": PageTexts.match,
            "differ": ContractText.passwordsDiffer,
            "short": ContractText.passwordTooShort(minimum: minimum),
            "empty": ContractText.fieldsEmpty,
        ]
        var form: TemplateValues = [
            "token": token?.rawValue ?? "",
            "email": email?.text ?? "",
            "problem": problem.map(say),
            "isFocused": true,
            "minimum": minimum,
        ]
        for (name, text) in texts { form[name] = say(text) }
        return form
    }

    /// Returns the values of the link that opens the app. The link is hidden if the app has no scheme. If the request has no token, the
    /// link is also hidden until the script has found a token after `#`.
    /// - Parameters:
    ///   - purpose: The purpose of the emailed link.
    ///   - link: A function that returns the link with a scheme; `nil` if the token of the link may be after `#`.
    func opener(_ purpose: AccountLink.Purpose, _ link: ((_ scheme: String) -> URL?)?) -> TemplateValues {
        [
            "openApp": say(PageTexts.openApp),
            "scheme": settings.appScheme ?? "",
            "page": purpose.page,
            "appLink": settings.appScheme.flatMap { link?($0)?.absoluteString },
        ]
    }

    /// Returns the values of the form that requests a link.
    /// - Parameters:
    ///   - lead: The introduction. A form with an introduction is the main content of the page.
    ///   - email: The address with which the field is filled.
    ///   - problem: The problem of the previous attempt.
    ///   - isUndecided: Whether the link that opened the page may have a token after `#`. Only JavaScript can read this token, so browsers
    ///     without JavaScript show a hint.
    func requestForm(
        heading: LocalizedText,
        lead: LocalizedText? = nil,
        email: String = "",
        problem: LocalizedText? = nil,
        isUndecided: Bool = false
    ) -> TemplateValues {
        [
            "isMain": lead != nil,
            "heading": say(heading),
            "lead": lead.map(say),
            "action": settings.basePath + AccountPath.resetRequestPage,
            "email": email,
            "problem": problem.map(say),
            "emailLabel": say(ContractText.emailLabel),
            "submit": say(ContractText.sendLink),
            "noscript": isUndecided ? say(PageTexts.noscript) : nil,
        ]
    }

    /// Returns the values of the form that locks an account. Without a token, the form is hidden until the script has found a token after
    /// `#`.
    /// - Parameters:
    ///   - token: The token of the link.
    ///   - name: The first name of the account; `nil` if it is unknown.
    private func lockForm(token: ResetToken?, name: String?) -> TemplateValues {
        let lead = name.map { PageTexts.lockLead.filling("name", with: $0) } ?? PageTexts.lockLeadUnnamed
        return [
            "id": "freeze",
            "isDanger": true,
            "hidden": token == nil,
            "heading": say(PageTexts.lockHeading),
            "lead": lead.runs(in: language).map(\.values),
            "action": settings.basePath + AccountPath.accountLockPage,
            "token": token?.rawValue ?? "",
            "submit": say(PageTexts.lock),
        ]
    }
}
