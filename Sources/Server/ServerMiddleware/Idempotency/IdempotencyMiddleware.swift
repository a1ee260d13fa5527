import ErrorContract
import HTTPTypes
public import Hummingbird
public import Idempotency
public import RateLimiting
import StrictJSON

/// Does what a request with an `Idempotency-Key` asks for once, however often it comes
/// (draft-ietf-httpapi-idempotency-key-header-07).
///
/// ```swift
/// router.group("/orders").idempotent(by: keys) { _, context in .account(context.account.id) }.post(use: order)
/// ```
/// A repeated request gets the response of the first with `Idempotency-Replayed: true`; while that is worked on,
/// `REQUEST_CONFLICT` with Retry-After; with another path or body, `REQUEST_KEY_REUSED`. If the client's keys have no room for another,
/// the request is refused with `RATE_LIMIT_EXCEEDED`. What is thrown, 408, 429 and 5xx are not stored: the key is free again. Responses
/// are stored if their body has a known length of at most 64 KiB. The body is encrypted with a key that depends on the client's key, so
/// don't let clients use keys that can be guessed where responses contain secrets.
///
/// A process that is killed after the work and before its key is finished leaves a key whose request is done again after the lease. A
/// handler prevents that with ``Idempotency/IdempotentRequest/commit(_:)``.
///
/// It belongs on a group of a ``ContractRouter`` or another, within the deadline of its routes: a route that goes on after its
/// deadline then keeps its key, and its answer is given to the repetition.
public struct IdempotencyMiddleware<Context: RequestContext>: RouterMiddleware {
    private let keys: IdempotencyKeys
    private let isRequired: Bool
    private let reader: RequestReader
    private let owner: @Sendable (Request, Context) async throws -> IdempotencyOwner

    /// Creates the middleware.
    /// - Parameters:
    ///   - keys: The keys, shared by all routes.
    ///   - isRequired: Whether a request without a key is refused with `REQUEST_MALFORMED`.
    ///   - reader: How large a body may be, and how long it may take.
    ///   - owner: The client that the key of a request belongs to: the account of an authorized request, else the address.
    public init(
        _ keys: IdempotencyKeys,
        isRequired: Bool = false,
        reader: RequestReader = RequestReader(),
        owner: @escaping @Sendable (Request, Context) async throws -> IdempotencyOwner
    ) {
        (self.keys, self.isRequired, self.reader, self.owner) = (keys, isRequired, reader, owner)
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
            owner: try await owner(request, context),
            method: request.method.rawValue,
            route: context.endpointPath ?? request.uri.path,
            path: request.head.path ?? request.uri.path,
            body: body
        )
        if let answer = try await keys.begin(claim, context.logger) { return Response(replaying: answer) }
        let work = keys.request(of: claim)
        let response: Response
        do {
            response = try await IdempotentRequest.$current.withValue(work) { try await next(request, context) }
        } catch {
            await keys.settle(claim, with: .released, context.logger)
            guard error is LostIdempotencyKey else { throw error }
            // Another process has the key: it is as if that one had been first.
            throw ContractError(.requestConflict, details: RepeatedRequestState.running.details, retryAfter: .seconds(1))
        }
        guard !work.isFinished else {
            keys.leave(claim)
            return response
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
        do {
            var response = response
            let answer = try await response.buffered()
            await keys.settle(claim, with: .answered(answer), context.logger)
            return response
        } catch {
            // The work is done, though its response can't be sent.
            await keys.settle(claim, with: .answered(nil), context.logger)
            throw error
        }
    }
}

extension RouterMethods {
    /// A group whose routes do what a request with an `Idempotency-Key` asks for once; see ``IdempotencyMiddleware``.
    public func idempotent(
        by keys: IdempotencyKeys,
        isRequired: Bool = false,
        reader: RequestReader = RequestReader(),
        owner: @escaping @Sendable (Request, Context) async throws -> IdempotencyOwner
    ) -> RouterGroup<Context> {
        group().add(middleware: IdempotencyMiddleware(keys, isRequired: isRequired, reader: reader, owner: owner))
    }
}

extension RouterMethods where Context: RemoteAddressRequestContext {
    /// A group whose routes do what a request with an `Idempotency-Key` asks for once. Keys belong to addresses: for routes without
    /// authorized requests.
    public func idempotent(
        by keys: IdempotencyKeys,
        isRequired: Bool = false,
        reader: RequestReader = RequestReader(),
        identity: ClientIdentity = ClientIdentity()
    ) -> RouterGroup<Context> {
        idempotent(by: keys, isRequired: isRequired, reader: reader) { request, context in
            .client(identity.client(peer: context.remoteAddress.flatMap(IPAddress.init), headers: request.headers))
        }
    }
}

extension IdempotencyOwner {
    /// The address of an unauthenticated request, as ``ClientIdentity`` finds it.
    public static func client(_ address: ClientAddress) -> IdempotencyOwner {
        .address(address, network: address.network ?? "")
    }
}

extension Response {
    fileprivate init(replaying answer: IdempotentResponse) {
        self.init(answer)
        headers[.idempotencyReplayed] = "true"
    }

    /// Creates the response that is stored for a request.
    init(_ answer: IdempotentResponse) {
        self.init(
            status: .init(code: answer.status),
            headers: answer.headers,
            body: answer.body.isEmpty ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body))
        )
    }

    /// Reads the body into memory.
    /// - Returns: The response as it is stored; `nil` if it is too large.
    mutating func buffered() async throws -> IdempotentResponse? {
        let writer = BufferedBody()
        try await body.write(writer)
        body = ResponseBody(byteBuffer: writer.buffer)
        return IdempotentResponse(status: status.code, headers: headers, body: Array(writer.buffer.readableBytesView))
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
