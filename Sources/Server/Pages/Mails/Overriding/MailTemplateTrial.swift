import AccountContract
import AccountCore
import ErrorContract
import Foundation

/// Makes each mail with a folder's templates, in every language, and looks at what comes out.
struct MailTemplateTrial {
    let folder: MailTemplateFolder

    /// What is wrong, each problem behind the name of its file.
    var problems: [String] {
        var problems: [String] = []
        for kind in MailKind.allCases {
            for language in Language.supported {
                guard let mail = try? mail(kind, language) else { continue }
                if let name = folder.htmlName(for: kind, language) {
                    let link = Self.link.replacing("&", with: "&amp;")
                    problems += look(at: mail.html, link, "\(name).html.mustache", kind)
                }
                if let name = folder.textName(for: kind, language) {
                    problems += look(at: mail.text, Self.link, "\(name).txt.mustache", kind)
                }
            }
        }
        return problems.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// What every link of the trial holds.
    private static let link = "token=trial-of-templates"

    private func mail(_ kind: MailKind, _ language: Language) throws -> Mail {
        guard let base = URL(string: "https://accounts.example.com") else { throw MailTemplates.InvalidLinkBase() }
        let templates = try MailTemplates(
            settings: .init(appName: "App", sender: "app@example.com", linkBase: base, linkLifetime: .seconds(3_600)),
            folder: folder
        )
        let recipient = try EmailAddress("somebody@example.com")
        let token = try ResetToken("trial-of-templates")
        let name = try FirstName("Ana")
        return switch kind {
        case .passwordReset: try templates.passwordReset(to: recipient, name: name, token: token, language: language)
        case .passwordChanged: try templates.passwordChanged(to: recipient, name: name, token: token, language: language)
        }
    }

    private func look(at part: String, _ link: String, _ file: String, _ kind: MailKind) -> [String] {
        var problems: [String] = []
        if !part.contains(link) {
            problems.append("\(file): a \(kind.rawValue) mail made with it has no link: put {{actionLink}} where it is to stand")
        }
        if part.utf8.count > MailTemplateFolder.partLimit {
            problems.append(
                "\(file): a \(kind.rawValue) mail made with it is \(part.utf8.count) bytes long; webmail cuts mails at "
                    + "\(MailTemplateFolder.partLimit)"
            )
        }
        return problems
    }
}
