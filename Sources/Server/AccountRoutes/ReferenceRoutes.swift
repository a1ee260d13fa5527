import AccountCore
import ErrorContract
public import Foundation
import HTTPTypes
public import Hummingbird
public import OpenAPI

/// The description of the API, for programs at `/openapi.json` and for people at `/docs`.
public struct ReferenceRoutes<Context: RequestContext>: Sendable {
    private let document: [UInt8]
    private let page: ReferencePage
    private let address: @Sendable () -> URL?

    /// Creates the routes.
    /// - Parameters:
    ///   - description: The API that is described.
    ///   - address: Where the server listens, once it does; the examples call it if no address is configured.
    /// - Throws: Mustache's error if the page's template can't be read.
    public init(_ description: APIDescription, address: @escaping @Sendable () -> URL?) throws {
        document = OpenAPIDocument(description).json.encoded()
        page = try ReferencePage(description)
        self.address = address
    }

    /// Adds the routes to a router or a group.
    public func add(to router: some RouterMethods<Context>) {
        router.get("/openapi.json") { _, _ in
            Response(
                status: .ok,
                headers: [.contentType: "application/json; charset=utf-8"],
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: document))
            )
        }
        router.get("/docs") { _, _ in
            let nonce = SecretToken().text
            let address = address()?.absoluteString ?? "http://127.0.0.1:8080"
            return Response(
                status: .ok,
                headers: [
                    .contentType: "text/html; charset=utf-8", .contentLanguage: "en",
                    .contentSecurityPolicy: ReferencePage.policy(nonce: nonce),
                ],
                body: ResponseBody(byteBuffer: ByteBuffer(string: page.html(nonce: nonce, address: address)))
            )
        }
    }
}
