import AccountContract
import AccountCore
import ErrorContract
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import Observability
import Pages
import ServerMiddleware
import Timekeeping

/// Returns the pages of emailed links as responses. Errors are also pages. All responses have `Cache-Control: no-store` and a content
/// security policy with a new nonce.
struct PageResponder: Sendable {
    /// Renders the pages.
    let templates: PageTemplates
    /// Refuses forms of other sites.
    let origins: OriginGuard
    let localization: Localization

    /// Returns the page that a closure creates. If the closure throws, returns a page that describes the error.
    /// - Parameters:
    ///   - request: The request. A form of another site is refused with `RESOURCE_FORBIDDEN`.
    ///   - context: The context, whose logger reports internal errors.
    ///   - make: Returns the content of the page.
    func page(
        _ request: Request,
        _ context: some RequestContext,
        _ make: (Request) async throws -> RecoveryPage.Kind
    ) async -> Response {
        await respond(request, context) { (try await make($0), nil) }
    }

    /// Returns the page that a closure creates. If the closure throws, returns a page that describes the error. If the closure also returns
    /// a device token, the response stores it in the browser.
    func respond(
        _ request: Request,
        _ context: some RequestContext,
        _ make: (Request) async throws -> (RecoveryPage.Kind, DeviceToken?)
    ) async -> Response {
        let language = localization.language(of: request)
        do {
            guard request.method != .post || origins.admits(request) else { throw ContractError(.resourceForbidden) }
            let (kind, device) = try await make(request)
            var response = respond(RecoveryPage(kind, language: language))
            if let device { response.headers[.setCookie] = DeviceCookie.field(device) }
            return response
        } catch {
            let failure = ContractError(domain: error)
            // The task is canceled if the client doesn't wait any longer. This is no failure of the server.
            if failure.isFault, !(error is CancellationError) {
                context.logger.error("Page rendering failed", metadata: .failure(error, ["error.code": "\(failure.code)"]))
            }
            return respond(failure: failure, language: language)
        }
    }

    /// Returns the page of an error. The response has the status, the error code and the delay of the error.
    ///
    /// This method doesn't log the error. The caller logs internal errors.
    private func respond(failure error: ContractError, language: Language) -> Response {
        let definition = ErrorCatalogue.standard[error.code]
        let isLimited = definition?.status == 429
        let text = error.message ?? definition?.message ?? ContractText.unknownError
        let title = isLimited ? ContractText.tooManyAttemptsTitle : ContractText.errorTitle
        var response = respond(RecoveryPage(.failure(title: title, text: text), language: language))
        response.status = .init(code: definition?.status ?? 500)
        response.headers[.errorCode] = error.code.rawValue
        response.headers[.retryAfter] = error.namedWait.map { "\($0.wholeSecondsRoundedUp)" }
        return response
    }

    /// Returns a page with its status and headers.
    private func respond(_ page: RecoveryPage) -> Response {
        let nonce = SecretToken().text
        var response = Response.page(
            templates.html(page, nonce: nonce),
            policy: PageTemplates.policy(of: page, nonce: nonce),
            language: page.language
        )
        response.status = .init(code: page.status)
        response.headers[.cacheControl] = "no-store"
        return response
    }
}

/// The query of a page's address. `AccountLink` parses it, so the same rules apply as in apps. For example, a link with a duplicate
/// parameter is invalid.
struct PageQuery {
    private let query: String

    /// Reads the query of a request.
    init(_ request: Request) {
        query = request.uri.query ?? ""
    }

    /// Whether the query has a parameter of a link. Other parameters, such as the tracking parameters of a campaign, are ignored.
    var namesLink: Bool {
        query.split(separator: "&").contains { $0.hasPrefix("token") || $0.hasPrefix("email") }
    }

    /// The reset link with which the page was opened; `nil` if it is invalid.
    var resetLink: ResetLink? { link(.resetPassword).map { ResetLink(token: $0.token, email: $0.email) } }

    /// Returns the link with which the page of a purpose was opened; `nil` if it is invalid.
    func link(_ purpose: AccountLink.Purpose) -> AccountLink? {
        // The host is irrelevant: the request has reached this server.
        URL(string: "https://localhost/\(purpose.page)?\(query)").flatMap { try? AccountLink($0, hosts: ["localhost"]) }
    }
}

/// A new password of a form, which the user has typed twice.
enum RepeatedPassword {
    /// The password.
    case password(Password)
    /// The fields are empty or differ. The text describes the problem to the user.
    case problem(LocalizedText)

    /// Reads both fields of a form.
    init(_ text: String, _ confirmation: String) {
        guard let password = try? Password(text), !confirmation.isEmpty else {
            self = .problem(ContractText.fieldsEmpty)
            return
        }
        self = text == confirmation ? .password(password) : .problem(ContractText.passwordsDiffer)
    }
}
