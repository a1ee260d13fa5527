import AccountContract
import ErrorContract
import Foundation

/// Fills the page template in one language.
///
/// The template has a section for a notice and one for each form; a page shows those whose values are there.
///
/// It creates values only; the template escapes them. Names and addresses of users are values, so they can't add markup.
struct PageWriter {
    /// The texts and addresses of all pages.
    let settings: PageTemplates.Settings
    /// The language of the page.
    let language: Language

    /// The title of a page.
    func title(of kind: RecoveryPage.Kind) -> String {
        switch kind {
        case .reset, .undecided, .requested, .requestProblem: say(ContractText.resetTitle)
        case .changed: say(PageTexts.successHeading)
        case .deadLink: say(ContractText.linkExpiredTitle)
        case .invalidLink: say(ContractText.linkInvalidTitle)
        case .lock, .lockUndecided: say(PageTexts.lockHeading)
        case .locked: say(PageTexts.lockedHeading)
        case .failure(let title, _): say(title)
        }
    }

    /// Adds the notice and the forms of a page.
    /// - Parameters:
    ///   - content: The values of the template, to which those of the page are added.
    ///   - kind: The content of the page.
    func fill(_ content: inout TemplateValues, with kind: RecoveryPage.Kind) {
        switch kind {
        case .reset(let link, let name, let problem):
            content["reset"] = resetForm(link: link, name: name, problem: problem)
        case .undecided:
            // The script shows it if the token after `#` is expired or used.
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
            content["freeze"] = lockForm(token: token, name: name)
        case .lockUndecided:
            content["notice"] = notice("bad", ContractText.linkInvalidTitle, ContractText.linkInvalid)
            content["freeze"] = lockForm(token: nil, name: nil)
        case .locked:
            content["notice"] = notice("plain", PageTexts.lockedHeading, PageTexts.locked)
            content["request"] = requestForm(heading: ContractText.resetTitle)
        case .failure(let title, let text):
            content["notice"] = notice("bad", title, text, alert: true)
        }
    }

    /// Returns a text in the language of the page.
    private func say(_ text: LocalizedText) -> String { text.text(in: language) }

    /// The values of a notice.
    /// - Parameters:
    ///   - kind: The style: `good`, `bad` or `plain`.
    ///   - alert: Whether screen readers announce it immediately.
    ///   - hidden: Whether a script shows it later.
    private func notice(
        _ kind: String,
        _ heading: LocalizedText,
        _ text: LocalizedText,
        alert: Bool = false,
        hidden: Bool = false
    ) -> TemplateValues {
        [
            "kind": kind,
            "heading": say(heading),
            "paragraphs": [say(text)],
            "alert": alert,
            "hidden": hidden,
        ]
    }

    /// Returns the values of the form for a new password. Without a link, it is hidden until the script has validated the token after `#`.
    /// - Parameters:
    ///   - link: The link that opened the page; `nil` if its token may be after `#`.
    ///   - name: The first name of the account; `nil` if it is unknown.
    ///   - problem: The problem of the previous attempt.
    private func resetForm(link: ResetLink?, name: String?, problem: LocalizedText?) -> TemplateValues {
        let minimum = settings.minimumPasswordLength
        let texts: [String: LocalizedText] = [
            "heading": ContractText.resetTitle,
            "passwordLabel": ContractText.newPassword,
            "confirmLabel": ContractText.confirmPassword,
            "submit": ContractText.confirm,
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
            "openApp": PageTexts.openApp,
            // The heading of the form for another link, if the token after `#` is expired or used.
            "again": ContractText.requestNewLink,
        ]
        var form: TemplateValues = [
            "hidden": link == nil,
            "lead": ContractText.resetGreeting(name: name).runs(in: language).map(\.values),
            "action": settings.basePath + AccountPath.resetPage,
            "token": link?.token.rawValue ?? "",
            "email": link?.email?.text ?? "",
            "problem": problem.map(say),
            "minimum": minimum,
            "scheme": settings.appScheme ?? "",
            "appLink": settings.appScheme.flatMap { link?.url(scheme: $0)?.absoluteString },
            // The address at which the script validates a token after `#`.
            "validate": settings.basePath + AccountPath.validateResetToken,
        ]
        for (name, text) in texts { form[name] = say(text) }
        return form
    }

    /// The values of the form that requests a link.
    /// - Parameters:
    ///   - lead: The introduction; with it, the form is the main content of the page.
    ///   - email: The address that the field has.
    ///   - problem: The problem of the previous attempt.
    ///   - isUndecided: Whether the page may have been opened by a link with the token after `#`, which needs JavaScript.
    private func requestForm(
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

    /// Returns the values of the form that locks an account. Without a token, it is hidden until the script has found one after `#`.
    /// - Parameters:
    ///   - token: The token of the link.
    ///   - name: The first name of the account; `nil` if it is unknown.
    private func lockForm(token: ResetToken?, name: String?) -> TemplateValues {
        let lead = name.map { PageTexts.lockLead.filling("name", with: $0) } ?? PageTexts.lockLeadUnnamed
        return [
            "hidden": token == nil,
            "heading": say(PageTexts.lockHeading),
            "lead": lead.runs(in: language).map(\.values),
            "action": settings.basePath + AccountPath.accountLockPage,
            "token": token?.rawValue ?? "",
            "submit": say(PageTexts.lock),
        ]
    }
}
