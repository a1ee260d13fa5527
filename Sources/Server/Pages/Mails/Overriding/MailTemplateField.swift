/// What a tag of a mail template may name, and what may be named within it: the shape of ``MailContent``.
indirect enum MailTemplateField {
    /// A text; as a section it is shown if there is one.
    case text
    /// Whether something is so.
    case flag
    /// Fields within, once or for each of several.
    case fields([String: MailTemplateField])

    private static let run = MailTemplateField.fields(["text": .text, "direction": .text])
    private static let line = MailTemplateField.fields(["plain": .text, "runs": run])

    /// The fields of a mail.
    static let mail: [String: MailTemplateField] = [
        "appName": .text, "firstName": .text, "actionLink": .text, "lifetime": .text,
        "language": .text, "isRightToLeft": .flag, "subject": .text, "preview": .text,
        "greeting": line, "paragraphs": line, "afterButton": line,
        "button": .fields(["label": .text, "line": .text, "link": .text]),
        "closing": .fields(["regards": .text, "team": line]),
        "footnotes": .fields(["text": line, "link": .text]),
    ]
}
