import ErrorContract
import Mustache

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

// Members by their names, for templates. Without these Mustache uses reflection, which took most of the time of rendering an email.

extension MailContent: MustacheParent {
    func child(named name: String) -> Any? {
        switch name {
        case "appName": appName
        case "firstName": firstName
        case "actionLink": actionLink
        case "lifetime": lifetime
        case "language": language
        case "isRightToLeft": isRightToLeft
        case "subject": subject
        case "preview": preview
        case "greeting": greeting
        case "paragraphs": paragraphs
        case "button": button
        case "afterButton": afterButton
        case "closing": closing
        case "footnotes": footnotes
        default: nil
        }
    }
}

extension MailContent.Line: MustacheParent {
    func child(named name: String) -> Any? {
        switch name {
        case "plain": plain
        case "runs": runs.map(Run.init)
        default: nil
        }
    }
}

extension MailContent.Button: MustacheParent {
    func child(named name: String) -> Any? {
        switch name {
        case "label": label
        case "line": line
        case "link": link
        default: nil
        }
    }
}

extension MailContent.Closing: MustacheParent {
    func child(named name: String) -> Any? {
        switch name {
        case "regards": regards
        case "team": team
        default: nil
        }
    }
}

extension MailContent.Footnote: MustacheParent {
    func child(named name: String) -> Any? {
        switch name {
        case "text": text
        case "link": link
        default: nil
        }
    }
}

/// A run with its members by name.
private struct Run: MustacheParent {
    let run: TextRun

    func child(named name: String) -> Any? {
        switch name {
        case "text": run.text
        case "direction": run.direction
        default: nil
        }
    }
}
