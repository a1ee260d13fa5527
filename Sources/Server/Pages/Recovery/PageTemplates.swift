public import AccountContract
public import ErrorContract
public import Foundation
import Mustache

/// A page that a user sees while recovering an account.
public struct RecoveryPage: Hashable, Sendable {
    /// The content of the page.
    public enum Kind: Hashable, Sendable {
        /// The form for a new password, for a live link.
        /// - problem: The problem of the previous attempt.
        case reset(link: ResetLink, name: String, problem: LocalizedText?)
        /// The page that can't know yet whether it was opened by a link: the token may stand behind `#`.
        case undecided
        /// The password has been changed.
        case changed
        /// The link is unknown, expired or used.
        case deadLink(email: String)
        /// The link is no link.
        case invalidLink
        /// A link has been asked for, whether or not there is an account.
        case requested
        /// A link could not be asked for.
        case requestProblem(email: String, LocalizedText)
        /// "This was not me": asks before it freezes.
        case lock(token: ResetToken, name: String)
        /// The same, opened with the token behind `#`.
        case lockUndecided
        /// The account is frozen.
        case locked
        /// Something else went wrong.
        case failure(title: LocalizedText, text: LocalizedText)
    }

    /// The content of the page.
    public let kind: Kind
    /// The language of the page.
    public let language: Language

    /// Creates a page.
    public init(_ kind: Kind, language: Language) {
        self.kind = kind
        self.language = language
    }

    /// The HTTP status that goes with the page.
    public var status: Int {
        switch kind {
        case .reset(_, _, let problem): problem == nil ? 200 : 400
        case .undecided, .changed, .requested, .lock, .lockUndecided, .locked: 200
        case .deadLink: 410
        case .invalidLink, .requestProblem: 400
        case .failure: 500
        }
    }
}

/// Puts ``RecoveryPage``s into HTML: one file, no framework, nothing from elsewhere, at most 30 KB, usable without JavaScript.
public struct PageTemplates: Sendable {
    /// What all pages share.
    public struct Settings: Hashable, Sendable {
        /// The app's name.
        public var appName: String
        /// The path that the configured address adds before the routes, such as `/app`.
        public var basePath: String
        /// The custom scheme that opens the app, if it has one.
        public var appScheme: String?
        /// The shortest password.
        public var minimumPasswordLength: Int

        /// Creates settings.
        /// - Parameters:
        ///   - appName: The name that pages show.
        ///   - linkBase: The configured address that links begin with, if there is one.
        ///   - appScheme: The URL scheme of the app; `nil` if links open in the browser only.
        ///   - minimumPasswordLength: The shortest password in characters, for the hint in the form.
        public init(appName: String, linkBase: URL?, appScheme: String?, minimumPasswordLength: Int) {
            self.appName = appName
            var path = linkBase?.path(percentEncoded: true) ?? ""
            while path.hasSuffix("/") { path.removeLast() }
            if path.hasSuffix("/" + ResetLink.page) { path.removeLast(ResetLink.page.count + 1) }
            self.basePath = path
            self.appScheme = appScheme
            self.minimumPasswordLength = minimumPasswordLength
        }
    }

    private let settings: Settings
    private let template: MustacheLibrary
    private let css: String
    private let script: String

    /// Reads the templates.
    /// - Throws: Mustache's error if one can't be read.
    public init(settings: Settings) throws {
        self.settings = settings
        template = try MustacheLibrary(markup: PackageResources.page_html_mustache)
        css = String(decoding: PackageResources.page_css, as: UTF8.self)
        script = String(decoding: PackageResources.page_js, as: UTF8.self)
    }

    /// The page's HTML.
    /// - Parameters:
    ///   - page: The state of the page.
    ///   - nonce: The nonce of the answer's content security policy.
    public func html(_ page: RecoveryPage, nonce: String) -> String {
        let writer = PageWriter(settings: settings, language: page.language)
        var content: TemplateValues = [
            "language": page.language.rawValue,
            "isRightToLeft": page.language.isRightToLeft,
            "app": settings.appName,
            "title": writer.title(of: page.kind),
            "nonce": nonce,
            "css": css,
            "script": script,
        ]
        writer.fill(&content, with: page.kind)
        return template.markup(content)
    }

    /// The content security policy of a page with this nonce. The script may connect to the server only from the page that has to
    /// validate the token of a fragment.
    public static func policy(of page: RecoveryPage, nonce: String) -> String {
        PagePolicy.text(nonce: nonce, runsScript: true, connects: page.kind == .undecided, sendsForms: true)
    }
}
