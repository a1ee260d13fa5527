import ErrorContract

/// What the mail templates are filled with.
struct MailContent {
    /// A text as both parts of a mail show it: with marks between the characters, and with markup.
    struct Line {
        let plain: String
        let runs: [TextRun]
    }

    struct Button {
        let label: String
        /// What stands over the link where there are no buttons.
        let line: String
        let link: String
    }

    struct Closing {
        let regards: String
        let team: Line
    }

    struct Footnote {
        let text: Line
        let link: String?
    }

    /// For templates with words of their own.
    let appName: String
    let firstName: String
    /// The link that the mail is about.
    let actionLink: String
    /// The life of the link in words, if the mail speaks of it.
    var lifetime: String?
    let language: String
    let isRightToLeft: Bool
    let subject: String
    let preview: String?
    let greeting: Line
    let paragraphs: [Line]
    var button: Button?
    var afterButton: [Line] = []
    let closing: Closing
    var footnotes: [Footnote] = []
}
