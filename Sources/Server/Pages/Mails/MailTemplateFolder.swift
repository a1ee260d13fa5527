import AccountContract
import AccountCore
import ErrorContract
public import Foundation
import Mustache

/// A folder with an operator's email templates, which replace the standard ones.
///
/// The name of a file is `KIND[.LANGUAGE].html.mustache` or `KIND[.LANGUAGE].txt.mustache`. The kind is a `MailKind` with hyphens, such as
/// `password-reset`, or `mail` for all kinds. If several files fit an email, the most specific one is used. For a reset email in Spanish,
/// the order is `password-reset.es`, `password-reset`, `mail.es`, `mail`.
///
/// ```swift
/// let folder = try MailTemplateFolder(URL(filePath: "/etc/notes/mails"))
/// let templates = try MailTemplates(settings: settings, folder: folder)
/// ```
///
/// The initializer reads the folder once, and checks all templates by rendering emails with trial values. If a template has a mistake, the
/// server therefore fails to start, and no email fails later.
public struct MailTemplateFolder: Sendable {
    /// The error that reports all problems of the templates in a folder.
    ///
    /// The texts contain names of files and of template values, but no data of users.
    public struct Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The problems, each with its file, its line if there is one, and its fix.
        public let problems: [String]
        /// The problems, one per line.
        public var description: String { problems.joined(separator: "\n") }
    }

    /// The maximum size of a template, in bytes: 64 KiB.
    public static let sizeLimit = 65_536
    /// The maximum size of the HTML part and of the text part of an email, in bytes. Some webmail services cut off longer parts, and the
    /// link of the email can then be missing.
    static let partLimit = 100_000
    /// The suffix of template files.
    private static let suffix = ".mustache"

    /// The HTML templates by name, such as `password-reset.de`.
    private var html: [String: MustacheLibrary] = [:]
    /// The text templates by name, such as `password-reset.de`.
    private var text: [String: MustacheTemplate] = [:]

    /// Reads and checks all templates of a folder, in all languages. Files without the suffix `.mustache` are ignored.
    ///
    /// The initializer renders each kind of email in all languages, which takes much longer than reading the files. Call the initializer
    /// once, when the server starts.
    /// - Parameter folder: The folder. Its files are read completely.
    /// - Throws: ``Refusal`` with all problems: unknown file names, files that are too large or not UTF-8, syntax errors, unknown values,
    ///   emails without the link, and emails that webmail would cut.
    public init(_ folder: URL) throws(Refusal) {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(Self.suffix) }.sorted()
        } catch {
            throw Refusal(problems: ["the folder can't be read"])
        }
        var problems = names.flatMap { add($0, at: folder.appending(path: $0)) }
        if problems.isEmpty { problems = MailTemplateTrial(folder: self).problems }
        guard problems.isEmpty else { throw Refusal(problems: problems) }
    }

    /// Returns the name of the HTML template for an email, without its suffix; `nil` if the folder has none.
    /// - Parameters:
    ///   - kind: The kind of the email.
    ///   - language: The language of the email.
    func htmlName(for kind: MailKind, _ language: Language) -> String? { Self.names(kind, language).first { html[$0] != nil } }
    /// Returns the name of the text template for an email, without its suffix; `nil` if the folder has none.
    /// - Parameters:
    ///   - kind: The kind of the email.
    ///   - language: The language of the email.
    func textName(for kind: MailKind, _ language: Language) -> String? { Self.names(kind, language).first { text[$0] != nil } }

    /// Returns the HTML part of an email; `nil` if the folder has no template for it. Values are escaped.
    func html(_ content: TemplateValues, for kind: MailKind, _ language: Language) -> String? {
        htmlName(for: kind, language).flatMap { html[$0]?.markup(content) }
    }

    /// Returns the text part of an email; `nil` if the folder has no template for it. Values are not escaped.
    func text(_ content: TemplateValues, for kind: MailKind, _ language: Language) -> String? {
        textName(for: kind, language).flatMap { text[$0]?.render(content) }
    }

    /// Returns the names of templates for an email, the most specific one first.
    private static func names(_ kind: MailKind, _ language: Language) -> [String] {
        let name = kind.templateName
        return [name + "." + language.rawValue, name, "mail." + language.rawValue, "mail"]
    }

    /// Adds a file.
    ///
    /// - Parameters:
    ///   - file: The name of the file.
    ///   - url: The address of the file.
    /// - Returns: The problems of the file.
    private mutating func add(_ file: String, at url: URL) -> [String] {
        let stem = file.dropLast(Self.suffix.count)
        let isHTML = stem.hasSuffix(".html")
        let name = String(stem.dropLast(isHTML ? 5 : 4))
        let known = MailKind.allCases.flatMap { kind in Language.supported.flatMap { Self.names(kind, $0) } }
        guard isHTML || stem.hasSuffix(".txt"), known.contains(name) else {
            return [
                "\(file): no mail uses this name; names are KIND.html.mustache, KIND.txt.mustache and KIND.LANGUAGE.… with the kinds "
                    + "mail, \(MailKind.allCases.map(\.templateName).joined(separator: ", ")) and the languages "
                    + Language.supported.map(\.rawValue).joined(separator: ", ")
            ]
        }
        guard let data = FileManager.default.contents(atPath: url.path) else { return ["\(file): can't be read"] }
        guard data.count <= Self.sizeLimit else {
            return ["\(file): is \(data.count) bytes long; the largest template is \(Self.sizeLimit)"]
        }
        guard let source = String(validating: data, as: UTF8.self) else { return ["\(file): is not UTF-8"] }
        do {
            if isHTML {
                html[name] = try MustacheLibrary(markup: Array(data))
            } else {
                text[name] = try MustacheTemplate(string: "{{% CONTENT_TYPE:TEXT}}" + source)
            }
        } catch let error as MustacheTemplate.ParserError {
            return ["\(file):\(error.context.lineNumber): \(error.sentence)"]
        } catch {
            return ["\(file): \(error)"]
        }
        return MailTemplateLint(isHTML: isHTML).problems(in: source).map { "\(file):\($0)" }
    }
}

