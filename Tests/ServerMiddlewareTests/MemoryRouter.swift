import ErrorContract
import Foundation
import HTTPTypes
import Hummingbird
import InMemoryLogging
import Logging
import ServerMiddleware
import StrictJSON
import Testing

/// A request context without a connection.
struct MemoryContext: RequestContext {
    struct Source: RequestContextSource {
        let logger: Logger
    }

    var coreContext: CoreRequestContextStorage

    init(source: Source) {
        coreContext = .init(source: source)
    }

    /// Returns a context whose logger writes to `logs`.
    static func make(logs: InMemoryLogHandler = InMemoryLogHandler()) -> MemoryContext {
        MemoryContext(source: Source(logger: Logger(label: "test", factory: { _ in logs })))
    }
}

/// The same context, with bodies that the contract's reader reads.
struct ReadingContext: ContractRequestContext {
    typealias Source = MemoryContext.Source

    var coreContext: CoreRequestContextStorage

    init(source: Source) {
        coreContext = .init(source: source)
    }

    static func make(logs: InMemoryLogHandler = InMemoryLogHandler()) -> ReadingContext {
        ReadingContext(source: Source(logger: Logger(label: "test", factory: { _ in logs })))
    }
}

/// A response with its complete body.
struct CollectedResponse {
    let status: HTTPResponse.Status
    let headers: HTTPFields
    let body: [UInt8]

    init(_ response: Response) async throws {
        let collector = BodyCollector()
        try await response.body.write(collector)
        (status, headers, body) = (response.status, response.headers, collector.bytes)
    }

    var text: String { String(decoding: body, as: UTF8.self) }

    /// The body as JSON.
    var json: JSONValue {
        get throws { try JSONParser().parse(body) }
    }

    /// The `error` of the standard form.
    var error: JSONObject {
        get throws { try #require(try json.objectValue?["error"]?.objectValue) }
    }

    subscript(header name: String) -> String? {
        HTTPField.Name(name).flatMap { headers[$0] }
    }
}

extension Request {
    /// Returns a request without a connection.
    static func make(
        _ method: HTTPRequest.Method = .get,
        _ path: String = "/",
        headers: HTTPFields = [:],
        body: RequestBody = RequestBody(buffer: ByteBuffer())
    ) -> Request {
        Request(
            head: HTTPRequest(method: method, scheme: "https", authority: "example.com", path: path, headerFields: headers),
            body: body
        )
    }

    /// Returns a POST with a text of a media type.
    static func post(_ text: String, type: String? = "application/json", path: String = "/") -> Request {
        post(Array(text.utf8), type: type, path: path)
    }

    /// Returns a POST with bytes of a media type.
    static func post(_ bytes: [UInt8], type: String? = "application/json", path: String = "/") -> Request {
        var headers: HTTPFields = [:]
        headers[.contentType] = type
        return make(.post, path, headers: headers, body: RequestBody(buffer: ByteBuffer(bytes: bytes)))
    }
}

extension Router<MemoryContext> {
    /// Returns a router with the middleware of a server, without routes.
    static func make(renderer: ContractErrorRenderer = ContractErrorRenderer(), index: RouteIndex? = nil) -> Router {
        let router = Router(context: MemoryContext.self, options: [.autoGenerateHeadEndpoints])
        router.add(middleware: RequestIDMiddleware())
        router.add(middleware: ContractErrorMiddleware(renderer: renderer, routes: index))
        return router
    }

    /// Returns the response to a request.
    func response(to request: Request, context: MemoryContext = .make()) async throws -> CollectedResponse {
        try await CollectedResponse(try await buildResponder().respond(to: request, context: context))
    }
}
