import AccountCore
import Email
import ErrorContract
import Foundation
import HTTPTypes
import Hummingbird
import Pages
import ServerMiddleware

/// The routes of the local mailbox for developers. `/dev/mailbox` lists the emails as a page or as JSON, and `/dev/mailbox/ID` shows the
/// HTML of one email. Requests with a host name that isn't a name of this machine receive 404.
struct MailboxRoutes<Context: RequestContext>: Sendable {
    /// The mailbox as JSON.
    private struct Listing: Encodable {
        /// The emails, newest first. The HTML part of an email has its own route.
        let messages: [MailboxPage.Entry]
    }

    /// The folder with the emails.
    private let mailbox: MailboxFolder
    /// The page of the emails.
    private let page: MailboxPage
    /// The languages of the page.
    private let localization: Localization

    /// Creates the routes.
    /// - Throws: Mustache's error if the page's template can't be read.
    init(mailbox: MailboxFolder, localization: Localization) throws {
        self.mailbox = mailbox
        self.localization = localization
        self.page = try MailboxPage()
    }

    /// Adds the routes to a router.
    func add(to router: some RouterMethods<Context>) {
        router.get("/dev/mailbox", use: list)
        router.get("/dev/mailbox/:id", use: show)
    }

    /// Lists the emails. The response is JSON if `Accept` contains `application/json`, otherwise a page.
    ///
    /// - Throws: `RESOURCE_NOT_FOUND` for another host name; an error of the file system.
    @Sendable private func list(_ request: Request, _ context: Context) throws -> Response {
        try request.requireHost(\.isLoopback)
        let entries = try mailbox.mails().map {
            MailboxPage.Entry(
                id: $0.id,
                date: $0.date,
                recipient: $0.recipient,
                subject: $0.subject,
                text: $0.text,
                link: $0.link?.absoluteString
            )
        }
        guard request.headers[.accept]?.contains("application/json") != true else {
            let body = try JSONEncoder().encode(Listing(messages: entries))
            return Response(
                status: .ok,
                headers: [.contentType: "application/json; charset=utf-8"],
                body: .init(byteBuffer: ByteBuffer(bytes: body))
            )
        }
        let nonce = SecretToken().text
        let policy = "default-src 'none'; style-src 'nonce-\(nonce)'; frame-src 'self'; frame-ancestors 'none'"
        let language = localization.language(of: request)
        let folder = request.uri.path.hasSuffix("/") ? "" : "mailbox/"
        var response = html(page.html(entries, nonce: nonce, language: language, folder: folder), policy: policy)
        response.headers[.contentLanguage] = language.rawValue
        return response
    }

    /// Shows the HTML of one email in a sandbox.
    ///
    /// - Throws: `RESOURCE_NOT_FOUND` for another host name or an unknown id.
    @Sendable private func show(_ request: Request, _ context: Context) throws -> Response {
        try request.requireHost(\.isLoopback)
        guard let id = context.parameters.get("id"), let mail = try mailbox.mail(id: id) else {
            throw ContractError(.resourceNotFound)
        }
        // The policy allows only styles in the email's HTML, and shows it in a sandbox with a separate origin.
        let policy =
            "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'; sandbox allow-popups allow-popups-to-escape-sandbox"
        // Links open in a new tab, because the pages of this server refuse to be framed.
        let shown = mail.html.replacing("<head>", with: "<head><base target=\"_blank\">", maxReplacements: 1)
        var response = html(shown, policy: policy)
        if let name = HTTPField.Name("X-Frame-Options") { response.headers[name] = "SAMEORIGIN" }
        return response
    }

    /// Returns a page with a content security policy.
    private func html(_ text: String, policy: String) -> Response {
        var headers: HTTPFields = [.contentType: "text/html; charset=utf-8"]
        headers[.contentSecurityPolicy] = policy
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(string: text)))
    }
}
