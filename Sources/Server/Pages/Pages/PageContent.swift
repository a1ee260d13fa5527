import ErrorContract

/// What the page template is filled with: any of a notice and three forms.
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
