/// What the mail templates are filled with.
struct MailContent {
    struct Button {
        let label: String
        let link: String
    }

    struct Closing {
        let regards: String
        let team: String
    }

    struct Footnote {
        let text: String
        let link: String?
    }

    let language: String
    let subject: String
    let preview: String?
    let greeting: String
    let paragraphs: [String]
    var button: Button?
    var afterButton: [String] = []
    let closing: Closing
    var footnotes: [Footnote] = []
}
