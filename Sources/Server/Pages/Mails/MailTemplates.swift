public import AccountContract
public import AccountCore
public import ErrorContract
public import Foundation
import Mustache

/// Renders emails as HTML and text from templates, in the language of the recipient, or in English if there are no texts in that language.
///
/// ```swift
/// let templates = try MailTemplates(
///     settings: .init(appName: "Notes", sender: "Notes <no-reply@example.com>", linkBase: base, linkLifetime: .seconds(3_600))
/// )
/// ```
///
/// The texts of the user are protected in three ways: HTML is escaped; values of the other direction are isolated; and dots in names get an
/// invisible joiner, so that no mail program turns a name into a link. Rendering does no I/O and can be done by several tasks at the same
/// time.
///
/// The templates of a ``MailTemplateFolder`` replace single standard ones. `MailTexts` contains the texts of the standard ones.
public struct MailTemplates: MailRendering {
    /// The settings of all emails.
    public struct Settings: Hashable, Sendable {
        /// The name of the app, in subjects and texts.
        public var appName: String
        /// The sender of emails, as `Name <address>` or an address.
        public var sender: String
        /// The configured address with which links begin. Never derived from a request.
        public var linkBase: URL
        /// The part of a link that contains the token: the query, or the fragment, which browsers don't send to servers.
        public var linkStyle: ResetLink.Style
        /// The lifetime of a link, which the email states. It must be that of the tokens.
        public var linkLifetime: Duration
        /// The subject of the reset email in all languages; `nil` for the standard one, which has a translation for each language.
        public var resetSubject: String?
        /// The preview text of the reset email in all languages; `nil` for the standard one, which has a translation for each language.
        public var resetPreview: String?

        /// Creates settings.
        /// - Parameters:
        ///   - appName: The app's name.
        ///   - sender: The sender, as `Name <address>` or an address.
        ///   - linkBase: The address with which links begin, such as `https://accounts.example.com`.
        ///   - linkStyle: The part of a link that contains the token.
        ///   - linkLifetime: The lifetime of a link.
        ///   - resetSubject: The subject of the reset email; `nil` for the standard one.
        ///   - resetPreview: The preview text of the reset email; `nil` for the standard one.
        public init(
            appName: String,
            sender: String,
            linkBase: URL,
            linkStyle: ResetLink.Style = .query,
            linkLifetime: Duration,
            resetSubject: String? = nil,
            resetPreview: String? = nil
        ) {
            self.appName = appName
            self.sender = sender
            self.linkBase = linkBase
            self.linkStyle = linkStyle
            self.linkLifetime = linkLifetime
            self.resetSubject = resetSubject
            self.resetPreview = resetPreview
        }
    }

    /// The configured address is not an absolute web address.
    public struct InvalidLinkBase: Error, Hashable, Sendable {}

    /// The texts and links of all emails.
    private let settings: Settings
    /// The standard HTML template.
    private let html: MustacheLibrary
    /// The standard text template.
    private let text: MustacheTemplate
    /// Templates that replace the standard ones; `nil` if there are none.
    private let folder: MailTemplateFolder?

    /// Reads the templates and checks the address of links.
    /// - Parameters:
    ///   - settings: The texts and links of all emails.
    ///   - folder: Templates that replace the standard ones.
    /// - Throws: Mustache's error if a template can't be read, ``InvalidLinkBase`` if the configured address is invalid.
    public init(settings: Settings, folder: MailTemplateFolder? = nil) throws {
        let probe = ResetLink(token: try ResetToken("probe"), email: nil)
        guard probe.url(base: settings.linkBase, style: settings.linkStyle) != nil else { throw InvalidLinkBase() }
        self.settings = settings
        self.folder = folder
        self.html = try MustacheLibrary(markup: PackageResources.mail_html_mustache)
        self.text = try MustacheTemplate(string: String(decoding: PackageResources.mail_txt_mustache, as: UTF8.self))
    }

