import ErrorContract
import Mustache

// Members by their names, for templates. Without these they are found by reflection, which took most of the time that a mail takes.

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
