public import AccountContract
public import AccountCore
public import ErrorContract
public import Foundation
import Mustache

/// Puts mails into words: HTML and text from templates, in the language of the reader.
public struct MailTemplates: MailRendering {
    /// What all mails share.
    public struct Settings: Hashable, Sendable {
        /// The app's name.
        public var appName: String
        /// Who mails are from, as `Name <address>` or an address.
        public var sender: String
        /// The configured address that links begin with.
        public var linkBase: URL
        /// Where links carry their token.
        public var linkStyle: ResetLink.Style
        /// The life of a link.
        public var linkLifetime: Duration
        /// A subject in place of the usual one.
        public var resetSubject: String?
        /// A preview in place of the usual one.
        public var resetPreview: String?

        /// Creates settings.
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

    /// The configured base is no absolute web address.
    public struct InvalidLinkBase: Error, Hashable, Sendable {}

    private let settings: Settings
    private let html: MustacheTemplate
    private let text: MustacheTemplate

    /// Reads the templates.
    /// - Throws: Mustache's error if a template can't be read, ``InvalidLinkBase`` if no link can be made.
    public init(settings: Settings) throws {
        let probe = ResetLink(token: try ResetToken("probe"), email: nil)
        guard probe.url(base: settings.linkBase, style: settings.linkStyle) != nil else { throw InvalidLinkBase() }
        self.settings = settings
        self.html = try MustacheTemplate(string: String(decoding: PackageResources.mail_html_mustache, as: UTF8.self))
        self.text = try MustacheTemplate(string: String(decoding: PackageResources.mail_txt_mustache, as: UTF8.self))
    }

    public func passwordReset(
        to recipient: EmailAddress,
        name: FirstName,
        token: ResetToken,
        language: Language
    ) throws -> Mail {
        let link = ResetLink(token: token, email: recipient)
        guard let url = link.url(base: settings.linkBase, style: settings.linkStyle) else { throw InvalidLinkBase() }
        let say = { (text: LocalizedText) in filled(text, language) }
        let wait = WaitPhrase(settings.linkLifetime).text.text(in: language)
        let content = MailContent(
            language: language.rawValue,
            subject: settings.resetSubject ?? say(MailTexts.resetSubject),
            preview: settings.resetPreview ?? say(MailTexts.resetPreview),
            greeting: greeting(name, language),
            paragraphs: [say(MailTexts.resetRequested), say(MailTexts.resetClick)],
            button: .init(label: say(MailTexts.resetButton), link: url.absoluteString),
            afterButton: [say(MailTexts.resetExpiry).replacing("{wait}", with: wait), say(MailTexts.resetIgnore)],
            closing: closing(language),
            footnotes: [
                .init(text: say(MailTexts.resetCopyLink), link: url.absoluteString),
                .init(text: say(MailTexts.securityNotice), link: nil),
            ]
        )
        return mail(to: recipient, content: content, language: language)
    }

    public func passwordChanged(
        to recipient: EmailAddress,
        name: FirstName,
        token: ResetToken,
        language: Language
    ) throws -> Mail {
        guard let url = FreezeLink(token: token).url(base: settings.linkBase, style: settings.linkStyle) else {
            throw InvalidLinkBase()
        }
        let content = MailContent(
            language: language.rawValue,
            subject: filled(MailTexts.changedSubject, language),
            preview: nil,
            greeting: greeting(name, language),
            paragraphs: [filled(MailTexts.changedBody, language)],
            closing: closing(language),
            footnotes: [.init(text: filled(MailTexts.changedNotMe, language), link: url.absoluteString)]
        )
        return mail(to: recipient, content: content, language: language)
    }

    private func mail(to recipient: EmailAddress, content: MailContent, language: Language) -> Mail {
        Mail(
            sender: settings.sender,
            recipient: recipient,
            subject: content.subject,
            text: text.render(content),
            html: html.render(content),
            language: language
        )
    }

    private func greeting(_ name: FirstName, _ language: Language) -> String {
        MailTexts.greeting.text(in: language).replacing("{name}", with: name.rawValue)
    }

    private func closing(_ language: Language) -> MailContent.Closing {
        .init(regards: filled(MailTexts.regards, language), team: filled(MailTexts.team, language))
    }

    private func filled(_ text: LocalizedText, _ language: Language) -> String {
        text.text(in: language).replacing("{app}", with: settings.appName)
    }
}
