import ErrorContract
import HTTPTypes
public import Hummingbird
import Idempotency
public import RateLimiting
import StrictJSON

/// Does what a request with an `Idempotency-Key` asks for once, however often it comes
/// (draft-ietf-httpapi-idempotency-key-header-07).
///
/// ```swift
/// router.group("/orders").idempotent(by: keys) { _, context in context.account.id }.post(use: order)
/// ```
/// A repeated request gets the answer of the first with `Idempotency-Replayed: true`; while that is worked on,
/// `REQUEST_CONFLICT` with Retry-After; with another path or body, `REQUEST_KEY_REUSED`. What is thrown, 408, 429 and 5xx are not
/// kept: the key is free again. Kept are answers whose body has a known length of at most 64 KiB. The body is encrypted with a key
/// that depends on the client's key, so don't let clients use keys that can be guessed where responses contain secrets.
///
/// It belongs on a group of a ``ContractRouter`` or another, within the deadline of its routes: a route that goes on after its
/// deadline then keeps its key, and its answer is given to the repetition.
public struct IdempotencyMiddleware<Context: RequestContext>: RouterMiddleware {
    private let keys: IdempotencyKeys
    private let isRequired: Bool
    private let reader: RequestReader
    private let client: @Sendable (Request, Context) async throws -> any PartitionKey

    /// Creates the middleware.
    /// - Parameters:
    ///   - keys: The keys, shared by all routes.
    ///   - isRequired: Whether a request without a key is refused with `REQUEST_MALFORMED`.
    ///   - reader: How large a body may be, and how long it may take.
    ///   - client: Whose keys a request uses, so that nobody meets another's: the account if it is known, else the address. It
    ///     must be the same when the client repeats the request, so never the token that may have been refreshed in between.
    public init(
        _ keys: IdempotencyKeys,
        isRequired: Bool = false,
        reader: RequestReader = RequestReader(),
        client: @escaping @Sendable (Request, Context) async throws -> any PartitionKey
    ) {
        (self.keys, self.isRequired, self.reader, self.client) = (keys, isRequired, reader, client)
    }

    public func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard !request.method.isSafe else { return try await next(request, context) }
        guard let key = try key(of: request) else { return try await next(request, context) }
        var request = request
        let body = try await reader.bytes(of: request)
        request.body = RequestBody(buffer: ByteBuffer(bytes: body))
        let claim = keys.secret.claim(
            key,
            client: JointKey(try await client(request, context)),
            method: request.method.rawValue,
            route: context.endpointPath ?? request.uri.path,
            path: request.head.path ?? request.uri.path,
            body: body
        )
        if let answer = try await keys.begin(claim, context.logger) { return Response(replaying: answer) }
        let response: Response
        do {
            response = try await next(request, context)
        } catch {
            await keys.settle(claim, with: .released, context.logger)
            throw error
        }
        return try await settle(claim, with: response, context)
    }

    private func key(of request: Request) throws -> IdempotencyKey? {
        let details: JSONObject = ["header": "Idempotency-Key"]
        do {
            if let key = try IdempotencyKey(request.headers) { return key }
        } catch {
            throw ContractError(.requestMalformed, details: details, underlying: error)
        }
        if isRequired { throw ContractError(.requestMalformed, details: details) }
        return nil
    }

    private func settle(_ claim: IdempotencyClaim, with response: Response, _ context: Context) async throws -> Response {
        guard IdempotentResponse.isFinal(response.status.code) else {
            await keys.settle(claim, with: .released, context.logger)
            return response
        }
        // What has no length may never end: it was done, but can't be repeated.
        guard let length = response.body.contentLength, length <= IdempotentResponse.maximumBodySize else {
            await keys.settle(claim, with: .answered(nil), context.logger)
            return response
        }
        let body = BufferedBody()
        do {
            try await response.body.write(body)
        } catch {
            // The work is done, though its answer can't be told.
            await keys.settle(claim, with: .answered(nil), context.logger)
            throw error
        }
        var response = response
        response.body = ResponseBody(byteBuffer: body.buffer)
        let bytes = Array(body.buffer.readableBytesView)
        let answer = IdempotentResponse(status: response.status.code, headers: response.headers, body: bytes)
        await keys.settle(claim, with: .answered(answer), context.logger)
        return response
    }
}

extension RouterMethods {
    /// A group whose routes do what a request with an `Idempotency-Key` asks for once; see ``IdempotencyMiddleware``.
    public func idempotent(
        by keys: IdempotencyKeys,
        isRequired: Bool = false,
        reader: RequestReader = RequestReader(),
        client: @escaping @Sendable (Request, Context) async throws -> any PartitionKey
    ) -> RouterGroup<Context> {
        group().add(middleware: IdempotencyMiddleware(keys, isRequired: isRequired, reader: reader, client: client))
    }
}

extension RouterMethods where Context: RemoteAddressRequestContext {
    /// A group whose routes do what a request with an `Idempotency-Key` asks for once. Keys belong to addresses: for routes that
    /// don't know who is calling.
    public func idempotent(
        by keys: IdempotencyKeys,
        isRequired: Bool = false,
        reader: RequestReader = RequestReader(),
        identity: ClientIdentity = ClientIdentity()
    ) -> RouterGroup<Context> {
        idempotent(by: keys, isRequired: isRequired, reader: reader) { request, context in
            identity.client(peer: context.remoteAddress.flatMap(IPAddress.init), headers: request.headers)
        }
    }
}

extension Response {
    fileprivate init(replaying answer: IdempotentResponse) {
        var headers = answer.headers
        headers[.idempotencyReplayed] = "true"
        self.init(
            status: .init(code: answer.status),
            headers: headers,
            body: answer.body.isEmpty ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body))
        )
    }
}

extension HTTPRequest.Method {
    /// Whether it asks for nothing to be done (RFC 9110 §9.2.1).
    var isSafe: Bool { [.get, .head, .options, .trace].contains(self) }
}

/// Gathers the body of an answer in memory.
final class BufferedBody: ResponseBodyWriter {
    private(set) var buffer = ByteBuffer()

    func write(_ buffer: ByteBuffer) {
        self.buffer.writeImmutableBuffer(buffer)
    }

    func finish(_ trailingHeaders: HTTPFields?) {}
}
