import AccountContract
import ErrorContract
import Foundation

/// Fills the page template in one language.
struct PageWriter {
    let settings: PageTemplates.Settings
    let language: Language

    func title(of kind: RecoveryPage.Kind) -> String {
        switch kind {
        case .reset, .undecided, .requested, .requestProblem: say(ContractText.resetTitle)
        case .changed: say(PageTexts.successHeading)
        case .deadLink: say(ContractText.linkExpiredTitle)
        case .invalidLink: say(ContractText.linkInvalidTitle)
        case .freeze, .freezeUndecided: say(PageTexts.freezeHeading)
        case .frozen: say(PageTexts.frozenHeading)
        case .failure(let title, _): say(title)
        }
    }

    func fill(_ content: inout PageContent, with kind: RecoveryPage.Kind) {
        switch kind {
        case .reset(let link, let name, let problem):
            content.reset = resetForm(link: link, name: name, problem: problem)
        case .undecided:
            // The script shows it if the token of the fragment turns out to be expired.
            content.notice = notice("bad", ContractText.linkExpiredTitle, ContractText.linkExpired, hidden: true)
            content.reset = resetForm(link: nil, name: nil, problem: nil)
            content.request = requestForm(heading: ContractText.resetTitle, lead: PageTexts.requestLead, isUndecided: true)
        case .changed:
            content.notice = notice("good", PageTexts.successHeading, PageTexts.success)
        case .deadLink(let email):
            content.notice = notice("bad", ContractText.linkExpiredTitle, ContractText.linkExpired)
            content.request = requestForm(heading: ContractText.requestNewLink, email: email)
        case .invalidLink:
            content.notice = notice("bad", ContractText.linkInvalidTitle, ContractText.linkInvalid)
            content.request = requestForm(heading: ContractText.requestNewLink)
        case .requested:
            content.notice = notice("plain", PageTexts.sentHeading, ContractText.resetRequested)
        case .requestProblem(let email, let problem):
            content.request = requestForm(
                heading: ContractText.resetTitle,
                lead: PageTexts.requestLead,
                email: email,
                problem: problem
            )
        case .freeze(let token, let name):
            content.freeze = freezeForm(token: token, name: name)
        case .freezeUndecided:
            content.notice = notice("bad", ContractText.linkInvalidTitle, ContractText.linkInvalid)
            content.freeze = freezeForm(token: nil, name: nil)
        case .frozen:
            content.notice = notice("plain", PageTexts.frozenHeading, PageTexts.frozen)
            content.request = requestForm(heading: ContractText.resetTitle)
        case .failure(let title, let text):
            content.notice = notice("bad", title, text, alert: true)
        }
    }

    private func say(_ text: LocalizedText) -> String { text.text(in: language) }

    private func notice(
        _ kind: String,
        _ heading: LocalizedText,
        _ text: LocalizedText,
        alert: Bool = false,
        hidden: Bool = false
    ) -> PageContent.Notice {
        .init(kind: kind, heading: say(heading), paragraphs: [say(text)], alert: alert, hidden: hidden)
    }

    private func resetForm(link: ResetLink?, name: String?, problem: LocalizedText?) -> PageContent.ResetForm {
        let minimum = settings.minimumPasswordLength
        return .init(
            hidden: link == nil,
            heading: say(ContractText.resetTitle),
            lead: ContractText.resetGreeting(name: name).runs(in: language),
            action: settings.basePath + AccountPath.resetPage,
            token: link?.token.rawValue ?? "",
            email: link?.email?.text ?? "",
            problem: problem.map(say),
            passwordLabel: say(ContractText.newPassword),
            confirmLabel: say(ContractText.confirmPassword),
            submit: say(ContractText.confirm),
            show: say(PageTexts.show),
            hide: say(PageTexts.hide),
            rule: say(PageTexts.rule.counting(minimum)),
            weak: say(ContractText.strengthWeak),
            medium: say(ContractText.strengthMedium),
            strong: say(ContractText.strengthStrong),
            match: say(PageTexts.match),
            differ: say(ContractText.passwordsDiffer),
            short: say(ContractText.passwordTooShort(minimum: minimum)),
            empty: say(ContractText.fieldsEmpty),
            minimum: minimum,
            scheme: settings.appScheme ?? "",
            appLink: settings.appScheme.flatMap { link?.url(scheme: $0)?.absoluteString },
            openApp: say(PageTexts.openApp),
            validate: settings.basePath + AccountPath.validateResetToken,
            again: say(ContractText.requestNewLink)
        )
    }

    private func requestForm(
        heading: LocalizedText,
        lead: LocalizedText? = nil,
        email: String = "",
        problem: LocalizedText? = nil,
        isUndecided: Bool = false
    ) -> PageContent.RequestForm {
        .init(
            isMain: lead != nil,
            heading: say(heading),
            lead: lead.map(say),
            action: settings.basePath + AccountPath.resetRequestPage,
            email: email,
            problem: problem.map(say),
            emailLabel: say(ContractText.emailLabel),
            submit: say(ContractText.sendLink),
            noscript: isUndecided ? say(PageTexts.noscript) : nil
        )
    }

    private func freezeForm(token: ResetToken?, name: String?) -> PageContent.FreezeForm {
        let lead = name.map { PageTexts.freezeLead.filling("name", with: $0) } ?? PageTexts.freezeLeadUnnamed
        return .init(
            hidden: token == nil,
            heading: say(PageTexts.freezeHeading),
            lead: lead.runs(in: language),
            action: settings.basePath + AccountPath.freezePage,
            token: token?.rawValue ?? "",
            submit: say(PageTexts.freeze)
        )
    }
}

/// The content of the page template: any of a notice and three forms.
struct PageContent {
    struct Notice {
        /// `good`, `bad` or `plain`, which is also the style.
        let kind: String
        let heading: String
        let paragraphs: [String]
        var alert = false
        var hidden = false
    }

    struct ResetForm {
        var hidden = false
        let heading: String
        let lead: [TextRun]
        let action: String
        let token: String
        let email: String
        let problem: String?
        let passwordLabel: String
        let confirmLabel: String
        let submit: String
        let show: String
        let hide: String
        let rule: String
        let weak: String
        let medium: String
        let strong: String
        let match: String
        let differ: String
        let short: String
        let empty: String
        let minimum: Int
        let scheme: String
        let appLink: String?
        let openApp: String
        /// Where the script validates a token that it takes from the fragment.
        let validate: String
        /// The heading over the request for another link, should that token be expired.
        let again: String
    }

    struct RequestForm {
        /// Whether the form is what the page is about, rather than what else can be done.
        let isMain: Bool
        let heading: String
        let lead: String?
        let action: String
        let email: String
        let problem: String?
        let emailLabel: String
        let submit: String
        let noscript: String?
    }

    struct FreezeForm {
        var hidden = false
        let heading: String
        let lead: [TextRun]
        let action: String
        let token: String
        let submit: String
    }

    let language: String
    let isRightToLeft: Bool
    let app: String
    let title: String
    let nonce: String
    let css: String
    let script: String
    var notice: Notice?
    var reset: ResetForm?
    var request: RequestForm?
    var freeze: FreezeForm?
}