extension MustacheTemplate.ParserError {
    /// The problem that the error describes, as a sentence.
    fileprivate var sentence: String {
        switch error as? MustacheTemplate.Error {
        case .sectionCloseNameIncorrect: "this section is closed by another name than it was opened with"
        case .expectedSectionEnd: "a section that was opened is not closed"
        case .unfinishedName: "a tag is not finished: it begins with {{ and ends with }}"
        default: "this can't be read as Mustache"
        }
    }
}

/// Renders each kind of email with a folder's templates in every language, and checks the result: a link in each part, and a size that
/// webmail shows completely.
///
/// The parser only finds syntax errors. A trial also finds a template that is valid but renders an email without its link.
struct MailTemplateTrial {
    /// The templates to try.
    let folder: MailTemplateFolder

    /// The problems. Each text begins with the name of the file.
    var problems: [String] {
        var problems: [String] = []
        for kind in MailKind.allCases {
            for language in Language.supported {
                guard let mail = try? mail(kind, language) else { continue }
                if let name = folder.htmlName(for: kind, language) {
                    let link = Self.link.replacing("&", with: "&amp;")
                    problems += findings(in: mail.html, link, "\(name).html.mustache", kind)
                }
                if let name = folder.textName(for: kind, language) {
                    problems += findings(in: mail.text, Self.link, "\(name).txt.mustache", kind)
                }
            }
        }
        return problems.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// The query of the links in trial emails.
    private static let link = "token=trial-of-templates"

    /// Renders an email with trial values. No real email contains these values, so the check can find them in the result.
    private func mail(_ kind: MailKind, _ language: Language) throws -> Mail {
        guard let base = URL(string: "https://accounts.example.com") else { throw MailTemplates.InvalidLinkBase() }
        let templates = try MailTemplates(
            settings: .init(appName: "App", sender: "app@example.com", linkBase: base, linkLifetime: .seconds(3_600)),
            folder: folder
        )
        return try templates.mail(
            MailContent(
                kind,
                to: try EmailAddress("user@example.com"),
                name: try FirstName("Ana"),
                token: try ResetToken("trial-of-templates"),
                device: "iPhone",
                purgeAt: Date(timeIntervalSince1970: 0),
                language: language
            )
        )
    }

    /// Returns the problems of a part of an email.
    /// - Parameters:
    ///   - part: The rendered part.
    ///   - link: The query of the trial link, escaped for HTML if necessary.
    ///   - file: The name of the template.
    ///   - kind: The kind of the email.
    private func findings(in part: String, _ link: String, _ file: String, _ kind: MailKind) -> [String] {
        var problems: [String] = []
        if !part.contains(link) {
            problems.append(
                "\(file): a \(kind.templateName) mail made with it has no link: put {{actionLink}} where it is to stand"
            )
        }
        if part.utf8.count > MailTemplateFolder.partLimit {
            problems.append(
                "\(file): a \(kind.templateName) mail made with it is \(part.utf8.count) bytes long; webmail cuts mails at "
                    + "\(MailTemplateFolder.partLimit)"
            )
        }
        return problems
    }
}
