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
        let nonce: String
        let mails: [Entry]
    }

    private let template: MustacheTemplate

    /// Reads the template.
    public init() throws {
        template = try MustacheTemplate(string: String(decoding: PackageResources.mailbox_html_mustache, as: UTF8.self))
    }

    /// The page.
    /// - Parameter nonce: The nonce of the answer's content security policy.
    public func html(_ mails: [Entry], nonce: String) -> String {
        template.render(Content(nonce: nonce, mails: mails))
    }
}
