public import AccountContract
public import AccountCore
import ErrorContract
public import Foundation
import Mustache

/// Renders emails as HTML and text from templates. An email is in the language of the recipient, or in English if there are no texts in
/// that language.
///
/// ```swift
/// let templates = try MailTemplates(
///     settings: .init(appName: "Notes", sender: "Notes <no-reply@example.com>", linkBase: base, linkLifetime: .seconds(3_600))
/// )
/// ```
///
/// Emails can contain texts that another user has chosen, such as a name. Rendering protects recipients against such texts in three ways.
/// It escapes HTML. It isolates values with another writing direction. It adds an invisible joiner after each dot within a word, so that no
/// mail program turns a name into a link. Rendering does no I/O, and several tasks can render at the same time.
///
/// Each template in a ``MailTemplateFolder`` replaces one standard template. `MailTexts` contains the texts of the standard templates, and
/// `MailWording` their order.
public struct MailTemplates: MailRendering {
    /// The settings of all emails.
    public struct Settings: Hashable, Sendable {
        /// The name of the app, in subjects and texts.
        public var appName: String
        /// The sender of emails, as `Name <address>` or an address. This type doesn't validate the value.
        public var sender: String
        /// The configured address with which links begin. The address is never taken from a request, because an attacker could choose it.
        public var linkBase: URL
        /// The part of a link that contains the token: the query, or the fragment, which browsers don't send to servers.
        public var linkStyle: ResetLink.Style
        /// The lifetime of a reset link, which the email states. It must equal the lifetime of reset tokens.
        public var linkLifetime: Duration
        /// The lifetime of a link that verifies an address, creates an account or confirms a new address. It must equal the lifetime of the
        /// tokens of these links.
        public var confirmationLifetime: Duration
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
        ///   - linkLifetime: The lifetime of a reset link.
        ///   - confirmationLifetime: The lifetime of a link that verifies an address, creates an account or confirms a new address.
        ///   - resetSubject: The subject of the reset email; `nil` for the standard one.
        ///   - resetPreview: The preview text of the reset email; `nil` for the standard one.
        public init(
            appName: String,
            sender: String,
            linkBase: URL,
            linkStyle: ResetLink.Style = .query,
            linkLifetime: Duration,
            confirmationLifetime: Duration = RecoveryRules().confirmationLifetime,
            resetSubject: String? = nil,
            resetPreview: String? = nil
        ) {
            self.appName = appName
            self.sender = sender
            self.linkBase = linkBase
            self.linkStyle = linkStyle
            self.linkLifetime = linkLifetime
            self.confirmationLifetime = confirmationLifetime
            self.resetSubject = resetSubject
            self.resetPreview = resetPreview
        }
    }

    /// The error of a configured address that is not an absolute web address.
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

    /// Renders an email.
    /// - Parameter content: The content of the email, with the language of the account.
    /// - Returns: The email with both parts, and the language in which they were rendered.
    /// - Throws: ``InvalidLinkBase`` if no link can be created. The method never throws this error, because the initializer has checked the
    ///   address.
    public func mail(_ content: MailContent) throws -> Mail {
        let link = try link(of: content)
        let writer = MailWriter(language: content.language, appName: settings.appName)
        let wording = MailWording(content, settings: settings)
        let isReset = content.kind == .passwordReset
        let values: TemplateValues = [
            "appName": settings.appName,
            "firstName": content.name?.rawValue.withoutLinks,
            "actionLink": link,
            "lifetime": lifetime(of: content.kind).map { WaitPhrase($0).text.text(in: writer.language) },
            "device": content.device?.withoutLinks,
            "removalDate": content.removalDate,
            "language": writer.language.rawValue,
            "isRightToLeft": writer.language.isRightToLeft,
            "subject": (isReset ? settings.resetSubject : nil) ?? writer.subject(wording.subject),
            "preview": (isReset ? settings.resetPreview : nil) ?? wording.preview.map(writer.label),
            "greeting": writer.greeting(content.name),
            "paragraphs": wording.paragraphs.map(writer.line),
            "button": wording.button.map { writer.button($0, link: link) },
            "afterButton": wording.afterButton.map(writer.line),
            "closing": writer.closing,
            "footnotes": wording.footnotes.map { note -> TemplateValues in
                ["text": writer.line(note.text), "link": note.hasLink ? link : nil]
            },
        ]
        return mail(content.kind, to: content.recipient, content: values, language: writer.language)
    }

    /// Returns the link of an email.
    private func link(of content: MailContent) throws -> String {
        let url =
            if let purpose = content.kind.purpose {
                AccountLink(purpose, token: content.token, email: content.recipient)
                    .url(base: settings.linkBase, style: settings.linkStyle)
            } else {
                AccountLockLink(token: content.token).url(base: settings.linkBase, style: settings.linkStyle)
            }
        guard let url else { throw InvalidLinkBase() }
        return url.absoluteString
    }

    /// Returns the lifetime of an email's link; `nil` if the email doesn't state it as a delay.
    private func lifetime(of kind: MailKind) -> Duration? {
        switch kind {
        case .passwordReset, .accountExists: settings.linkLifetime
        case .verifyEmail, .activate, .confirmEmail: settings.confirmationLifetime
        case .passwordChanged, .emailChanged, .accountDeleted, .formerAccountDeleted, .newDevice: nil
        }
    }

    /// Renders both parts of an email. For each part, the operator's template is used if the folder has one for this email.
    /// - Parameters:
    ///   - kind: The kind of the email, which selects the templates.
    ///   - recipient: The address of the account.
    ///   - content: The values of the templates.
    ///   - language: The language of the values.
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

extension MailKind {
    /// The name of the templates for the emails of this kind, such as `password-reset`.
    var templateName: String { rawValue.replacing("_", with: "-") }
}

/// The link with which a user locks the account ("this was not me"). Its page is below the path of the reset page.
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
