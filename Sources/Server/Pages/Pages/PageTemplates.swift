import AccountContract
import ErrorContract
public import Foundation
import Mustache

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
        var content = PageContent(
            language: page.language.rawValue,
            isRightToLeft: page.language.isRightToLeft,
            app: settings.appName,
            title: writer.title(of: page.kind),
            nonce: nonce,
            css: css,
            script: script
        )
        writer.fill(&content, with: page.kind)
        return template.markup(content)
    }

    /// The content security policy of a page with this nonce. The script may connect to the server only from the page that has to
    /// validate the token of a fragment.
    public static func policy(of page: RecoveryPage, nonce: String) -> String {
        "default-src 'none'; style-src 'nonce-\(nonce)'; script-src 'nonce-\(nonce)'; "
            + (page.kind == .undecided ? "connect-src 'self'; " : "")
            + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    }
}
