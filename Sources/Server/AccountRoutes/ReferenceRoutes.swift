import AccountCore
import ErrorContract
public import Foundation
import HTTPTypes
public import Hummingbird
public import OpenAPI
public import Pages
public import ServerMiddleware
import StrictJSON
import Synchronization

/// The routes of the API's description: `/openapi.json` for programs and `/docs` for readers. The server encodes the document at the first
/// request, and later responses reuse the bytes. The server renders the page for each request, because the page needs a new nonce.
///
/// ```swift
/// try ReferenceRoutes<AppContext>(APIDescription(settings: settings), address: { nil }).add(to: router)
/// ```
public struct ReferenceRoutes<Context: RequestContext>: Sendable {
    /// The document of `/openapi.json`.
    private let document: EncodedDocument
    /// The page for readers.
    private let page: ReferencePage
    /// Returns the address of the running server; `nil` before it runs.
    private let address: @Sendable () -> URL?

    /// Creates the routes.
    /// - Parameters:
    ///   - description: The API.
    ///   - address: The address of the running server. The examples use it if no address is configured.
    /// - Throws: Mustache's error if the page's template can't be read.
    public init(_ description: APIDescription, address: @escaping @Sendable () -> URL?) throws {
        document = EncodedDocument(description)
        page = try ReferencePage(description)
        self.address = address
    }

    /// Adds the routes to a router or a group.
    public func add(to router: some RouterMethods<Context>) {
        router.get("/openapi.json") { _, _ in
            Response(
                status: .ok,
                headers: [.contentType: "application/json; charset=utf-8"],
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: document.bytes))
            )
        }
        router.get("/docs") { _, _ in
            let nonce = SecretToken().text
            let address = address()?.absoluteString ?? "http://127.0.0.1:8080"
            return Response.page(page.html(nonce: nonce, address: address), policy: ReferencePage.policy(nonce: nonce))
        }
    }
}

/// The document of `/openapi.json` as bytes. It is encoded when it is first read, because a server should start fast.
private final class EncodedDocument: Sendable {
    private let description: APIDescription
    private let encoded = Mutex<[UInt8]?>(nil)

    init(_ description: APIDescription) {
        self.description = description
    }

    /// The document in JSON.
    var bytes: [UInt8] {
        encoded.withLock { encoded in
            let bytes = encoded ?? OpenAPIDocument(description).json.encoded()
            encoded = bytes
            return bytes
        }
    }
}

/// The pages of the error codes: `/errors` and `/errors/CODE`. Error responses in the format of problem details (RFC 9457) link to these
/// pages.
///
/// For an unknown code, the response is 404 with a page that names the most similar code. If the client prefers JSON, the response is a
/// JSON error instead.
public struct ErrorPageRoutes<Context: RequestContext>: Sendable {
    /// Renders the pages.
    private let pages: ErrorPages

    /// Creates the routes.
    /// - Parameter pages: The pages.
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

    /// Returns the page of a code. For an unknown code, returns a page or, if the client prefers JSON, throws an error.
    private func page(_ request: Request, _ context: Context) throws -> Response {
        let name = context.parameters.get("code") ?? ""
        let nonce = SecretToken().text
        if let page = pages.page(of: ErrorCode(name), nonce: nonce) { return respond(page, nonce: nonce) }
        guard !request.prefersJSON else { throw ContractError(.resourceNotFound) }
        var response = respond(pages.missing(name, nonce: nonce), nonce: nonce)
        response.status = .notFound
        response.headers[.errorCode] = ErrorCode.resourceNotFound.rawValue
        return response
    }

    /// Returns a page.
    private func respond(_ html: String, nonce: String) -> Response {
        var response = Response.page(html, policy: ErrorPages.policy(nonce: nonce))
        response.headers[.vary] = "Accept"
        return response
    }
}

/// The page at `/`. If the client prefers JSON, the response is a JSON error with status 404, as for any path that the API doesn't have.
public struct HomeRoute<Context: RequestContext>: Sendable {
    private let page: HomePage
    private let localization: Localization

    /// Creates the route.
    /// - Parameters:
    ///   - page: The page.
    ///   - localization: Chooses the language of the page.
    public init(page: HomePage, localization: Localization) {
        self.page = page
        self.localization = localization
    }

    /// Adds the route to a router or a group.
    public func add(to router: some RouterMethods<Context>) {
        router.get("/") { request, _ in
            guard !request.prefersJSON else { throw ContractError(.resourceNotFound) }
            let nonce = SecretToken().text
            let language = localization.language(of: request)
            let html = page.html(nonce: nonce, language: language)
            var response = Response.page(html, policy: HomePage.policy(nonce: nonce), language: language)
            response.headers[.vary] = "Accept, Accept-Language"
            return response
        }
    }
}