    /// Renders the email with a link to the reset page.
    ///
    /// - Parameters:
    ///   - recipient: The address of the account. The link contains it, too.
    ///   - name: The name in the greeting.
    ///   - token: The token of the link.
    ///   - language: The language of the account.
    /// - Returns: The email with both parts. Its language is the one in which it was rendered.
    /// - Throws: ``InvalidLinkBase`` if no link can be made; with the address that the initializer checked, this doesn't happen.
    public func passwordReset(
        to recipient: EmailAddress,
        name: FirstName,
        token: ResetToken,
        language: Language
    ) throws -> Mail {
        let link = ResetLink(token: token, email: recipient)
        guard let url = link.url(base: settings.linkBase, style: settings.linkStyle) else { throw InvalidLinkBase() }
        let writer = MailWriter(language: language, appName: settings.appName)
        let wait = WaitPhrase(settings.linkLifetime).text
        let content: TemplateValues = [
            "appName": settings.appName,
            "firstName": name.unlinked,
            "actionLink": url.absoluteString,
            "lifetime": wait.text(in: writer.language),
            "language": writer.language.rawValue,
            "isRightToLeft": writer.language.isRightToLeft,
            "subject": settings.resetSubject ?? writer.subject(MailTexts.resetSubject),
            "preview": settings.resetPreview ?? writer.label(MailTexts.resetPreview),
            "greeting": writer.greeting(name),
            "paragraphs": [writer.line(MailTexts.resetRequested), writer.line(MailTexts.resetClick)],
            "button": [
                "label": writer.label(MailTexts.resetButton), "line": writer.label(MailTexts.resetLine),
                "link": url.absoluteString,
            ] as TemplateValues,
            "afterButton": [
                writer.line(MailTexts.resetExpiry.filling("wait", with: wait)), writer.line(MailTexts.resetIgnore),
            ],
            "closing": writer.closing,
            "footnotes": [
                ["text": writer.line(MailTexts.resetCopyLink), "link": url.absoluteString],
                ["text": writer.line(MailTexts.securityNotice)],
            ] as [TemplateValues],
        ]
        return mail(.passwordReset, to: recipient, content: content, language: writer.language)
    }

    /// Renders the email that confirms a change of the password, with a link to lock the account.
    ///
    /// - Parameters:
    ///   - recipient: The address of the account.
    ///   - name: The name in the greeting.
    ///   - token: The token that locks the account.
    ///   - language: The language of the account.
    /// - Returns: The email with both parts.
    /// - Throws: ``InvalidLinkBase`` if no link can be made; with the address that the initializer checked, this doesn't happen.
    public func passwordChanged(
        to recipient: EmailAddress,
        name: FirstName,
        token: ResetToken,
        language: Language
    ) throws -> Mail {
        guard let url = AccountLockLink(token: token).url(base: settings.linkBase, style: settings.linkStyle) else {
            throw InvalidLinkBase()
        }
        let writer = MailWriter(language: language, appName: settings.appName)
        let content: TemplateValues = [
            "appName": settings.appName,
            "firstName": name.unlinked,
            "actionLink": url.absoluteString,
            "language": writer.language.rawValue,
            "isRightToLeft": writer.language.isRightToLeft,
            "subject": writer.subject(MailTexts.changedSubject),
            "greeting": writer.greeting(name),
            "paragraphs": [writer.line(MailTexts.changedBody)],
            "closing": writer.closing,
            "footnotes": [["text": writer.line(MailTexts.changedNotMe), "link": url.absoluteString]] as [TemplateValues],
        ]
        return mail(.passwordChanged, to: recipient, content: content, language: writer.language)
    }

    /// Renders both parts, from the operator's templates if there are some for this email.
    /// - Parameters:
    ///   - kind: The kind of the email, which selects the templates.
    ///   - recipient: The address of the account.
    ///   - content: The values of the templates.
    ///   - language: The language in which the values are.
    private func mail(_ kind: MailKind, to recipient: EmailAddress, content: TemplateValues, language: Language) -> Mail {
        Mail(
            sender: settings.sender,
            recipient: recipient,
            subject: content["subject"] as? String ?? "",
            text: folder?.text(content, for: kind, language) ?? text.render(content),
            html: folder?.html(content, for: kind, language) ?? html.markup(content),
            language: language
        )
    }
}

/// The kind of an email, which is the name of its templates.
enum MailKind: String, CaseIterable {
    /// The link for a new password.
    case passwordReset = "password-reset"
    /// The confirmation that the password was changed, with the link to lock the account.
    case passwordChanged = "password-changed"
}

/// The link "this was not me", to the page below the reset page.
struct AccountLockLink {
    /// The token of the link.
    let token: ResetToken

    /// Returns the link; `nil` if `base` is not an absolute web address.
    ///
    /// - Parameters:
    ///   - base: The configured address with which links begin.
    ///   - style: The part of the link that contains the token.
    func url(base: URL, style: ResetLink.Style) -> URL? {
        guard let reset = ResetLink(token: token, email: nil).url(base: base, style: style),
            var parts = URLComponents(url: reset, resolvingAgainstBaseURL: true)
        else { return nil }
        parts.percentEncodedPath += AccountPath.accountLockPage.dropFirst(AccountPath.resetPage.count)
        return parts.url
    }
}
