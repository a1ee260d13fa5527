public import ErrorContract
import Mustache

/// The page on which a developer reads the emails of the local mailbox.
///
/// All texts of emails are escaped. The page shows the HTML part of an email in a sandboxed frame, which loads this part from a separate
/// address.
///
/// Each frame loads its email when the frame becomes visible. A page with many emails is therefore small.
///
/// Serve the page only for development. It shows the links of all emails, and such a link gives access to an account.
public struct MailboxPage: Sendable {
    /// An email on the page, with its texts as the page shows them. As JSON, the entry is an object with the names of its properties.
    public struct Entry: Encodable, Sendable {
        /// The id, which is part of the address of the HTML part.
        let id: String
        /// The `Date` header.
        let date: String
        /// The address of the recipient.
        let recipient: String
        /// The subject, which is not trusted.
        let subject: String
        /// The plain text part.
        let text: String
        /// The first link of the email; `nil` if it has none.
        let link: String?

        /// Creates an entry.
        /// - Parameters:
        ///   - id: The id in the mailbox, which is part of the address of the HTML part.
        ///   - date: The `Date` header.
        ///   - recipient: The address of the recipient.
        ///   - subject: The subject.
        ///   - text: The plain text part.
        ///   - link: The first link of the email, if there is one.
        public init(id: String, date: String, recipient: String, subject: String, text: String, link: String?) {
            self.id = id
            self.date = date
            self.recipient = recipient
            self.subject = subject
            self.text = text
            self.link = link
        }
    }

    /// The template of the page.
    private let template: MustacheLibrary

    /// Reads the template.
    /// - Throws: Mustache's error if the template can't be read.
    public init() throws {
        template = try MustacheLibrary(markup: PackageResources.mailbox_html_mustache)
    }

    /// Returns the HTML of the page.
    ///
    /// - Returns: The page as UTF-8 text.
    /// - Parameters:
    ///   - mails: The emails, in the order of the page.
    ///   - nonce: The nonce of the response's content security policy.
    ///   - language: The language of the page. The emails keep their own languages.
    ///   - folder: The path to which the id of an email is appended, to get the address of its HTML part. It is relative to the address of
    ///     the page, so that the page also works behind a base path. Pass an empty text if the address of the page ends with a slash.
    ///
    /// - Complexity: O(size of the emails).
    public func html(
        _ mails: [Entry],
        nonce: String,
        language: Language = .english,
        folder: String = "mailbox/"
    ) -> String {
        let rows = mails.map { mail -> TemplateValues in
            [
                "id": mail.id,
                "folder": folder,
                "date": mail.date,
                "recipient": MailboxTexts.recipient.filling("address", with: mail.recipient).runs(in: language).map(\.values),
                "subject": mail.subject,
                "text": mail.text,
                "link": mail.link,
            ]
        }
        let content: TemplateValues = [
            "language": language.rawValue,
            "isRightToLeft": language.isRightToLeft,
            "nonce": nonce,
            "heading": MailboxTexts.heading.text(in: language),
            "note": MailboxTexts.note.text(in: language),
            "openLink": MailboxTexts.openLink.text(in: language),
            "textPart": MailboxTexts.textPart.text(in: language),
            "empty": MailboxTexts.empty.text(in: language),
            "mails": rows,
        ]
        return template.markup(content)
    }
}

/// The texts of the page that shows the local mailbox.
enum MailboxTexts {
    /// The title of the page.
    static let heading = LocalizedText(
        en: "Mailbox",
        es: "Buzón",
        he: "תיבת אימייל",
        pt: "Caixa de e-mail",
        fr: "Boîte mail",
        de: "Postfach"
    )
    /// The introduction of the page.
    static let note = LocalizedText(
        en: "Mails that this development server would have sent, newest first. As JSON:",
        es: "Correos que este servidor de desarrollo habría enviado, el más nuevo primero. En JSON:",
        he: "הודעות אימייל ששרת הפיתוח הזה היה שולח, מהחדשה לישנה. בתור JSON:",
        pt: "E-mails que este servidor de desenvolvimento teria enviado, do mais novo ao mais antigo. Como JSON:",
        fr: "E-mails que ce serveur de développement aurait envoyés, du plus récent au plus ancien. En JSON\u{A0}:",
        de: "E-Mails, die dieser Entwicklungsserver verschickt hätte, die neuesten zuerst. Als JSON:"
    )
    /// The line with the recipient. `{address}` is the address.
    static let recipient = LocalizedText(
        en: "To {address}",
        es: "Para {address}",
        he: "אל {address}",
        pt: "Para {address}",
        fr: "À {address}",
        de: "An {address}"
    )
    /// The label of the link that opens the first link of an email.
    static let openLink = LocalizedText(
        en: "Open the link",
        es: "Abrir el enlace",
        he: "פתיחת הקישור",
        pt: "Abrir o link",
        fr: "Ouvrir le lien",
        de: "Link öffnen"
    )
    /// The label of the section with the plain text part.
    static let textPart = LocalizedText(
        en: "Text part",
        es: "Parte de texto",
        he: "החלק הטקסטואלי",
        pt: "Parte em texto",
        fr: "Partie texte",
        de: "Textteil"
    )
    /// The text of an empty mailbox.
    static let empty = LocalizedText(
        en: "No mail yet. Ask for a password reset and look again.",
        es: "Aún no hay correos. Solicita restablecer una contraseña y vuelve a mirar.",
        he: "אין עדיין הודעות. יש לבקש איפוס סיסמה ולבדוק שוב.",
        pt: "Nenhum e-mail ainda. Solicite a redefinição da senha e olhe de novo.",
        fr: "Aucun e-mail pour l’instant. Demandez une réinitialisation du mot de passe et regardez à nouveau.",
        de: "Noch keine E-Mails. Fordere ein neues Passwort an und sieh noch einmal nach."
    )
}
