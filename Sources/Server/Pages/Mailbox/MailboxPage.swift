public import ErrorContract
import Mustache

/// The page on which a developer reads the mails of the local mailbox.
public struct MailboxPage: Sendable {
    /// A mail as the page shows it.
    public struct Entry: Sendable {
        let id: String
        let date: String
        let recipient: String
        let subject: String
        let text: String
        let link: String?

        /// Creates an entry.
        public init(id: String, date: String, recipient: String, subject: String, text: String, link: String?) {
            self.id = id
            self.date = date
            self.recipient = recipient
            self.subject = subject
            self.text = text
            self.link = link
        }
    }

    private struct Content {
        struct Mail {
            let id: String
            let date: String
            let recipient: [TextRun]
            let subject: String
            let text: String
            let link: String?
        }

        let language: String
        let isRightToLeft: Bool
        let nonce: String
        let heading: String
        let note: String
        let openLink: String
        let textPart: String
        let empty: String
        let mails: [Mail]
    }

    private let template: MustacheLibrary

    /// Reads the template.
    public init() throws {
        template = try MustacheLibrary(markup: PackageResources.mailbox_html_mustache)
    }

    /// The page.
    /// - Parameters:
    ///   - mails: The emails, newest first.
    ///   - nonce: The nonce of the answer's content security policy.
    ///   - language: The language of the page; the mails keep theirs.
    public func html(_ mails: [Entry], nonce: String, language: Language = .english) -> String {
        template.markup(
            Content(
                language: language.rawValue,
                isRightToLeft: language.isRightToLeft,
                nonce: nonce,
                heading: MailboxTexts.heading.text(in: language),
                note: MailboxTexts.note.text(in: language),
                openLink: MailboxTexts.openLink.text(in: language),
                textPart: MailboxTexts.textPart.text(in: language),
                empty: MailboxTexts.empty.text(in: language),
                mails: mails.map {
                    .init(
                        id: $0.id,
                        date: $0.date,
                        recipient: MailboxTexts.recipient.filling("address", with: $0.recipient).runs(in: language),
                        subject: $0.subject,
                        text: $0.text,
                        link: $0.link
                    )
                }
            )
        )
    }
}
