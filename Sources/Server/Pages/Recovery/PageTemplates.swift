public import AccountContract
public import ErrorContract
public import Foundation
import Mustache

/// A page behind an emailed link: its content and its language, without HTML. ``PageTemplates`` renders it.
///
/// `RecoveryPageRoutes` and `AccountPageRoutes` of `AccountRoutes` create the pages from requests. A token is part of a page only if the
/// request contained it.
public struct RecoveryPage: Hashable, Sendable {
    /// The content of the page.
    public enum Kind: Hashable, Sendable {
        /// The form for a new password, for a valid link.
        /// - link: The link that opened the page.
        /// - name: The first name of the account.
        /// - problem: The problem of the previous attempt; `nil` at first.
        case reset(link: ResetLink, name: String, problem: LocalizedText?)
        /// The page for a request without a token. The token can be in the fragment after `#`, which browsers don't send. If the script of
        /// the page finds a token there, it shows the form for a new password. Otherwise it shows the form that requests a link.
        case undecided
        /// The password has been changed.
        case changed
        /// The link is unknown, expired or used. The page has a form that requests a new link for the address.
        case deadLink(email: String)
        /// The link is malformed.
        case invalidLink
        /// A link was requested. The page is the same whether or not the address has an account.
        case requested
        /// A link could not be requested.
        case requestProblem(email: String, LocalizedText)
        /// The page that asks whether to lock the account, for a valid link "this was not me".
        case lock(token: ResetToken, name: String)
        /// The page that asks whether to lock the account, for a request without a token. The token can be in the fragment after `#`.
        case lockUndecided
        /// The account is locked.
        case locked
        /// A page behind a link that verifies, creates, changes or restores an account.
        case account(AccountPage)
        /// Another error, such as an unavailable database.
        case failure(title: LocalizedText, text: LocalizedText)
    }

    /// The content of the page.
    public let kind: Kind
    /// The language of the page.
    public let language: Language

    /// Creates a page.
    /// - Parameters:
    ///   - kind: The content.
    ///   - language: The language, as `Accept-Language` prefers.
    public init(_ kind: Kind, language: Language) {
        self.kind = kind
        self.language = language
    }

    /// The HTTP status of the page: 200, 400 for a problem with the input, 410 for an expired or used link, 500 for another error.
    public var status: Int {
        switch kind {
        case .reset(_, _, let problem): problem == nil ? 200 : 400
        case .undecided, .changed, .requested, .lock, .lockUndecided, .locked: 200
        case .deadLink: 410
        case .invalidLink, .requestProblem: 400
        case .account(let page): page.status
        case .failure: 500
        }
    }
}

/// Renders ``RecoveryPage``s as HTML. Each page is one file of at most 30 KB, without a framework or third-party resources. The pages also
/// work without JavaScript.
///
/// ```swift
/// let templates = try PageTemplates(settings: settings)
/// let html = templates.html(RecoveryPage(.invalidLink, language: .english), nonce: nonce)
/// ```
///
/// Rendering does no I/O, and several tasks can render at the same time.
public struct PageTemplates: Sendable {
    /// The settings of all pages.
    public struct Settings: Hashable, Sendable {
        /// The app's name.
        public var appName: String
        /// The path of the configured address, which precedes the paths of the routes, such as `/app`. Empty if the address has no path.
        public var basePath: String
        /// The custom URL scheme that opens the app, such as `notes`; `nil` if the app has none.
        public var appScheme: String?
        /// The minimum length of a password, in characters. The page only shows this number. The server checks the length.
        public var minimumPasswordLength: Int

        /// Creates settings.
        /// - Parameters:
        ///   - appName: The name that pages show.
        ///   - linkBase: The configured address with which links begin, if there is one.
        ///   - appScheme: The URL scheme of the app; `nil` if links only open in the browser.
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

    /// The texts and addresses of all pages.
    private let settings: Settings
    /// The template of all pages.
    private let template: MustacheLibrary
    /// The style sheet, which each page contains.
    private let css: String
    /// The script, which each page contains.
    private let script: String

    /// Reads the templates.
    /// - Parameter settings: The texts and addresses of all pages.
    /// - Throws: Mustache's error if a template can't be read.
    public init(settings: Settings) throws {
        self.settings = settings
        template = try MustacheLibrary(markup: PackageResources.page_html_mustache)
        css = String(decoding: PackageResources.page_css, as: UTF8.self)
        script = String(decoding: PackageResources.page_js, as: UTF8.self)
    }

    /// Returns the HTML of the page.
    /// - Parameters:
    ///   - page: The content and the language of the page.
    ///   - nonce: The nonce of the response's content security policy: a new random one for each response.
    /// - Returns: The page as UTF-8 text. Send it with ``RecoveryPage/status`` and the policy of ``policy(of:nonce:)``.
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

    /// Returns the content security policy of a page with a nonce. Only the page that validates the token after `#` allows its script to
    /// connect to the server.
    ///
    /// - Parameters:
    ///   - page: The page.
    ///   - nonce: The nonce that was passed to ``html(_:nonce:)``.
    public static func policy(of page: RecoveryPage, nonce: String) -> String {
        PagePolicy.text(nonce: nonce, runsScript: true, connects: page.kind == .undecided, sendsForms: true)
    }
}
