import AccountCore
import ErrorContract
import HTTPTypes
public import Hummingbird
public import Pages
import ServerMiddleware

/// The pages of the error codes, at which problem details point.
public struct ErrorPageRoutes<Context: RequestContext>: Sendable {
    private let pages: ErrorPages

    /// Creates the routes.
    public init(pages: ErrorPages) {
        self.pages = pages
    }

    /// Adds the routes to a router or a group.
    public func add(to router: some RouterMethods<Context>) {
        let path = RouterPath(ErrorPages.path)
        router.get(path) { _, _ in
            let nonce = SecretToken().text
            return respond(pages.index(nonce: nonce), nonce: nonce)
        }
        router.get("\(ErrorPages.path)/:code") { request, context in try page(request, context) }
    }

    /// A code that is none has a page too, unless the client would rather have JSON.
    private func page(_ request: Request, _ context: Context) throws -> Response {
        let name = context.parameters.get("code") ?? ""
        let nonce = SecretToken().text
        if let page = pages.page(of: ErrorCode(name), nonce: nonce) { return respond(page, nonce: nonce) }
        let preference = MediaPreference(accept: request.headers[.accept])
        let html = preference.quality(of: "text/html")
        guard ["application/json", "application/problem+json"].allSatisfy({ preference.quality(of: $0) <= html }) else {
            throw ContractError(.resourceNotFound)
        }
        var response = respond(pages.missing(name, nonce: nonce), nonce: nonce)
        response.status = .notFound
        response.headers[.errorCode] = ErrorCode.resourceNotFound.rawValue
        return response
    }

    private func respond(_ html: String, nonce: String) -> Response {
        var headers: HTTPFields = [.contentType: "text/html; charset=utf-8", .contentLanguage: "en", .vary: "Accept"]
        headers[.contentSecurityPolicy] = ErrorPages.policy(nonce: nonce)
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: html)))
    }
}
